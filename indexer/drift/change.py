"""A change between two versions, and the kinds there are."""

from __future__ import annotations

import hashlib

import msgspec

from indexer.knowledge.schema import Location, Value

START, MEANING, DOC = "START", "MEANING", "DOC"
LEVELS = (START, MEANING, DOC)
"""Worst first: a command that started no longer does; it starts but means something else; only what is
documented changed (new things, help, lines)."""

KINDS = ("flags", "algorithms", "env", "rules")
USUAL_KINDS = KINDS[:3]
"""Those that every covered release is known for; rules have to be read first."""


class Change(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One difference. ``name`` is the option string, algorithm or variable as the older version spells
    it (what is new: as the newer does). ``old`` and ``new`` are the differing values, ``old_at`` and
    ``new_at`` the places in the two trees, ``replacement`` what to write instead."""

    code: str
    level: str
    kind: str
    name: str
    message: str
    old: Value = None
    new: Value = None
    replacement: str | None = None
    old_at: Location | None = None
    new_at: Location | None = None

    @property
    def described(self) -> str:
        """The change in one line."""
        return self.message

    @property
    def fingerprint(self) -> str:
        """A name for the change without line numbers, so that an acceptance survives edits."""
        facts = msgspec.json.encode([self.code, self.kind, self.name, self.old, self.new], order="sorted")
        return hashlib.blake2b(facts, digest_size=8).hexdigest()


class ChangeRule(msgspec.Struct, frozen=True):
    """A kind of change: its level, a title, and what it does to a command."""

    level: str
    title: str
    effect: str


RULES = {
    "flag-removed": ChangeRule(START, "Flag removed", "argparse stops with “unrecognized arguments”."),
    "flag-ambiguous": ChangeRule(
        START, "Flag became an ambiguous prefix", "argparse stops with “ambiguous option”."
    ),
    "flag-refused": ChangeRule(START, "Flag refused", "The deprecated flag now stops the start."),
    "flag-required": ChangeRule(START, "Flag became required", "A command without it stops."),
    "flag-values": ChangeRule(
        START, "Other number of values", "A value too many or too few stops the start."
    ),
    "choice-removed": ChangeRule(START, "Choice gone", "argparse stops with “invalid choice”."),
    "abbreviation-ambiguous": ChangeRule(
        START, "Abbreviation became ambiguous", "The shortened flag stops with “ambiguous option”."
    ),
    "flag-now-abbreviation": ChangeRule(
        MEANING, "Flag became an abbreviation", "It works only as the unique prefix of another flag."
    ),
    "abbreviation-retargeted": ChangeRule(
        MEANING, "Abbreviation means another flag", "The shortened flag sets something else."
    ),
    "flag-default": ChangeRule(MEANING, "Default changed", "A command without the flag behaves differently."),
    "flag-fallback": ChangeRule(
        MEANING, "Value when unset changed", "A command without the flag behaves differently."
    ),
    "flag-type": ChangeRule(MEANING, "Type changed", "The value is read differently."),
    "flag-dest": ChangeRule(
        MEANING, "Destination changed", "Code that reads args.NAME breaks; the flag stays."
    ),
    "flag-const": ChangeRule(MEANING, "Constant changed", "The flag without a value means something else."),
    "flag-action": ChangeRule(MEANING, "Action changed", "The flag does something else with its value."),
    "flag-deprecated": ChangeRule(DOC, "Flag deprecated", "It still works, with a warning."),
    "flag-added": ChangeRule(DOC, "Flag added", "New."),
    "flag-alias-added": ChangeRule(DOC, "Spelling added", "Another spelling of a flag."),
    "choice-added": ChangeRule(DOC, "Choice added", "New."),
    "choices-opened": ChangeRule(DOC, "Choices no longer listed", "Any value passes argparse."),
    "flag-not-comparable": ChangeRule(DOC, "Not comparable", "A value is not known statically."),
    "flag-help": ChangeRule(DOC, "Help text changed", "Only words."),
    "flag-moved": ChangeRule(DOC, "Declaration moved", "Only its place."),
    "algorithm-removed": ChangeRule(START, "Algorithm removed", "Asking for it stops the start."),
    "algorithm-alias-removed": ChangeRule(
        START, "Algorithm spelling removed", "Asking for it stops the start."
    ),
    "algorithm-alias-target": ChangeRule(
        MEANING, "Algorithm spelling means another", "Another algorithm runs."
    ),
    "algorithm-added": ChangeRule(DOC, "Algorithm added", "New."),
    "algorithm-alias-added": ChangeRule(DOC, "Algorithm spelling added", "New."),
    "env-removed": ChangeRule(MEANING, "Variable removed", "Setting it has no effect."),
    "env-undeclared": ChangeRule(
        MEANING, "Variable no longer declared", "It is only read at the place given: see what that does."
    ),
    "env-default": ChangeRule(MEANING, "Variable's default changed", "Not setting it means something else."),
    "env-type": ChangeRule(MEANING, "Variable's type changed", "Its value is read differently."),
    "env-deprecated": ChangeRule(DOC, "Variable deprecated", "It still works, with a warning."),
    "env-unread": ChangeRule(
        DOC, "Variable no longer read", "SGLang never declared it and reads it no more."
    ),
    "env-added": ChangeRule(DOC, "Variable added", "New."),
    "rule-refuses": ChangeRule(
        START, "New refusal", "A launch that meets its condition stops while its arguments are resolved."
    ),
    "rule-guard": ChangeRule(
        MEANING, "Refused under another condition", "Other launches than before are refused."
    ),
    "rule-override": ChangeRule(
        MEANING, "Written value changed", "The resolver replaces a value that it didn't, or no longer does."
    ),
    "rule-kind": ChangeRule(MEANING, "Message of another kind", "What was said is now handled differently."),
    "rule-gone": ChangeRule(DOC, "Refusal gone", "The launch is no longer refused for this."),
    "rule-says": ChangeRule(DOC, "New message", "SGLang tells something new."),
    "rule-says-when": ChangeRule(DOC, "Message under another condition", "It is told for other launches."),
    "rule-silent": ChangeRule(DOC, "Message gone", "SGLang no longer tells this."),
}


def change(code: str, kind: str, name: str, message: str, **details: object) -> Change:
    """Return a change of a known kind, at the level of its rule."""
    return Change(code=code, level=RULES[code].level, kind=kind, name=name, message=message, **details)  # type: ignore[arg-type]
