"""Stands in for a SGLang server: real processes and endpoints, no model (process-handling tests only).

Starts a child and a grandchild that ignore TERM and leave the group, as a stubborn server's might.
Flags decide how it misbehaves: --refuse, --hang, --die-on-request, --garbage.
"""

import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STUBBORN = "import signal,time;signal.signal(signal.SIGTERM,signal.SIG_IGN);time.sleep(600)"
arguments = sys.argv[1:]


def option(name):
    return arguments[arguments.index(name) + 1]


model = option("--model-path")
with open(os.path.join(model, "successor.json")) as file:
    following = json.load(file)["next"]


def answer(ids, count):
    output = []
    last = ids[-1]
    for _ in range(count):
        last = following[last]
        output.append(last)
    meta = {"prompt_tokens": len(ids), "completion_tokens": count, "cached_tokens": 0, "e2e_latency": 0.01}
    return {"output_ids": output, "meta_info": meta}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, data):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/server_info":
            self.send({"model_path": model, "internal_states": [{"avg_spec_accept_length": 1.0}]})
        elif self.path == "/health":
            self.send(b"ok")
        else:
            self.send_error(404)

    def do_POST(self):
        if "--die-on-request" in arguments:
            os._exit(7)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "--garbage" in arguments:
            return self.send(b"<html>not json</html>")
        ids, count = request["input_ids"], request["sampling_params"]["max_new_tokens"]
        if isinstance(ids[0], list):
            return self.send([answer(one, count) for one in ids])
        return self.send(answer(ids, count))


if "--refuse" in arguments:
    raise ValueError("the stand-in refuses this combination")
subprocess.Popen([sys.executable, "-c", STUBBORN], start_new_session=True)
if "--hang" in arguments:
    time.sleep(600)
ThreadingHTTPServer(("127.0.0.1", int(option("--port"))), Handler).serve_forever()
