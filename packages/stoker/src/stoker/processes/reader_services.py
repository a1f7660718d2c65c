"""The processes that serve reads beside an embedded engine, in the list of services and at `/readyz`."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any, cast

from stoker.base.context import RequestContext
from stoker.contract.catalog import EngineView, ListEngines
from stoker.contract.request import Answer, Request
from stoker.processes.readers import Readers, ReaderState

_BINARY = "stoker-reader"


class ServicesWithReaders:
    """An `EngineClient` whose list of engines has the readers of this process, too; `now` is in seconds since 1970."""

    def __init__(self, readers: Readers, now: Callable[[], float]) -> None:
        self._readers = readers
        self._now = now

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        """See `EngineClient.call`."""
        answer = self._readers.call(context, request, timeout)
        if not isinstance(request, ListEngines):
            return answer
        engines = cast(Sequence[EngineView], answer)
        return cast(Answer, [*engines, *self._views(engines)])

    def readiness(self) -> dict[str, Any]:
        """Return what `/readyz` shows of the readers."""
        return {"readers": self._readers.status().to_dict()}

    def _views(self, engines: Sequence[EngineView]) -> list[EngineView]:
        now, host = self._now(), socket.gethostname()
        interval = engines[0]["report_interval"] if engines else 0
        return [
            {
                "id": f"{host}-{each.pid}",
                "host": host,
                "hostname": host,
                "binary": _BINARY,
                "topic": "engine",
                "engine_id": f"{host}-{each.pid}",
                "status": "up" if each.state is ReaderState.RUNNING else "down",
                "created_at": now - each.age,
                "updated_at": now,
                "deleted_at": None,
                "report_interval": interval,
            }
            for each in self._readers.status().processes
        ]
