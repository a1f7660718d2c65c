"""Documents of the ledger service as the place of configurations and signals.

The service gives each document an unguessable name, chosen here, by which it is read and written without a token.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.base.errors import BadValue
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.transports import ConfigurationTransport, SignalTransport


def url_of(cloud: Cloud, name: str) -> str:
    """Return the URL of a document."""
    return f"{cloud.endpoint('ledger')}/documents/{name}"


class PolledDocument(ConfigurationTransport):
    """The agent polls a document with the server's metadata."""

    collector = "request"
    place: ClassVar[str] = "ledger_configuration"
    secrets = frozenset({place})

    async def prepare(self, call: Call) -> Outcome:
        if self.place not in call.data:
            call.data[self.place] = secrets.token_urlsafe(24)
            return InProgress(after=0.0)  # the name is recorded before anything is written
        await self.send(call.cloud, call.data, "", {})
        return Done()

    async def configuration(self, call: Call) -> Mapping[str, Any]:
        return {"metadata_url": url_of(call.cloud, call.data[self.place])}

    async def send(self, cloud: Cloud, data: Mapping[str, Any], project_id: str, metadata: Mapping[str, Any]) -> None:
        await cloud.put("ledger", f"/documents/{data[self.place]}", metadata)

    async def remove(self, call: Call) -> None:
        await call.cloud.delete("ledger", f"/documents/{call.data[self.place]}", ok=(404,))
        del call.data[self.place]


class WrittenDocument(SignalTransport):
    """The server writes its signal to a document."""

    handles = False
    place: ClassVar[str] = "ledger_signal"
    secrets = frozenset({place})

    async def choose(self, call: Call) -> bool:
        if self.place in call.data:
            return False
        call.data[self.place] = secrets.token_urlsafe(24)
        return True

    async def prepare_deployment(self, call: Call) -> Outcome:
        await call.cloud.put("ledger", f"/documents/{call.data[self.place]}", {})
        return Done()

    async def deployment_inputs(self, call: Call) -> Mapping[str, Any]:
        return {"signal_id": url_of(call.cloud, call.data[self.place]), "signal_verb": "PUT"}

    async def signal_of_deployment(self, call: Call) -> Mapping[str, Any] | None:
        signal = await call.cloud.get("ledger", f"/documents/{call.data[self.place]}")
        if not isinstance(signal, Mapping):
            raise BadValue("the signal is not a JSON object")
        return signal or None

    async def remove(self, call: Call) -> None:
        await call.cloud.delete("ledger", f"/documents/{call.data[self.place]}", ok=(404,))
        del call.data[self.place]


CONFIGURATION_TRANSPORTS = {"POLL_LEDGER": PolledDocument()}
SIGNAL_TRANSPORTS = {"LEDGER_SIGNAL": WrittenDocument()}
