"""Messages between engines. The database is authoritative: messages only avoid waiting for the next heartbeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stoker.base.context import RequestContext
from stoker.base.errors import StokerError
from stoker.contract.request import Answer, Request
from stoker.engine.records.services import EngineServices
from stoker.store import claims


class PeerUnavailable(StokerError):
    """The engine to which a request was forwarded did not answer; the request may have been executed."""


class Peers(Protocol):
    """Sends messages to other engines. They are sent in the background and can be lost; no errors are raised."""

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        """Notify an engine, any if it is None, that an operation needs an owner, and maybe others, too."""

    def alert(self, engine_id: str) -> None:
        """Make an engine compare its operations with the record."""

    def finished(self, operation_id: str, engine_id: str) -> None:
        """Notify an engine, which waits for an operation, that it has finished."""

    async def forward(
        self, engine_id: str, context: RequestContext, request: Request[Answer], seconds: float
    ) -> Answer:
        """Forward a request to another engine; return the answer. Raises PeerUnavailable, or the request's error."""


class NoPeers:
    """Used by an engine that is alone on its database."""

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        """Do nothing."""

    def alert(self, engine_id: str) -> None:
        """Do nothing."""

    def finished(self, operation_id: str, engine_id: str) -> None:
        """Do nothing."""

    async def forward(
        self, engine_id: str, context: RequestContext, request: Request[Answer], seconds: float
    ) -> Answer:
        """Raise PeerUnavailable."""
        raise PeerUnavailable(f"The engine {engine_id} cannot be reached: this one knows no way to others.")


@dataclass
class OtherEngines:
    """The other engines on the database; `alive` is true if there were any at the last heartbeat.

    `nearest` are their IDs, those on the same host first. `is_first` is whether this engine does what one engine of a
    cluster does for all.
    """

    peers: Peers
    services: EngineServices
    alive: bool = False
    nearest: list[str] = field(default_factory=list)
    is_first: bool = True

    def update_hosts(self, hosts: Mapping[str, str]) -> None:
        """Note which engines are alive, this one among them, on which hosts."""
        others = [engine_id for engine_id in hosts if engine_id != self.services.id]
        self.alive = bool(others)
        self.is_first = self.services.id == min(hosts, default=self.services.id)
        self.nearest = sorted(others, key=lambda engine_id: hosts[engine_id] != self.services.settings.host)

    def finished(self, operation_id: str, parent: str) -> None:
        """Notify the engine that runs the operation of the parent stack, which may wait for this one, of its end."""
        if self.alive:
            self.services.background.spawn(self._notify(operation_id, parent))

    async def _notify(self, operation_id: str, parent: str) -> None:
        """Notify the engine of the parent's operation, and none else: in a large cluster, there are many others."""
        engine_id = await self.services.database.read(claims.runner_of, parent)
        if engine_id is not None and engine_id != self.services.id:
            self.peers.finished(operation_id, engine_id)
