"""What each small model is, by the digest that launch records name it with.

``python -m indexer.validate.models.described FILE`` adds the models as they are made now to a table; what
it says of earlier ones stays, for records name them.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import msgspec

from indexer.knowledge.launched import SmallModel
from indexer.knowledge.store import write_atomically
from indexer.validate.models import RECIPES, folder_digest, write_models
from indexer.validate.small_models import table


def described(names: list[str]) -> dict[str, SmallModel]:
    """Return what the named models are, by the digest of their folders."""
    with tempfile.TemporaryDirectory() as folder:
        write_models(Path(folder), names)
        return {folder_digest(Path(folder) / name): _described(name) for name in names}


def _described(name: str) -> SmallModel:
    recipe = RECIPES[name]
    config, weights = recipe.make()
    config = config.get("text_config", config)
    parameters = sum(math.prod(values.shape) for values, _ in weights.tensors.values()) if weights else None
    return SmallModel(
        recipe.make()[0]["architectures"][0],
        config["num_hidden_layers"],
        config.get("hidden_size"),
        parameters,
        walks=recipe.walks,
        right=recipe.right,
    )


if __name__ == "__main__":
    file = Path(sys.argv[1])
    found = (table(file) if file.is_file() else {}) | described(list(RECIPES))
    write_atomically(file, msgspec.json.format(msgspec.json.encode(found, order="sorted"), indent=1) + b"\n")
