#!/usr/bin/env python3
"""Ask the real SGLang's own argument resolver about many launches; no server starts.

    resolver.py --cases CASES.json --models DIR --out FILE.jsonl [--gpu H200|JSON] [--jobs N]

Runs where that SGLang is installed (standard library beside it): sglang is imported once and every
case is a fork that calls ``prepare_server_args``, then ``resolve_once`` and ``check_server_args``
where the release has them. With ``--gpu`` torch's device queries are answered from a description
(``described_gpu.py`` beside this file), so a host without a GPU will do; the first line says so.
"""

import argparse
import contextlib
import dataclasses
import enum
import importlib
import io
import json
import logging
import os
import platform
import select
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
LEFT_OUT = {"random_seed", "nccl_port", "port"}
"""Drawn anew in every process."""
LONG_LIST = 24


def plain(value, clean, depth=0):
    """Return a JSON form of a resolved value; long integer lists shortened, objects by their repr."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else repr(value)
    if isinstance(value, (list, tuple)) and depth < 4:
        if len(value) > LONG_LIST and all(isinstance(item, int) for item in value):
            return {"integers": len(value), "first": list(value[:3]), "last": value[-1]}
        return [plain(item, clean, depth + 1) for item in value]
    if isinstance(value, dict) and depth < 4:
        return {str(key): plain(item, clean, depth + 1) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 4:
        return {
            f.name: plain(getattr(value, f.name, None), clean, depth + 1) for f in dataclasses.fields(value)
        }
    return {"repr": clean(repr(value))[:300]}


def defaults(record):
    """Return the plain field defaults of the ServerArgs record (a dataclass or a msgspec struct)."""
    if dataclasses.is_dataclass(record):
        missing, fields = dataclasses.MISSING, dataclasses.fields(record)
    else:
        import msgspec

        missing, fields = msgspec.NODEFAULT, msgspec.structs.fields(record)
    found = {}
    for field in fields:
        if field.default is not missing:
            found[field.name] = field.default
        else:
            found[field.name] = field.default_factory() if field.default_factory is not missing else None
    return found


def failure(error, clean, root):
    """Describe an exception: class, message and the innermost place inside sglang."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(root + os.sep)]
    told = {"error": type(error).__name__, "message": clean(str(error))[:1500]}
    if inside:
        frame = inside[-1]
        told["where"] = f"{os.path.relpath(frame.filename, root)}:{frame.lineno}:{frame.name}"
    return told


class Messages(logging.Handler):
    """Keeps what is logged at WARNING and above, and sglang's INFO lines."""

    def __init__(self, clean):
        super().__init__()
        self.clean, self.warnings, self.notes = clean, [], []

    def emit(self, record):
        with contextlib.suppress(Exception):
            text = self.clean(record.getMessage())[:600]
            if record.levelno >= logging.WARNING:
                self.warnings.append(text)
            elif record.name.startswith("sglang") and not text.startswith("server_args="):
                self.notes.append(text)


def resolve(case, models, module, root):
    """Resolve one case in this process (a fork); return its result."""
    clean = lambda text: text.replace(models, "{models}")  # noqa: E731
    argv = [str(part).replace("{models}", models) for part in case["argv"]]
    os.environ.update(case.get("env", {}))
    said = {"id": case["id"], "argv": case["argv"]}
    messages = Messages(clean)
    # SGLang configures logging itself while it resolves; ours must see everything before and after.
    handle = logging.Logger.handle
    logging.Logger.handle = lambda self, record: (messages.emit(record), handle(self, record))[1]
    errors, start = io.StringIO(), time.time()
    stage, parsed = "parse", {}
    original = argparse.ArgumentParser.parse_args

    def parse_args(self, *args, **kwargs):
        nonlocal stage
        space = original(self, *args, **kwargs)
        stage = "resolve"
        parsed.update(vars(space))
        return space

    argparse.ArgumentParser.parse_args = parse_args
    record_class = module.ServerArgs
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(errors):
            record = module.prepare_server_args(argv)
            if hasattr(record, "resolve_once"):
                record.resolve_once()
            named = defaults(record_class)
            values = (
                record.resolved_dict()
                if hasattr(record, "resolved_dict")
                else {name: getattr(record, name) for name in named}
            )
            stage = "check"
            if hasattr(record, "check_server_args"):
                record.check_server_args()
        differing, changed = {}, {}
        for name, default in named.items():
            if name in LEFT_OUT or name not in values:
                continue
            value = plain(values[name], clean)
            if value != plain(default, clean):
                differing[name] = value
            if name in parsed and plain(parsed[name], clean) != value:
                changed[name] = [plain(parsed[name], clean), value]
        said.update(ok=True, resolved=differing, changed=changed)
    except SystemExit as error:
        lines = [line for line in errors.getvalue().strip().splitlines() if line.strip()]
        text = lines[-1] if lines else str(error)
        said.update(
            ok=False, stage=stage, error="SystemExit", message=clean(text.split(": error: ")[-1])[:1500]
        )
    except BaseException as error:
        said.update(ok=False, stage=stage, **failure(error, clean, root))
    said.update(warnings=messages.warnings, notes=messages.notes, ms=int(1000 * (time.time() - start)))
    return said


def forked(case, models, module, root):
    """Start a fork that resolves a case; return its pid and the pipe it answers on."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    try:
        os.close(read)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        answer = resolve(case, models, module, root)
        if case.get("modules"):
            answer["modules"] = list(sys.modules)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
    finally:
        os._exit(0)


def run_all(cases, models, module, root, jobs):
    """Resolve all cases, ``jobs`` at a time; yield results as they come."""
    waiting, living = list(reversed(cases)), {}
    while waiting or living:
        while waiting and len(living) < jobs:
            case = waiting.pop()
            pid, pipe = forked(case, models, module, root)
            living[pipe] = (pid, case, b"")
        for pipe in select.select(list(living), [], [], 60)[0]:
            pid, case, data = living[pipe]
            more = os.read(pipe, 1 << 20)
            if more:
                living[pipe] = (pid, case, data + more)
                continue
            os.close(pipe)
            os.waitpid(pid, 0)
            del living[pipe]
            yield (
                json.loads(data)
                if data
                else {
                    "id": case["id"],
                    "argv": case["argv"],
                    "ok": False,
                    "stage": "harness",
                    "error": "ChildDied",
                    "message": "the fork ended without an answer",
                }
            )


def warm(cases, models, module, root):
    """Import here, once, what sample cases import lazily, so that the forks need not."""
    for case in cases:
        for answer in run_all([{**case, "modules": True}], models, module, root, 1):
            for name in answer.get("modules", []):
                if name not in sys.modules:
                    with contextlib.suppress(BaseException):
                        importlib.import_module(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--gpu", default=None, help="describe a GPU instead of asking for one: H200, or JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with open(options.cases) as file:
        cases = json.load(file)
    models = os.path.abspath(options.models)
    described = None
    if options.gpu:
        sys.path.insert(0, HERE)
        import described_gpu

        described = described_gpu.read_description(options.gpu)
        described_gpu.describe(described)
    sys.argv = ["sglang"]
    import sglang

    module = importlib.import_module("sglang.srt.server_args")
    root = os.path.dirname(os.path.dirname(os.path.abspath(sglang.__file__)))
    import importlib.metadata as metadata

    warm(
        cases[:1] + [case for case in cases if "--speculative-algorithm" in case["argv"]][:3],
        models,
        module,
        root,
    )
    with open(options.out + ".part", "w") as file:
        versions = {}
        for name in ("sglang", "torch", "transformers", "triton"):
            with contextlib.suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)
        file.write(
            json.dumps(
                {
                    "meta": {
                        "versions": versions,
                        "python": platform.python_version(),
                        "described_gpu": described,
                    }
                }
            )
            + "\n"
        )
        count = accepted = 0
        for answer in run_all(cases, models, module, root, options.jobs):
            file.write(json.dumps(answer, sort_keys=True) + "\n")
            count, accepted = count + 1, accepted + answer["ok"]
    os.replace(options.out + ".part", options.out)
    print(f"resolver: {count} cases, {accepted} accepted")


if __name__ == "__main__":
    main()
