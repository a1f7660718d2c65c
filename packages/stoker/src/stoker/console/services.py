"""The processes of the service: engines, and what serves reads beside an embedded one."""

from __future__ import annotations

from stoker.console.exchange import Exchange
from stoker.console.permissions import SERVICES


def show(exchange: Exchange) -> None:
    """List the processes. Raises ApiError if policy does not allow that."""
    exchange.permissions.require(*SERVICES)
    exchange.show("services.html", services=exchange.api.get("/services")["services"])
