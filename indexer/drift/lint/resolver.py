"""Asking ``indexer.explain`` in its worlds, with what was learnt kept in the user's cache.

The first question about a launch costs seconds, since SGLang's own argument code is run from its
source; the same question again costs the reading of one small file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from indexer.drift.lint.argv import Use
from indexer.drift.lint.conflicts import Conflicts, ExplanationLike, Verdict, argv_of
from indexer.drift.lint.facts import Timeline, VersionTable
from indexer.drift.lint.whole import PLACEHOLDER
from indexer.errors import IndexerError


class CachedConflicts(Conflicts):
    """``Conflicts`` over the releases in the cache; verdicts are remembered there.

    ``missing`` collects the versions that could not be asked.
    """

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(timeline, self._ask)
        self.missing: set[str] = set()
        self._probes: dict[str, object] = {}

    def verdicts(self, uses: list[Use], env: dict[str, str], table: VersionTable) -> list[Verdict]:
        """Return the remembered verdicts, or ask and remember."""
        from indexer.knowledge.store import write_atomically
        from indexer.source.cache import cache_folder

        if not self._has_release(table.version):
            self.missing.add(table.version)
            return []
        argv = [str(word) for word in argv_of(uses, table)]
        question = [_code_version(), table.version, argv, sorted(env.items())]
        name = hashlib.blake2b(msgspec.json.encode(question), digest_size=16).hexdigest()
        try:
            file = cache_folder("verdicts") / f"{name}.json"
            if file.is_file():
                return msgspec.json.decode(file.read_bytes(), type=list[Verdict])
            found = super().verdicts(uses, env, table)
            if table.version not in self.missing:
                write_atomically(file, msgspec.json.encode(found))
        except (IndexerError, msgspec.MsgspecError, OSError):
            self.missing.add(table.version)
            return []
        return found

    @staticmethod
    def _has_release(version: str) -> bool:
        from indexer.source.wheels import cached_wheel

        return cached_wheel("sglang", version) is not None

    def _ask(self, version: str, argv: list[str], env: dict[str, str]) -> Iterable[ExplanationLike]:
        from indexer.explain.probes import Probes

        probes = self._probes.get(version)
        if probes is None:
            probes = self._probes[version] = Probes(version)
        assert isinstance(probes, Probes)
        if not probes.available:
            self.missing.add(version)
            return ()
        return probes.answers([str(word) for word in argv], env, str(PLACEHOLDER))


def _code_version() -> str:
    from indexer.extractor_version import verdict_version

    return verdict_version()
