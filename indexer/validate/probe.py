#!/usr/bin/env python3
"""Start real SGLang servers from a launch plan, send fixed requests, write one JSON a launch.

    probe.py run --plan PLAN.json --models DIR --out DIR [--width N] [--deadline SECONDS]
                 [--python PATH] [--port FIRST] [--only PATTERN] [--machine NAME]

One file, standard library only: it is copied to the host where SGLang is installed. Servers run
side by side (``--width``), each below a guard process of its own that ends the server and all its
descendants when told to, when the server exits, or when this runner dies in whatever way. Finished
launches are skipped when the same folder is used again, so an interrupted run simply continues.
Nothing that this program did not start is ever ended.
"""

import argparse
import contextlib
import ctypes
import fnmatch
import hashlib
import json
import os
import queue
import random
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

PROBE = 1
"""Version of the raw result's form."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PORTS_PER_LAUNCH = 20
NEW_TOKENS = 64
REQUEST_TIMEOUT = 300
"""Seconds: a first request may wait for kernels that compile meanwhile (over 180 s was seen)."""
READY_POLL = 0.5
SWEEP_SECONDS = 15
BATCHES = ((1, 256), (4, 128), (16, 128))
"""Requests at a time and new tokens each of the throughput runs."""
FOLD_FIELDS = ("spec", "prompt_tokens", "completion_tokens", "cached_tokens", "e2e_latency")
"""Beginnings of the ``meta_info`` keys that a result keeps."""
ERROR = re.compile(
    r"^(?:\[[^\]]*\]\s*)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b(?::.*)?)$"
)
USAGE_ERROR = re.compile(
    r"^[^\[\]]{1,60}: error: (argument.*|unrecognized arguments.*|the following.*|ambiguous.*)$"
)
FRAME = re.compile(r'^\s*(?:\[[^\]]*\]\s*)?File "([^"]+)", line (\d+), in (\S+)')
TELLING = re.compile(
    r"warn|overrid|overwrit|disabl|adjust|\bset(?:ting)? to\b|fallback|falling back|deprecat|not supported|"
    r"ignored|forc(?:e|ing)|instead|automatically|default",
    re.IGNORECASE,
)


# -- processes ---------------------------------------------------------------------------------


def prctl(option, value):
    """Call Linux's prctl; where there is none the guard still works, with less to fall back on."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def descendants(root):
    """Return the living descendants of a process, from /proc."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                if fields[0] != "Z":
                    parents[int(name)] = int(fields[1])
    found, fresh = set(), {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def reap():
    """Collect ended children without waiting."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def sweep():
    """End every descendant of this process; return how many outlived it."""
    end = time.time() + SWEEP_SECONDS
    while True:
        left = descendants(os.getpid())
        if not left or time.time() > end:
            return len(left)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
        reap()


def guard(log_path, command):
    """Run a command; end all of it when it exits, or when standard input closes.

    Writes one JSON line when the command started and one when nothing of it is left.
    """
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append("stop"))
    with open(log_path, "wb") as log:
        try:
            # Should the guard itself be ended, the kernel ends the server.
            server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        except OSError as error:
            print(json.dumps({"cannot": f"{type(error).__name__}: {error.strerror}"}), flush=True)
            return
    print(json.dumps({"pid": server.pid}), flush=True)
    code = None
    while code is None and not told:
        if select.select([0], [], [], 0.2)[0] and not os.read(0, 1):
            break
        code = server.poll()
    left = sweep()
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps({"exit": code, "left": left}), flush=True)


RUNNING = set()
"""The servers that run now, for the runner's own end."""


class Server:
    """A server below its guard."""

    def __init__(self, command, log_path, environment):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "guard", log_path, "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=environment,
        )
        first = self.process.stdout.readline()
        said = json.loads(first) if first.strip() else {"cannot": "the guard process ended"}
        self.cannot = said.get("cannot")
        self.group = said.get("pid")
        RUNNING.add(self)

    def running(self):
        """Say whether the server (its guard, which ends with it) still runs."""
        return self.process.poll() is None

    def stop(self):
        """End the server and all its descendants; return the guard's last words."""
        RUNNING.discard(self)
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(SWEEP_SECONDS + 10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        rest = self.process.stdout.read()
        words = [json.loads(line) for line in rest.splitlines() if line.strip()]
        if not words and self.group:
            # The guard itself was ended by someone: its server's group is still ours to end.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, signal.SIGKILL)
        return words[-1] if words else {"exit": None, "left": None}


def port_free(port):
    """Say whether nothing listens on a local port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


# -- requests ----------------------------------------------------------------------------------


class Garbage(Exception):
    """An endpoint answered with something that is not what it promises."""


def http(port, path, body=None, timeout=REQUEST_TIMEOUT, text=False):
    """Call the server; return its JSON (or its text).

    Raises Garbage when the answer is no JSON, OSError when there is no answer.
    """
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        method="GET" if body is None else "POST",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        data = answer.read()
    if text:
        return data.decode(errors="replace")
    try:
        return json.loads(data)
    except ValueError as error:
        raise Garbage(f"{path} answered {data[:80]!r}") from error


def prompts(following):
    """Return the fixed prompts: on the successor walk, off it, and half and half."""
    walk = [40]
    while len(walk) < 300:
        walk.append(following[walk[-1]])
    dice = random.Random(1)
    anywhere = lambda count: [dice.randrange(16, len(following)) for _ in range(count)]  # noqa: E731
    return {
        "short": [100, 200, 300, 400, 500],
        "walk30": walk[:30],
        "rand300": anywhere(300),
        "mix70": walk[:35] + anywhere(35),
    }


def folded(meta):
    """Return the part of a ``meta_info`` that a result keeps."""
    return {key: value for key, value in meta.items() if key.startswith(FOLD_FIELDS)}


class Session:
    """The requests of one launch, in a fixed order, into ``result['requests']``."""

    def __init__(self, port, following, result, launch):
        self.port, self.following, self.result, self.launch = port, following, result, launch
        self.greedy = {"temperature": 0, "max_new_tokens": NEW_TOKENS, "ignore_eos": True}
        self.prompts = prompts(following)

    def generate(self, ids, **sampling):
        """Send one request (or a list); return ``(output ids, meta)`` for each."""
        body = {"input_ids": ids, "sampling_params": {**self.greedy, **sampling}}
        return self._send(body, isinstance(ids[0], list))

    def _send(self, body, many):
        answers = http(self.port, "/generate", body)
        answers = answers if many else [answers]
        try:
            pairs = [(answer["output_ids"], answer["meta_info"]) for answer in answers]
        except (TypeError, KeyError) as error:
            raise Garbage(f"/generate answered without {error}") from error
        return pairs if many else pairs[0]

    def steps(self, last, ids):
        """Count the output tokens that are the successor of the token before."""
        return sum(self.following[before] == token for before, token in zip([last, *ids], ids, strict=False))

    def run(self):
        """Send everything."""
        requests = self.result["requests"] = {}
        for name, ids in self.prompts.items():
            requests[name] = self.one(ids)
        long = self.prompts["rand300"]
        requests["rand300_again"] = self.one(long)
        requests["rand300_more"] = self.one([*long, *requests["rand300"]["ids"][:40], 77, 78])
        for name in ("short", "walk30", "mix70"):
            requests[name + "_again"] = self.one(self.prompts[name])
        if self.launch.get("margins"):
            self.result["margins"] = self.margins(requests)
        self.batch(requests)
        if not self.launch.get("brief"):
            self.result["throughput"] = [self.throughput(size, tokens) for size, tokens in BATCHES]
        if self.launch.get("sample"):
            ids, meta = self.generate(long, temperature=1.0, top_p=0.9, top_k=20)
            self.result["sampled"] = {"tokens": len(ids), "meta": folded(meta)}

    def one(self, ids):
        """Send one greedy request."""
        start = time.time()
        output, meta = self.generate(ids)
        return {
            "ids": output,
            "meta": folded(meta),
            "seconds": round(time.time() - start, 3),
            "successors": self.steps(ids[-1], output),
        }

    def margins(self, requests):
        """Return, for each prompt, the output and the gap between the two best tokens at each step."""
        found = {}
        more = [*self.prompts["rand300"], *requests["rand300"]["ids"][:40], 77, 78]
        for name, ids in [*self.prompts.items(), ("rand300_more", more)]:
            body = {
                "input_ids": ids,
                "sampling_params": self.greedy,
                "return_logprob": True,
                "top_logprobs_num": 2,
            }
            output, meta = self._send(body, False)
            pairs = meta.get("output_top_logprobs") or []
            found[name] = {"ids": output, "gaps": [round(pair[0][0] - pair[1][0], 3) for pair in pairs]}
        return found

    def batch(self, requests):
        """Send the prompts twice in one batch; note which outputs equal the single ones."""
        names = list(self.prompts) * 2
        pairs = self.generate([self.prompts[name] for name in names])
        self.result["batch"] = {
            "equal": [ids == requests[name]["ids"] for name, (ids, _) in zip(names, pairs, strict=False)],
            "meta": folded(pairs[0][1]),
        }

    def throughput(self, size, tokens):
        """Return tokens per second and accept length of ``size`` requests at a time."""
        start = time.time()
        dice = random.Random(size)
        pairs = self.generate(
            [[dice.randrange(16, 2048) for _ in range(8)] for _ in range(size)], max_new_tokens=tokens
        )
        seconds = time.time() - start
        produced = sum(len(ids) for ids, _ in pairs)
        verifies = sum(meta.get("spec_verify_ct") or 0 for _, meta in pairs)
        return {
            "batch": size,
            "tokens": produced,
            "tokens_per_second": round(produced / seconds, 1),
            "tokens_per_verify": round(produced / verifies, 3) if verifies else None,
        }


# -- one launch --------------------------------------------------------------------------------


class Scrub:
    """Takes this host's folders, name and addresses out of text."""

    def __init__(self, places):
        self.places = sorted(
            ((os.path.abspath(path), name) for path, name in places.items() if path),
            key=lambda pair: -len(pair[0]),
        )

    def __call__(self, text):
        for path, name in self.places:
            text = text.replace(path, name)
        text = re.sub(r"/[\w./+-]*/(site-packages|dist-packages)", r"{python}/\1", text)
        text = re.sub(r"/[\w./+-]*/lib/python3", "{python}/lib/python3", text)
        host = socket.gethostname()
        if len(host) > 3:
            text = text.replace(host, "{host}")
        return re.sub(r"(?<![\w.}])/(?:root|home|tmp|work|opt|mnt|var)/[\w./+-]*", "{path}", text)

    def deep(self, value):
        """Scrub every string inside a JSON value."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, list):
            return [self.deep(item) for item in value]
        if isinstance(value, dict):
            return {self(key): self.deep(item) for key, item in value.items()}
        return value


def read_log(path, scrub):
    """Return what a log decides: last error, its innermost frame inside sglang, telling lines, tail."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {"digest": None, "lines": 0, "error": None, "where": None, "telling": [], "tail": []}
    lines = [scrub(line.rstrip()) for line in data.decode(errors="replace").splitlines()]
    error = where = frame = None
    for line in lines:
        matched = FRAME.match(line)
        if matched and "sglang/" in matched.group(1):
            frame = "{}:{}:{}".format(
                "sglang/" + matched.group(1).rsplit("sglang/", 1)[1], *matched.groups()[1:]
            )
        told = ERROR.match(line.strip()) or USAGE_ERROR.match(line.strip())
        if told and not told.group(1).startswith("SystemExit"):
            error, where, frame = told.group(1)[:900], frame or where, None
    telling, seen = [], set()
    for line in lines:
        bare = re.sub(r"^\[[^\]]*\]\s*", "", line)[:400]
        if TELLING.search(bare) and "server_args=" not in bare and bare not in seen and len(telling) < 24:
            seen.add(bare)
            telling.append(bare)
    return {
        "digest": hashlib.sha256(data).hexdigest(),
        "lines": len(lines),
        "error": error,
        "where": where,
        "telling": telling,
        "tail": [line[:400] for line in lines[-14:]],
    }


def command_line(launch, base, options, port):
    """Return the command of a launch; ``{models}`` in a flag is the models folder."""
    flags = [str(flag).replace("{models}", options.models) for flag in launch["flags"]]
    own = {flag for flag in flags if flag.startswith("--")}
    kept, skip = [], False
    for flag in map(str, base):
        if flag.startswith("--"):
            skip = flag in own or flag in launch.get("without", [])
        if not skip:
            kept.append(flag)
    return [
        options.python,
        "-m",
        "sglang.launch_server",
        "--model-path",
        os.path.join(options.models, launch["model"]),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--nccl-port",
        str(port + 1),
        *kept,
        *flags,
    ]


def wait_ready(server, port, limit):
    """Wait for /health; return ``ready``, ``exited`` or ``hung``."""
    end = time.time() + limit
    while time.time() < end:
        if not server.running():
            return "exited"
        try:
            http(port, "/health", timeout=5, text=True)
            return "ready"
        except OSError:
            time.sleep(READY_POLL)
    return "hung"


def launch_one(launch, plan, options, port, scrub, stopping):
    """Run one launch from start to end; return its raw result, or None when the run is stopping."""
    log_path = os.path.join(options.out, launch["id"] + ".log")
    environment = {**os.environ, **launch.get("env", {})}
    command = command_line(launch, plan["base"], options, port)
    result = {
        "probe": PROBE,
        "id": launch["id"],
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": scrub.deep(["python", *command[1:]]),
        "side_by_side": options.width,
    }
    start = time.time()
    server = Server(command, log_path, environment)
    try:
        if server.cannot:
            result.update(outcome="not-started", error=server.cannot)
            return result
        state = wait_ready(server, port, launch.get("timeout", options.start_timeout))
        result["start_seconds"] = round(time.time() - start, 1)
        result["outcome"] = state
        if state == "ready":
            with open(os.path.join(options.models, launch["model"], "successor.json")) as file:
                following = json.load(file)["next"]
            talk(server, port, following, result, launch)
    finally:
        words = server.stop()
        result.update(exit=words["exit"], left=words["left"], seconds=round(time.time() - start, 1))
        result["log"] = read_log(log_path, scrub)
    if stopping.is_set() and result["outcome"] != "served":
        return None
    return scrub.deep(result)


def talk(server, port, following, result, launch):
    """Send the requests and read the server's own account of itself."""
    try:
        Session(port, following, result, launch).run()
        result["outcome"] = "served"
    except (OSError, Garbage, KeyError, TypeError, ValueError, IndexError) as error:
        time.sleep(1)
        result["outcome"] = "broke" if server.running() else "died"
        result["broke"] = f"{type(error).__name__}: {error}"[:300]
    for key, path in (("server_info", "/server_info"), ("server_info", "/get_server_info")):
        if key not in result:
            with contextlib.suppress(OSError, Garbage):
                result[key] = http(port, path, timeout=20)
    with contextlib.suppress(OSError, Garbage):
        lines = http(port, "/metrics", timeout=20, text=True).splitlines()
        result["metrics"] = [line for line in lines if "spec" in line and not line.startswith("#")][:40]


# -- the run -----------------------------------------------------------------------------------

VERSIONS = r"""
import json, importlib.metadata as m
out = {}
for name in ("sglang", "torch", "triton", "transformers", "sglang-kernel", "sgl-kernel", "flashinfer-python",
             "sgl-deep-gemm", "nvidia-nccl-cu13", "nvidia-cudnn-cu13", "numpy"):
    try: out[name] = m.version(name)
    except m.PackageNotFoundError: pass
import platform; out["python"] = platform.python_version()
import torch
gpu = {"cuda": torch.version.cuda, "count": torch.cuda.device_count() if torch.cuda.is_available() else 0}
if gpu["count"]:
    p = torch.cuda.get_device_properties(0)
    gpu.update(name=p.name, sm="%d%d" % (p.major, p.minor), memory=p.total_memory,
               multiprocessors=p.multi_processor_count)
print(json.dumps({"versions": out, "gpu": gpu}))
"""


def gpu_memory():
    """Return the MiB in use on each GPU, by nvidia-smi; None where it can't tell."""
    try:
        asked = subprocess.run(
            ["nvidia-smi", "--query-gpu=memory.used,driver_version", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=20,
        )
        rows = [row.split(", ") for row in asked.stdout.strip().splitlines()]
        return {"used_mib": [int(row[0]) for row in rows], "driver": rows[0][1]}
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None


def settled_memory(before):
    """Return the memory in use once ended servers' memory is back, or after a while."""
    end = time.time() + SWEEP_SECONDS
    after = gpu_memory()
    while before and after and time.time() < end and max(after["used_mib"]) > max(before["used_mib"]) + 64:
        time.sleep(0.5)
        after = gpu_memory()
    return after


def host_facts(options):
    """Return versions and GPU of the host, asked in a process of its own."""
    asked = subprocess.run([options.python, "-c", VERSIONS], capture_output=True, text=True, timeout=240)
    lines = asked.stdout.strip().splitlines()
    if asked.returncode or not lines:
        why = (asked.stderr.strip().splitlines() or ["no answer"])[-1]
        sys.exit(f"probe: {options.python} can't tell its versions: {why}")
    return json.loads(lines[-1])


def write(path, value):
    """Write JSON beside its place and move it there, so that a file is whole or absent."""
    with open(path + ".part", "w") as file:
        json.dump(value, file)
    os.replace(path + ".part", path)


def run(options):
    """Run the plan; return the exit code."""
    with open(options.plan) as file:
        plan = json.load(file)
    os.makedirs(options.out, exist_ok=True)
    options.models, options.out = os.path.abspath(options.models), os.path.abspath(options.out)
    begun = time.time()
    before = gpu_memory()
    facts = host_facts(options)
    if not facts["gpu"]["count"]:
        sys.exit("probe: no GPU here (torch.cuda.device_count() is 0)")
    wanted = plan["version"]
    if facts["versions"].get("sglang") != wanted:
        sys.exit(f"probe: the plan is for sglang {wanted}, here is {facts['versions'].get('sglang', 'none')}")
    scrub = Scrub({options.models: "{models}", options.out: "{out}", options.site: "{site}"})
    write(
        os.path.join(options.out, "host.json"),
        {
            **facts,
            "machine": options.machine,
            "driver": before and before["driver"],
            "memory_before": before,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "width": options.width,
        },
    )
    waiting = queue.SimpleQueue()
    todo = [
        launch
        for launch in plan["launches"]
        if fnmatch.fnmatch(launch["id"], options.only)
        and not os.path.exists(os.path.join(options.out, launch["id"] + ".json"))
    ]
    for launch in todo:
        waiting.put(launch)
    stopping, ports, troubles = threading.Event(), iter(range(options.port, 60000, PORTS_PER_LAUNCH)), []
    lock = threading.Lock()

    def free_port():
        with lock:
            return next(port for port in ports if port_free(port) and port_free(port + 1))

    def work():
        while not stopping.is_set():
            if options.deadline - (time.time() - begun) < options.least:
                return
            try:
                launch = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                result = launch_one(launch, plan, options, free_port(), scrub, stopping)
                if result:
                    write(os.path.join(options.out, launch["id"] + ".json"), result)
                    say(launch, result, begun)
            except OSError as error:
                # A full disk, say: what is finished stays, the rest can be resumed.
                troubles.append(f"{launch['id']}: {error}")
                stopping.set()

    def stop(*_):
        stopping.set()
        for server in list(RUNNING):
            with contextlib.suppress(OSError):
                server.process.stdin.close()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    workers = []
    for number in range(min(options.width, len(todo))):
        workers.append(threading.Thread(target=work, daemon=True))
        workers[-1].start()
        time.sleep(options.stagger if number + 1 < options.width else 0)
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.2)
        if time.time() - begun > options.deadline and not stopping.is_set():
            stop()
    after = settled_memory(before)
    done = sum(
        os.path.exists(os.path.join(options.out, launch["id"] + ".json")) for launch in plan["launches"]
    )
    print(
        f"probe: {done} of {len(plan['launches'])} launches done in {time.time() - begun:.0f} s; "
        f"GPU MiB in use before {before and before['used_mib']}, after {after and after['used_mib']}",
        flush=True,
    )
    with contextlib.suppress(OSError, ValueError):
        path = os.path.join(options.out, "host.json")
        with open(path) as file:
            host = json.load(file)
        write(path, {**host, "memory_after": after, "seconds": round(time.time() - begun, 1)})
    for trouble in troubles:
        print(f"probe: {trouble}", file=sys.stderr)
    return 3 if troubles else 0 if done == len(plan["launches"]) else 1


def say(launch, result, begun):
    """Print one line about a finished launch."""
    told = result.get("log", {}).get("error") if result["outcome"] != "served" else None
    took = f"start {result.get('start_seconds')} s, all {result['seconds']} s"
    at = time.time() - begun
    print(f"{at:6.1f} {launch['id']:<40} {result['outcome']:<7} {took} {(told or '')[:110]}", flush=True)


def main(argv):
    if argv[:1] == ["guard"]:
        guard(argv[1], argv[argv.index("--") + 1 :])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["run"])
    parser.add_argument("--plan", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--site", default=None, help="folder of a carried SGLang, named {site} in results")
    parser.add_argument("--width", type=int, default=8, help="servers side by side")
    parser.add_argument("--stagger", type=float, default=0.3, help="seconds between the first starts")
    parser.add_argument("--deadline", type=float, default=1e9, help="seconds until everything is ended")
    parser.add_argument("--least", type=float, default=45, help="seconds that a launch must still have")
    parser.add_argument("--start-timeout", type=float, default=420)
    parser.add_argument("--port", type=int, default=21000)
    parser.add_argument("--only", default="*")
    parser.add_argument("--machine", default=None, help="a name for the kind of machine, kept in records")
    return run(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
