"""The snapshots of a stack, as the commands see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

from stoker.cli.client.refusals import Answer


class Sender(Protocol):
    """What sends requests about a stack. Raises Refused."""

    def below(self, stack: Answer, tail: str, query: Mapping[str, object] | None = None) -> Any:
        """GET something that hangs on a stack."""

    def send(
        self,
        method: str,
        stack: Answer,
        tail: str = "",
        body: Mapping[str, object] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """Change a stack or one of its subresources."""


class Snapshots:
    """The snapshots of one stack; `facts` is the response of the service about the stack."""

    def __init__(self, sender: Sender, facts: Answer) -> None:
        self._sender = sender
        self.facts = facts

    def all(self) -> list[Answer]:
        """Return all, the oldest first."""
        rows: list[Answer] = self._sender.below(self.facts, "/snapshots")["snapshots"]
        return rows

    def one(self, identifier: str) -> Answer:
        """Return one, with the document that was saved."""
        answer: Answer = self._sender.below(self.facts, f"/snapshots/{segment(identifier)}")["snapshot"]
        return answer

    def take(self, name: str | None) -> Answer:
        """Start to take one."""
        answer: Answer = self._sender.send("POST", self.facts, "/snapshots", {"name": name} if name else {})
        return answer

    def restore(self, identifier: str, digest: str | None = None, refresh: str | None = None) -> None:
        """Start to restore one; with the digest of a plan, only as the plan says. `refresh` is that of
        `Stack.preview_update`.
        """
        body = {**({"plan_digest": digest} if digest else {}), **({"refresh": refresh} if refresh else {})} or None
        self._sender.send("POST", self.facts, f"/snapshots/{segment(identifier)}/restore", body)

    def preview_restore(self, identifier: str, refresh: str) -> Answer:
        """Return the plan of `restore`, with the same `refresh`."""
        path = f"/snapshots/{segment(identifier)}/restore/preview"
        answer: Answer = self._sender.send("POST", self.facts, path, {"refresh": refresh})
        return answer

    def delete(self, identifier: str) -> None:
        """Delete one with its copies."""
        self._sender.send("DELETE", self.facts, f"/snapshots/{segment(identifier)}")


def segment(text: str) -> str:
    return quote(text, safe="")
