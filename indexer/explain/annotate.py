"""Names the rules behind an explanation's lines, from the snapshot of the same version."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from indexer.explain.explanation import Cause, Explanation
from indexer.knowledge.links import Links
from indexer.knowledge.schema import Location, Snapshot


@dataclass
class Annotator:
    """Fills in rule ids, and the declaration of fields that got their declared fallback."""

    snapshot: Snapshot

    def __post_init__(self) -> None:
        self._links = Links(self.snapshot)
        self._flags = {flag.dest: flag for flag in self.snapshot.flags}

    def annotate(self, answer: Explanation) -> Explanation:
        """Add what the snapshot knows to an explanation, in place, and return it."""
        for refusal in [answer.refusal, *answer.refusals]:
            if refusal is not None and refusal.at is not None:
                refusal.rule = self._rule(refusal.at, ("error", "assert"), None)
        for name, change in answer.fields.items():
            change.by = [
                msgspec.structs.replace(cause, rule=self._rule(cause.at, ("override",), name))
                for cause in change.by
            ]
            flag = self._flags.get(name)
            if not change.by and flag is not None and flag.fallback == change.resolved and flag.declared_at:
                change.by = [Cause(flag.declared_at)]
        return answer

    def _rule(self, at: Location, kinds: tuple[str, ...], field: str | None) -> str | None:
        found = [rule for rule in self._links.rules_at(at.path, at.line) if rule.kind in kinds]
        about = [rule for rule in found if field is None or field in rule.targets]
        return (about or found)[0].id if about or (found and field is None) else None


def annotator_of(version: str, extract: bool) -> Annotator | None:
    """Return the annotator of a release; None where it has no snapshot yet and none is to be made."""
    from indexer.errors import IndexerError
    from indexer.snapshots import cached_path, get_snapshot

    if not extract and not cached_path(version).is_file():
        return None
    try:
        return Annotator(get_snapshot(version))
    except IndexerError:
        return None
