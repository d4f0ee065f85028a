"""Ids that survive moved lines, groups, and the option names a message speaks of."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import lru_cache

from indexer.extract.rules.facts import Expr
from indexer.knowledge.schema import Rule
from indexer.templates import PLACEHOLDER, template_key

_OPTION = re.compile(r"--([a-z0-9][a-z0-9-]*[a-z0-9])")
_WORD = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_ENVIRONMENT = re.compile(r"^_?envs?\.([A-Z][A-Z0-9_]+)")
_GETTER = re.compile(r"(^|\.)getenv$|environ|env_var$")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")

_MODELS = "models"
_GROUPS = tuple(
    (group, re.compile(rf"(?:^|_)(?:{words})(?:_|$)"))
    for group, words in (
        ("speculative decoding", r"spec(ulative)?|eagle|dflash|dspark|ngram|nextn|mtp|uno|draft|adaptive"),
        ("mamba and linear attention", r"mamba|linear_attn|linear_attention|gdn|kda|ssm"),
        ("mixture of experts", r"moe|a2a|eplb|expert|experts|ep|deepep|dispatch|elastic"),
        ("CUDA graphs", r"cuda_graph|cudagraph|graph|piecewise|capture"),
        ("attention backends", r"attention|attn|mla|deterministic|dsa|nsa"),
        ("disaggregation", r"pd|disaggregation|disagg|encoder"),
        ("LoRA", r"lora"),
        ("KV cache", r"cache|hicache|kv|radix|kv4|unified_memory|page|pool|hisparse"),
        ("memory", r"memory|mem|offload|gpu_memory"),
        ("parallelism", r"parallel|parallelism|dp|pp|cp|tp|dwdp|dcp"),
        ("platforms", r"hpu|cpu|npu|mps|xpu|amd|hip|platform|nccl|device|musa"),
        ("quantization", r"quant|quantization|modelopt|fp8|fp4"),
        ("models", r"model|overrides|arch|config"),
        ("serving", r"grpc|ssl|tokenizer|grammar|multimodal|asr|load_balance|serving|port|api|template"),
    )
)


@lru_cache(maxsize=4)
def _two_worded(names: frozenset[str]) -> list[tuple[str, str]]:
    """Return the names of two words with their spelling in prose (``page size``)."""
    return sorted((name, name.replace("_", " ")) for name in names if name.count("_") == 1)


def option_fields(message: str, known: frozenset[str]) -> list[str]:
    """Return the known fields whose option or name a message mentions."""
    said = [match.group(1).replace("-", "_") for match in _OPTION.finditer(message)]
    plain = PLACEHOLDER.sub(" ", message)
    said += _WORD.findall(plain)
    lowered = plain.lower()
    said += [name for name, words in _two_worded(known) if words in lowered]
    return [name for name in dict.fromkeys(said) if name in known]


def environment_reads(expr: Expr) -> list[str]:
    """Return ``env:NAME`` for every environment variable an expression reads."""
    names = [match.group(1) for chain in expr.chains if (match := _ENVIRONMENT.match(chain))]
    if any(_GETTER.search(callee) for callee in expr.calls):
        names += [one for one in expr.strings if _VARIABLE.fullmatch(one)]
    return [f"env:{name}" for name in dict.fromkeys(names)]


def group_of(rule: Rule) -> str:
    """Return the topic of a rule: by its function and file, else by the fields it is about."""
    leaf = rule.function.rpartition(".")[2]
    stem = rule.at.path.rpartition("/")[2].removesuffix(".py").removesuffix("_hook")
    general = stem in ("server_args", "overrides", "pipeline")
    by_place = _topic(leaf) or (None if general else _topic(stem))
    if by_place in (None, _MODELS):
        by_place = next((topic for one in rule.targets[:3] if (topic := _topic(one))), None) or by_place
    return by_place or rule.stage or "general"


def _topic(name: str) -> str | None:
    return next((group for group, words in _GROUPS if words.search(name)), None)


def assign_ids(rules: list[Rule]) -> None:
    """Give every rule its id: function, kind and a fingerprint of what it does, never a line."""
    stems = [_stem(rule) for rule in rules]
    shared = {stem for stem, count in Counter(stems).items() if count > 1}
    taken: Counter[str] = Counter()
    for rule, stem in zip(rules, stems, strict=True):
        if stem in shared:  # the same change under several guards: the guard tells them apart
            stem = f"{stem}-{_digest([f'{one.holds}{one.text}' for one in rule.guard], 2)}"
        taken[stem] += 1
        rule.id = stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"


def _stem(rule: Rule) -> str:
    leaf = rule.function.rpartition(".")[2].strip("_") or "table"
    parts = [rule.function, rule.kind, *rule.targets, *rule.bindings.values()]
    if rule.kind != "override" and rule.message is not None:
        parts.append(template_key(rule.message))
    if rule.kind in ("override", "assert"):
        parts.extend(rule.values)
    elif rule.message is None:
        parts.extend(f"{one.holds}{one.text}" for one in rule.guard if not one.how.startswith("caller"))
    return f"{leaf}-{rule.kind}-{_digest(parts, 4)}"


def _digest(parts: list[str], size: int) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=size).hexdigest()
