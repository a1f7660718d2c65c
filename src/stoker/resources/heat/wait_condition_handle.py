"""OS::Heat::WaitConditionHandle"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.errors import BadValue
from stoker.cloud.credentials import StackUserCredential
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import COLLECTED, AttributeKey, Call
from stoker.resources.base import dig
from stoker.resources.declare import one_of
from stoker.resources.heat.signal_place import (
    OBJECT_URL,
    QUEUE,
    choose,
    remove_places,
    sender,
    signals_in_queue,
    signals_in_versions,
    versioned_object,
)
from stoker.resources.heat.signal_url import WAIT_CONDITION, orchestration_url, signed_url
from stoker.resources.heat.stack_user import DOMAIN, StackUserResource, make_key_pair, user_project
from stoker.schema.property import Attribute, Property, Support, Type

STATUSES = ("SUCCESS", "FAILURE")
TRANSPORT = "signal_transport"
"""The key of `Call.data` from which a wait condition reads how the handle is signalled."""

COLLECTED_FROM = frozenset({"TEMP_URL_SIGNAL", "ZAQAR_SIGNAL"})
"""The transports whose signals stay in another service until they are collected."""

_KEYS = frozenset({"status", "data", "reason", "id"})


class WaitConditionHandle(StackUserResource):
    """Receives the signals of a wait condition, and stores them in the resource's metadata."""

    type_name = "OS::Heat::WaitConditionHandle"
    description = "Receives the signals of a wait condition."
    support = Support(version="2014.2")

    redacted_data = StackUserResource.redacted_data | {OBJECT_URL}

    properties = {
        "signal_transport": Property(
            description="How signals are sent.",
            default="TOKEN_SIGNAL",
            constraints=one_of(
                "CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL", "ZAQAR_SIGNAL", "TOKEN_SIGNAL"
            ),
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

    # -- creating ---------------------------------------------------------------------------------------------

    async def adopt(self, call: Call) -> Outcome:
        for key in (OBJECT_URL, QUEUE, COLLECTED):
            call.data.pop(key, None)
        return await super().adopt(call)

    async def equip(self, call: Call) -> Outcome:
        transport = call.properties["signal_transport"]
        call.data[TRANSPORT] = transport
        if await choose(call, transport):
            return Again(after=0.0)
        match transport:
            case "CFN_SIGNAL":
                unfinished = await make_key_pair(call)
                if unfinished is not None:
                    return unfinished
                call.data["ec2_signed_url"] = signed_url(call, WAIT_CONDITION, since=call.now)
            case "HEAT_SIGNAL":
                call.data["heat_signal_url"] = orchestration_url(call)
            case "TOKEN_SIGNAL":
                call.data["token"] = await _token(call)
                call.data["endpoint"] = orchestration_url(call)
            case "TEMP_URL_SIGNAL":
                await versioned_object(call)
        return Done()

    async def delete(self, call: Call) -> Outcome:
        if QUEUE in call.data:
            await self.resume(call)  # a suspended user cannot delete its queue
        await remove_places(call)
        return await super().delete(call)

    # -- reading --------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        values = {
            "token": call.data.get("token"),
            "endpoint": call.data.get("endpoint"),
            "curl_cli": _curl(call),
            "signal": json.dumps(_payload(call)),
        }
        return {key: dig(values.get(str(key[0])), key[1:]) for key in keys}

    # -- signals ---------------------------------------------------------------------------------------------

    async def kept_signals(self, call: Call) -> Mapping[str, Mapping[str, Any] | None]:
        if OBJECT_URL in call.data:
            return await signals_in_versions(call, call.data.get(COLLECTED, ()))
        return await signals_in_queue(call) if QUEUE in call.data else {}

    async def signal(self, call: Call, details: Mapping[str, Any] | None) -> str:
        """Store the signal. Raises BadValue if it is malformed."""
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
        call.metadata = {**call.metadata, identifier: stored}
        return f"status:{status} reason:{reason}"


async def _token(call: Call) -> str:
    """Return a token of the resource's user."""
    credential = StackUserCredential(str(call.physical_id), call.data["password"], user_project(call))
    return await (await call.cloud.acting_as(credential)).token()


def _curl(call: Call) -> str | None:
    if "token" not in call.data:
        return None
    insecure = "--insecure " if call.stack.options.get("clients_heat_insecure") else ""
    return (
        f"curl {insecure}-i -X POST -H 'X-Auth-Token: {call.data['token']}' -H 'Content-Type: application/json' "
        f"-H 'Accept: application/json' {call.data['endpoint']}"
    )


def _payload(call: Call) -> dict[str, Any] | None:
    """Return what the sender of a signal needs; None while the handle is still being created."""
    transport, data = call.data.get(TRANSPORT), call.data
    if transport == "NO_SIGNAL":
        return {}
    if transport not in _SENDER_FIELDS or _SENDER_FIELDS[transport].key not in data:
        return None
    field = _SENDER_FIELDS[transport]
    credentials = {**sender(call), "domain_id": data[DOMAIN]} if field.as_user else {}
    return {field.name: data[field.key], **credentials}


@dataclass(frozen=True, slots=True)
class _SenderField:
    """The key of `Call.data` for where signals go, its name for senders, and whether they must be the handle's user."""

    key: str
    name: str
    as_user: bool = False


_SENDER_FIELDS = {
    "CFN_SIGNAL": _SenderField("ec2_signed_url", "alarm_url"),
    "TEMP_URL_SIGNAL": _SenderField(OBJECT_URL, "alarm_url"),
    "HEAT_SIGNAL": _SenderField("heat_signal_url", "alarm_url", as_user=True),
    "ZAQAR_SIGNAL": _SenderField(QUEUE, "queue_id", as_user=True),
}
