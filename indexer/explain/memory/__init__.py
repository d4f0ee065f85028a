"""Memory of the recurrent state: a release's own sizing functions, run for one launch.

Nothing of the formula is repeated here. The release resolves the launch, makes its model configuration,
and its own code says how large a state slot is, how many slots a request takes, and how many slots and
requests fit into a given memory. Ours are only the stand-ins for what a running server would have (the
process groups' sizes, PyTorch's element sizes) and the way these functions are found.
"""

from indexer.explain.memory.facts import Sized, StateMemory
from indexer.explain.memory.sizing import state_memory

__all__ = ["Sized", "StateMemory", "state_memory"]
