"""Every lint: one data entry, from which the documentation page, ``--help`` and SARIF rules are made.

``example`` is a launch that the lint finds on ``example_version``; the tests run each of them.
"""

from __future__ import annotations

import msgspec

from indexer.drift.report.record import HINT, MEANING, START, RuleInfo


class Lint(msgspec.Struct, frozen=True, kw_only=True):
    """One lint. ``why`` says what happens to the user, ``instead`` what to write."""

    code: str
    level: str
    title: str
    what: str
    why: str
    example: str
    example_version: str
    instead: str


LINTS = {
    lint.code: lint
    for lint in (
        Lint(
            code="unknown-flag",
            level=START,
            title="Option that SGLang never had",
            what="The word looks like an option of the server, but no covered version declares it; or a dash "
            "(—, –) stands in it where hyphens belong.",
            why="argparse stops with “unrecognized arguments” before the model is loaded.",
            example="python -m sglang.launch_server --model-path m --reasoning_parser qwen3",
            example_version="0.5.23",
            instead="The nearest option named in the message; write `-` where you wrote `_` or a dash.",
        ),
        Lint(
            code="ambiguous-flag",
            level=START,
            title="Abbreviation that fits several options",
            what="The word is no option of this version, but the beginning of two or more.",
            why="argparse stops with “ambiguous option”. A flag that was split in two newer ones "
            "breaks in this way in launch files that never abbreviated anything.",
            example="python -m sglang.launch_server --model-path m --cuda-graph-max-bs 32",
            example_version="0.5.23",
            instead="The one of the listed options that you mean, spelled out.",
        ),
        Lint(
            code="abbreviated-flag",
            level=HINT,
            title="Abbreviated option",
            what="The word is no option itself; argparse takes it for the only option that begins so.",
            why="It works until a version adds a second option with that beginning.",
            example="python -m sglang.launch_server --model-path m --mem-frac 0.9",
            example_version="0.5.23",
            instead="The full option.",
        ),
        Lint(
            code="deprecated-flag",
            level=HINT,
            title="Deprecated option",
            what="The version accepts the option (or the old name of an environment variable, also one with "
            "an old prefix) and says that it will go.",
            why="It works today with a warning. START where the version refuses it outright.",
            example="python -m sglang.launch_server --model-path m --mamba-scheduler-strategy auto",
            example_version="0.5.17",
            instead="The option that the version's own message names.",
        ),
        Lint(
            code="removed-flag",
            level=START,
            title="Option that is gone",
            what="An older version declared the option, this one doesn't, and no successor is known.",
            why="argparse stops with “unrecognized arguments”.",
            example="python -m sglang.launch_server --model-path m --speculative-ngram-branch-length 18",
            example_version="0.5.23",
            instead="Drop it, or look up in its history what took over.",
        ),
        Lint(
            code="renamed-flag",
            level=START,
            title="Option that is gone under this name",
            what="An older version declared the option; this one has its successor only.",
            why="argparse stops with “unrecognized arguments”.",
            example="python -m sglang.launch_server --model-path m --mamba-scheduler-strategy auto",
            example_version="0.5.23",
            instead="The successor; `--fix` writes it.",
        ),
        Lint(
            code="future-flag",
            level=START,
            title="Option of a later version",
            what="A newer version declares the option, this one doesn't yet.",
            why="argparse stops with “unrecognized arguments”.",
            example="python -m sglang.launch_server --model-path m --mamba-radix-cache-strategy auto",
            example_version="0.5.9",
            instead="The version named in the message or newer, or the older option.",
        ),
        Lint(
            code="wrong-engine-flag",
            level=START,
            title="Another engine's option",
            what="SGLang never had the option, but vLLM or TensorRT-LLM has. A hint: vLLM is given an option "
            "of SGLang's.",
            why="argparse stops with “unrecognized arguments”.",
            example="python -m sglang.launch_server --model-path m --gpu-memory-utilization 0.9",
            example_version="0.5.23",
            instead="SGLang's equivalent named in the message; the value may need another unit.",
        ),
        Lint(
            code="invalid-choice",
            level=START,
            title="Value that the option doesn't accept",
            what="The option has a closed list of values and the given one isn't in it.",
            why="argparse stops with “invalid choice”. The message says when the value was accepted.",
            example="python -m sglang.launch_server --model-path m --speculative-algorithm EAGEL",
            example_version="0.5.9",
            instead="One of the values in the message.",
        ),
        Lint(
            code="invalid-value",
            level=START,
            title="Value of the wrong kind",
            what="The value can't be converted (not a number, not JSON), the option takes none, or a "
            "word stands where no value is expected (an option and its value in one argument: `- --tp 2` in "
            'a list, `"$ARGS"`). MEANING where a line is not continued (a blank '
            "behind its backslash, a comment, no backslash): the options below never reach the server.",
            why="argparse stops with “invalid int value”, “ignored explicit argument” or "
            "“unrecognized arguments”.",
            example="python -m sglang.launch_server --model-path m --tp-size two",
            example_version="0.5.23",
            instead="A value of the kind in the message.",
        ),
        Lint(
            code="missing-value",
            level=START,
            title="Option without its value",
            what="The option needs a value and the next word is another option, or there is none; or "
            "an option that every launch needs is not there.",
            why="argparse stops with “expected one argument” or “arguments are required”.",
            example="python -m sglang.launch_server --model-path m --tp-size --port 30000",
            example_version="0.5.23",
            instead="Give the value.",
        ),
        Lint(
            code="duplicate-flag",
            level=HINT,
            title="Option given twice",
            what="Two options write the same setting; the last one wins.",
            why="The first is silently ignored. MEANING where the two values differ.",
            example="python -m sglang.launch_server --model-path m --tp-size 2 --tensor-parallel-size 4",
            example_version="0.5.23",
            instead="Keep one.",
        ),
        Lint(
            code="config-not-read",
            level=MEANING,
            title="Configuration file that nobody reads",
            what="The file is given as `--config=FILE` or by an abbreviation of the option. The version's "
            "parser takes either, but the file's reader is asked only if `--config` is a word of its own.",
            why="The server starts without a word, and with none of the file's settings.",
            example="python -m sglang.launch_server --model-path m --config=server.yaml",
            example_version="0.5.23",
            instead="`--config FILE`, two words.",
        ),
        Lint(
            code="refused",
            level=START,
            title="Launch that SGLang's own checks refuse",
            what="Every option exists, but the resolver raises on this combination, whatever the model and "
            "GPU. Told from the steps of the release's resolver, which ship as facts, and only where the "
            "file tells the whole argument list; `--resolve` also runs the resolver itself. Or: what every "
            "server parses as JSON is none.",
            why="The server dies with the named error while it reads its arguments.",
            example="python -m sglang.launch_server --model-path m --speculative-algorithm NEXTN "
            "--speculative-num-draft-tokens 3",
            example_version="0.5.23",
            instead="What the rule at the cited line asks for.",
        ),
        Lint(
            code="overridden",
            level=MEANING,
            title="Value that SGLang replaces",
            what="The resolver writes another value over the one you gave, whatever the model and GPU. A "
            "hint where the value is scaled: a chunk size by the number of data-parallel ranks.",
            why="The server runs, but not with the setting in the file.",
            example="python -m sglang.launch_server --model-path m --speculative-algorithm NEXTN "
            "--speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 1",
            example_version="0.5.23",
            instead="The value that will be used, or change what triggers the rule.",
        ),
        Lint(
            code="stale-env",
            level=HINT,
            title="Environment variable without effect",
            what="An older version read the variable; this one doesn't, or only to say that it is gone. "
            "MEANING with `--upgrade`: it had an effect until then; and where the version raises when it "
            "is set.",
            why="The line does nothing, and reading it misleads.",
            example="SGLANG_ENABLE_SPEC_V2=1 python -m sglang.launch_server --model-path m",
            example_version="0.5.23",
            instead="What the message names, where the release says what to use instead; else remove it.",
        ),
        Lint(
            code="config-key-refused",
            level=START,
            title="Key that `--config` refuses",
            what="The version's reader of `--config` files raises on the key.",
            why="The server dies with “Unsupported config option” although the option exists.",
            example="mem-fraction-static: 0.9\nchunked-prefill-size: 4096\nlora-paths: [a]",
            example_version="0.5.18",
            instead="Give the option on the command line.",
        ),
        Lint(
            code="unknown-keyword",
            level=START,
            title="Keyword that ServerArgs doesn't take",
            what="`Engine(...)` and `ServerArgs(...)` take field names; abbreviations, aliases and "
            "option strings don't apply there.",
            why="Python raises TypeError: unexpected keyword argument.",
            example='sglang.Engine(model_path="m", speculative_draft_model="d")',
            example_version="0.5.23",
            instead="The field named in the message.",
        ),
        Lint(
            code="changed-flag",
            level=MEANING,
            title="Option that means something else after the upgrade",
            what="With `--upgrade`: both versions accept the word, but not for the same thing.",
            why="The server starts with another setting than before, and nothing says so.",
            example="python -m sglang.launch_server --model-path m --enable-ep",
            example_version="0.5.5",
            instead="The option spelled out as the newer version has it.",
        ),
        Lint(
            code="ghost-flag",
            level=MEANING,
            title="Documented option that doesn't exist",
            what="With `--docs`: the text names an option that the version doesn't declare, though "
            "another version does.",
            why="Whoever copies it gets “unrecognized arguments”.",
            example="Pass `--mamba-scheduler-strategy`.",
            example_version="0.5.23",
            instead="The option that took over.",
        ),
        Lint(
            code="undocumented-flag",
            level=HINT,
            title="Option that the documentation doesn't name",
            what="With `--docs`: no file read names the option.",
            why="Users can't find it.",
            example="(a folder without it)",
            example_version="0.5.23",
            instead="Document it, or hide it from --help.",
        ),
        Lint(
            code="wrong-default",
            level=MEANING,
            title="Documented default that isn't the default",
            what="With `--docs`: a table's default differs from the parser's.",
            why="Readers plan with a value that isn't used.",
            example="| `--stream-interval` | tokens | `77` |",
            example_version="0.5.23",
            instead="The value in the message.",
        ),
    )
}
CODES = tuple(LINTS)


def rule_infos(help_base: str | None = None) -> dict[str, RuleInfo]:
    """Return what reporters may say of each code; ``help_base`` is the address of the pages."""
    return {
        code: RuleInfo(code, lint.level, lint.title, lint.what, f"{help_base}{code}" if help_base else None)
        for code, lint in LINTS.items()
    }
