"""Only the facts that are followed across versions: much quicker than a whole snapshot."""

from __future__ import annotations

from indexer import __version__
from indexer.extract.algorithms import extract_algorithms
from indexer.extract.env_vars import ENV_USES, extract_env_vars
from indexer.extract.file_facts import facts_alone
from indexer.extract.flag_sites import flag_sites
from indexer.extract.flags import extract_flags
from indexer.extract.replacements import REPLACEMENT_MESSAGES, stated_replacements
from indexer.knowledge.schema import SCHEMA_VERSION, Coverage, Snapshot, Source
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph


def extract_followed(tree: SourceTree) -> Snapshot:
    """Return a snapshot of flags, fields, algorithms and environment variables.

    Raises:
        CannotError: it is not a SGLang tree, or its argument code can't be run.
    """
    graph = ModuleGraph(tree)
    flags, fields, unrecognised = extract_flags(tree, graph, flag_sites(graph))
    store = FactStore(cache_folder("facts"))
    facts = facts_alone(tree, (ENV_USES, REPLACEMENT_MESSAGES), (ENV_USES,), store)
    store.close()
    registry, algorithms = extract_algorithms(graph)
    options = {option for flag in flags for option in flag.option_strings}
    return Snapshot(
        schema=SCHEMA_VERSION,
        source=Source(tree.version, tree.origin, commit=tree.commit, dirty=tree.dirty),
        flags=flags,
        fields=fields,
        registry=registry,
        algorithms=algorithms,
        env_vars=extract_env_vars(graph, facts),
        replacements=stated_replacements(graph, options, facts),
        coverage=Coverage(unrecognised=unrecognised),
        generator=f"indexer {__version__}",
    )
