"""Where rule extraction starts: the resolver's record, and the start-up code that refuses a launch.

A release moves its files about; each stage therefore lists patterns of paths, and a pattern that
matches nothing is simply not there. What counts inside them is decided by shape (``reach``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexer.source.tree import PACKAGE_ROOT

RECORD_FILE = f"{PACKAGE_ROOT}/srt/server_args.py"
"""The file of the record class: the one that registers itself with the argument parser."""

PARSING, RESOLVER, CHECKS, RECORD = "parsing", "resolver", "checks", "record"
RESOLVER_FOLDER = f"{PACKAGE_ROOT}/srt/arg_groups/"
NAMESPACE_FOLDER = f"{RESOLVER_FOLDER}fields/"
RESOLVER_FILES = (RECORD_FILE, RESOLVER_FOLDER)

RESOLVING_METHODS = ("__post_init__", "resolve_once", "resolve", "finalize")
PARSING_METHODS = ("add_cli_args", "from_cli_args")
PARSING_FUNCTION = "prepare_server_args"
CHECKING = "check_server_args"


@dataclass(frozen=True)
class Stage:
    """Start-up code outside the resolver. ``paths`` are matched below ``sglang/srt/``.

    ``whole`` stages decide about a launch in every function; elsewhere only constructors do, and
    functions that are handed the record or the model runner.
    """

    name: str
    paths: re.Pattern[str]
    whole: bool = False

    def covers(self, path: str) -> bool:
        """Return whether a file belongs to this stage."""
        below = path.removeprefix(f"{PACKAGE_ROOT}/srt/")
        return below != path and self.paths.fullmatch(below) is not None


STAGES = (
    Stage(
        "model config",
        re.compile(r"configs/(model_config|hybrid_arch|load_config|device_config)\.py"),
        whole=True,
    ),
    Stage(
        "speculative algorithm",
        re.compile(r"speculative/(spec_info|spec_registry|draft_utils|adaptive\w*)\.py"),
        whole=True,
    ),
    Stage("speculative worker", re.compile(r"speculative/\w*(worker|mtp)\w*\.py")),
    Stage(
        "attention backend",
        re.compile(
            r"layers/attention/(attention_registry|hybrid_attn_backend|hybrid_linear_attn_backend)\.py"
            r"|layers/attention/linear/(utils|gdn_backend|kda_backend|lightning_backend)\.py"
            r"|model_executor/model_runner_components/attention_backend_setup\.py"
        ),
    ),
    Stage(
        "memory sizing",
        re.compile(
            r"mem_cache/(kv_cache_\w+|allocation_sizing|pool_configurator)\.py"
            r"|model_executor/(\w*kv_cache\w*|pool_configurator)\.py"
        ),
        whole=True,
    ),
    Stage(
        "memory pool",
        re.compile(
            r"mem_cache/(memory_pool\w*|\w*radix_cache\w*|registry|cache_init_params|unified_\w+|allocator)\.py"
        ),
    ),
    Stage(
        "model runner",
        re.compile(
            r"model_executor/(model_runner|cuda_graph_config)\.py|model_executor/model_runner_components/\w+\.py"
            r"|managers/tp_worker\w*\.py"
        ),
    ),
    Stage(
        "scheduler",
        re.compile(
            r"managers/(scheduler|data_parallel_controller|tokenizer_manager)\.py|entrypoints/engine\.py"
        ),
    ),
)


def stage_of(path: str) -> str | None:
    """Return the start-up stage that a file belongs to."""
    return next((stage.name for stage in STAGES if stage.covers(path)), None)
