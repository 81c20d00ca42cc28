"""A proxy before the gateway that does to answers what networks and load balancers do: proxy.py UPSTREAM

It prints its own URL. POST /_faults takes a list of faults, one for each of the next requests; requests after them pass. GET /_seen
lists the requests since then. A fault has one of these:

- pass: the request goes through
- answer: this status, without reaching the gateway; with retry_after, code and details; html for a page instead of JSON, long for a
  body that is longer than any of the service's
- cut: the connection ends before the gateway is asked, after it has answered, or within its answer
- forward_then: the gateway does it, but the answer is this status, with the gateway's X-Request-Id
- patch: the gateway's answer with these additions
"""

import http.client
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

# What a request of the contract has at most, and some.
LONGEST_BODY = 8 * 1024 * 1024
LONG_ANSWER = b"x" * (9 * 1024 * 1024)
CODES = {408: "request_timeout", 429: "rate_limited", 500: "internal_error", 502: "bad_gateway", 503: "unavailable", 504: "timeout"}
#: Of a request that nobody made.
STRANGE_ID = "00000000-0000-7000-8000-0000000000ff"


class State:
    """What is to come, and what came."""

    def __init__(self, upstream):
        self.upstream = urlsplit(upstream)
        self.lock = threading.Lock()
        self.faults, self.seen = [], []

    def next_fault(self, request):
        with self.lock:
            self.seen.append(request)
            return self.faults.pop(0) if self.faults else {"pass": True}


def merge(value, patch):
    """The value with additions; numbers name elements of lists."""
    if isinstance(patch, dict) and isinstance(value, list):
        return [merge(item, patch[str(at)]) if str(at) in patch else item for at, item in enumerate(value)]
    if isinstance(patch, dict) and isinstance(value, dict):
        return {**value, **{name: merge(value.get(name), inner) for name, inner in patch.items()}}
    return patch


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *_):
        pass

    def handle_request(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(min(length, LONGEST_BODY))
        if self.path == "/_faults":
            with self.state.lock:
                self.state.faults, self.state.seen = json.loads(body), []
            return self.reply(200, {}, b"{}")
        if self.path == "/_seen":
            with self.state.lock:
                seen = json.dumps(self.state.seen).encode()
            return self.reply(200, {}, seen)
        key = self.headers.get("idempotency-key")
        request = {"method": self.command, "path": self.path, "key": key, "body": body.decode()}
        self.carry_out(self.state.next_fault(request), body)

    do_GET = do_POST = do_PATCH = do_HEAD = handle_request

    def carry_out(self, fault, body):
        if "answer" in fault:
            return self.answer(fault["answer"], fault, STRANGE_ID)
        if fault.get("cut") == "before":
            return self.cut()
        status, headers, answer = self.forward(body)
        if fault.get("cut") == "after":
            return self.cut()
        if fault.get("cut") == "within":
            self.send_head(status, headers, len(answer))
            self.wfile.write(answer[: len(answer) // 2])
            return self.cut()
        if "forward_then" in fault:
            return self.answer(fault["forward_then"], fault, headers.get("x-request-id"))
        if "patch" in fault:
            answer = json.dumps(merge(json.loads(answer), fault["patch"])).encode()
        self.reply(status, headers, answer)

    def forward(self, body):
        upstream = http.client.HTTPConnection(self.state.upstream.hostname, self.state.upstream.port, timeout=60)
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        upstream.request(self.command, self.path, body or None, kept)
        answer = upstream.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        for name in ("content-length", "transfer-encoding", "connection"):
            told.pop(name, None)
        whole = answer.read()
        upstream.close()
        return answer.status, told, whole

    def answer(self, status, fault, request_id):
        headers = {"content-type": "application/json"}
        if request_id and not fault.get("html"):
            headers["x-request-id"] = request_id
        if "retry_after" in fault:
            headers["retry-after"] = str(fault["retry_after"])
        error = {"code": fault.get("code", CODES.get(status, "unknown")), "message": "By the proxy."}
        if "details" in fault:
            error["details"] = fault["details"]
        body = {"error": error} if self.path.startswith("/api/integrations/") else error
        if fault.get("html"):
            return self.reply(status, headers, b"<html>Bad Gateway</html>")
        self.reply(status, headers, LONG_ANSWER if fault.get("long") else json.dumps(body).encode())

    def send_head(self, status, headers, length):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(length))
        self.end_headers()

    def reply(self, status, headers, body):
        self.send_head(status, headers, len(body))
        try:
            if self.command != "HEAD":
                self.wfile.write(body)
        except OSError:
            # Whoever asked has seen enough of it.
            self.close_connection = True

    def cut(self):
        self.wfile.flush()
        self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that go away are what this is for."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    Handler.state = State(sys.argv[1])
    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
