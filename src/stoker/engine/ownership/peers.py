"""What engines tell each other. Rows are the truth: a message only spares waiting until somebody looks."""

from __future__ import annotations

from typing import Protocol

from stoker.base.context import RequestContext
from stoker.base.errors import StokerError
from stoker.contract.request import Answer, Request


class PeerAway(StokerError):
    """The engine that a request was passed on to did not answer; the request may have been carried out."""


class Peers(Protocol):
    """The way to the other engines. What is only told is sent from elsewhere, and may be lost; nothing raises."""

    def offer(self, operation_id: str) -> None:
        """Tell one engine, any, that an operation waits for an owner."""

    def alert(self, engine_id: str) -> None:
        """Have an engine compare what it runs with what is recorded."""

    def finished(self, operation_id: str) -> None:
        """Tell all engines that an operation has ended."""

    async def ask(self, engine_id: str, context: RequestContext, request: Request[Answer], seconds: float) -> Answer:
        """Have another engine carry a request out; its answer. Raises PeerAway, or what the request raised."""


class NoPeers:
    """An engine that is alone on its database."""

    def offer(self, operation_id: str) -> None:
        """There is nobody to tell."""

    def alert(self, engine_id: str) -> None:
        """There is nobody to tell."""

    def finished(self, operation_id: str) -> None:
        """There is nobody to tell."""

    async def ask(self, engine_id: str, context: RequestContext, request: Request[Answer], seconds: float) -> Answer:
        """There is nobody to ask."""
        raise PeerAway(f"The engine {engine_id} cannot be reached: this one knows no way to others.")
