"""Receives deliveries and checks their signatures: receive_webhook.py PORT, with PILLARBOX_WEBHOOK_SECRET (whsec_…).

It listens on this machine alone: put a server that speaks https before it.
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pillarbox import WebhookError, verify_webhook

#: Ids that came before. Keep yours in a database: deliveries come at least once, for days.
seen: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 64 * 1024))
        try:
            event = verify_webhook(body, dict(self.headers), os.environ["PILLARBOX_WEBHOOK_SECRET"])
        except WebhookError as error:
            print(f"refused: {error}", flush=True)
            return self.answer(400)
        # Answer first, work afterwards: ten seconds are the limit.
        self.answer(204)
        if event["id"] not in seen:
            seen.add(event["id"])
            print(event["id"], event["campaign"]["id"], event["recipient"]["first_name"], event["destination"], flush=True)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
