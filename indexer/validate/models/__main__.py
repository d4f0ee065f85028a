"""``python -m indexer.validate.models FOLDER [NAME …]``: write the models and print their digests."""

import json
import sys
from pathlib import Path

from indexer.validate.models import write_models

print(json.dumps(write_models(Path(sys.argv[1]), sys.argv[2:]), indent=1))
