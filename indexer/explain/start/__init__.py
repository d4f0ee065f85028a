"""What a starting server makes of a resolved launch: memory of the recurrent state, checks of its backend.

Nothing of the release's formulas is repeated here. The release resolves the launch, makes its model
configuration, and its own code says how large a state slot is, how many slots a request takes, how many
slots and requests fit into a given memory, and whether the attention backend suits the model. Ours are only
the stand-ins for what a running server would have (the process groups' sizes, PyTorch's element sizes) and
the way these functions are found.
"""

from indexer.explain.start.facts import Sized, StateMemory
from indexer.explain.start.sizing import state_memory

__all__ = ["Sized", "StateMemory", "state_memory"]
