"""A small ledger service on a port of its own: what the example of a package with plug-ins is made for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4


class Ledger(ThreadingHTTPServer):
    """`accounts` by ID, `entries` by ID in the order in which they were made, `documents` by name."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.accounts: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.documents: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def add(self, **values: Any) -> dict[str, Any]:
        account = {"id": str(uuid4()), **values}
        self.accounts[account["id"]] = account
        return account

    def answer(self, method: str, collection: str, name: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        match method, collection, name:
            case "GET", "accounts", "":
                requested = [account for account in self.accounts.values() if query.items() <= account.items()]
                return 200, {"accounts": requested}
            case "POST", "accounts", "":
                return 201, {"account": self.add(**body["account"])}
            case "POST", "entries", "":
                self.entries.setdefault(body["entry"]["id"], body["entry"])
                return 201, body
            case "PUT", "documents", _:
                self.documents[name] = body
                return 200, None
        held = {"accounts": self.accounts, "documents": self.documents}.get(collection, {})
        if name not in held:
            return 404, {"error": {"message": f"{collection} has no {name}"}}
        if method == "DELETE":
            del held[name]
            return 204, None
        if method == "PATCH":
            held[name].update(body["account"])
        return 200, {"account": held[name]} if collection == "accounts" else held[name]


class _Handler(BaseHTTPRequestHandler):
    server: Ledger
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        place = urlsplit(self.path)
        _, _, collection, *rest = place.path.split("/")
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = {name: values[-1] for name, values in parse_qs(place.query).items()}
        public = collection == "documents"
        if not public and not self.headers.get("X-Auth-Token"):
            status, body = 401, None
        else:
            status, body = self.server.answer(
                self.command, collection, "".join(rest), query, json.loads(content) if content else None
            )
        sent = b"" if status == 204 else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815  names of the standard library

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def running_ledger() -> Iterator[Ledger]:
    """Run the service on a thread."""
    ledger = Ledger()
    thread = Thread(target=ledger.serve_forever, daemon=True)
    thread.start()
    try:
        yield ledger
    finally:
        ledger.shutdown()
        ledger.server_close()
        thread.join()
