"""OS::Heat::WaitConditionHandle"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from stoker.base.errors import BadValue
from stoker.base.json_text import dumps
from stoker.plugins.capabilities import ExternallySignalled, Signalable
from stoker.plugins.outcome import InProgress, Outcome
from stoker.plugins.resource import COLLECTED, AttributeKey, Call
from stoker.plugins.transports import (
    handle_transports,
    remove_signals,
    secrets_of,
    signal_transport,
    signal_transports,
    used,
)
from stoker.resources.base import value_at
from stoker.resources.declare import offered
from stoker.resources.heat.signals.signal_place import MOST_TOGETHER
from stoker.resources.heat.users.stack_user import StackUserResource, record_domain
from stoker.schema.property import Attribute, Property, Support, Type

STATUSES = ("SUCCESS", "FAILURE")
TRANSPORT = "signal_transport"
"""The key of `Call.data` from which a wait condition reads how the handle is signalled."""

_KEYS = frozenset({"status", "data", "reason", "id"})


class WaitConditionHandle(StackUserResource, Signalable, ExternallySignalled):
    """Receives the signals of a wait condition, and stores them in the resource's metadata."""

    type_name = "OS::Heat::WaitConditionHandle"
    description = "Receives the signals of a wait condition."
    support = Support(version="2014.2")

    properties = {
        "signal_transport": Property(
            description="How signals are sent.",
            default="TOKEN_SIGNAL",
            constraints=offered(handle_transports),
            support=Support(version="6.0.0"),
        ),
    }
    attributes = {
        "token": Attribute("A token to send signals with; for TOKEN_SIGNAL.", Type.STRING, live=True),
        "endpoint": Attribute("The URL to send signals to; for TOKEN_SIGNAL.", Type.STRING, live=True),
        "curl_cli": Attribute("The beginning of a curl command that sends a signal.", Type.STRING, live=True),
        "signal": Attribute(
            "Address and credentials for sending signals with the chosen transport, as JSON.", Type.STRING, live=True
        ),
    }

    def configure(self, options: Mapping[str, object]) -> None:
        self.redacted_data = type(self).redacted_data | secrets_of(signal_transports())

    # -- creating ---------------------------------------------------------------------------------------------

    async def adopt(self, call: Call) -> Outcome:
        for transport in used(signal_transports(), call.data):
            del call.data[str(transport.place)]
        call.data.pop(COLLECTED, None)
        return await super().adopt(call)

    async def equip(self, call: Call) -> Outcome:
        call.data[TRANSPORT] = call.properties["signal_transport"]
        transport = signal_transport(call.data[TRANSPORT])
        if await transport.choose(call):
            return InProgress(after=0.0)
        return await transport.prepare_handle(call)

    async def delete(self, call: Call) -> Outcome:
        if any(transport.as_user for transport in used(signal_transports(), call.data)):
            await self.resume(call)  # a suspended user cannot delete what belongs to it
        await remove_signals(call)
        return await super().delete(call)

    # -- reading --------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values = {
            "token": call.data.get("token"),
            "endpoint": call.data.get("endpoint"),
            "curl_cli": _curl(call),
        }
        if any(key[0] == "signal" for key in keys):
            values["signal"] = json.dumps(await _payload(call))
        return {key: value_at(values.get(str(key[0])), key[1:]) for key in keys}

    # -- signals ---------------------------------------------------------------------------------------------

    async def stored_signals(self, call: Call) -> Mapping[str, Mapping[str, object] | None]:
        for transport in used(signal_transports(), call.data):
            return dict(await transport.signals_of_handle(call))
        return {}

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        return store_signal(call, details)


def store_signal(call: Call, details: Mapping[str, object] | None) -> str:
    """Store a signal in the resource's metadata; return its event's reason. Raises BadValue if it is malformed."""
    given = dict(details or {})
    unknown = sorted(given.keys() - _KEYS)
    if unknown:
        raise BadValue(f"A signal has no key {unknown[0]!r}; its keys are {', '.join(sorted(_KEYS))}.")
    number = len(call.metadata) + 1
    status = given.get("status", "SUCCESS")
    if status not in STATUSES:
        raise BadValue(f"The status of a signal must be SUCCESS or FAILURE, not {status!r}.")
    identifier = str(given.get("id", number))
    reason = given.get("reason", f"Signal {identifier} received")
    stored = {"data": given.get("data"), "reason": reason, "status": status}
    call.metadata = bounded({**call.metadata, identifier: stored})
    return f"status:{status} reason:{reason}"


def bounded(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata of a handle with its signals. Raises BadValue if they are too large together.

    They are read with each signal, and each time that the condition looks at them.
    """
    if len(dumps(metadata)) > MOST_TOGETHER:
        raise BadValue(f"The signals of a handle may have {MOST_TOGETHER} bytes together.")
    return metadata


def _curl(call: Call) -> str | None:
    if "token" not in call.data:
        return None
    insecure = "--insecure " if call.stack.options.get("clients_heat_insecure") else ""
    return (
        f"curl {insecure}-i -X POST -H 'X-Auth-Token: {call.data['token']}' -H 'Content-Type: application/json' "
        f"-H 'Accept: application/json' {call.data['endpoint']}"
    )


async def _payload(call: Call) -> Mapping[str, object] | None:
    """Return what the sender of a signal needs; None while the handle is still being created."""
    transport = signal_transports().get(call.data.get(TRANSPORT, ""))
    if transport is None:
        return None
    if transport.credentials:
        await record_domain(call)
    return transport.sender(call)
