"""OS::Heat::WaitConditionHandle"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base.errors import BadValue
from stoker.cloud.credentials import PluginCredential
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call
from stoker.resources.base import dig
from stoker.resources.declare import one_of
from stoker.resources.heat.signal_url import WAIT_CONDITION, orchestration_url, signed_url
from stoker.resources.heat.stack_user import DOMAIN, StackUserResource, make_key_pair, user_project
from stoker.schema.property import Attribute, Property, Support, Type

STATUSES = ("SUCCESS", "FAILURE")
TRANSPORT = "signal_transport"
"""The key of `Call.data` that tells a wait condition how the handle is signalled."""

_KEYS = frozenset({"status", "data", "reason", "id"})
_UNSUPPORTED = {"TEMP_URL_SIGNAL": "object store", "ZAQAR_SIGNAL": "messaging service"}


class WaitConditionHandle(StackUserResource):
    """Where signals arrive that a wait condition waits for. The signals are kept in the resource's metadata."""

    type_name = "OS::Heat::WaitConditionHandle"
    description = "Where signals arrive that a wait condition waits for."
    support = Support(version="2014.2")

    properties = {
        "signal_transport": Property(
            description="How a signal is sent.",
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
        "signal": Attribute("What a sender needs to know for the chosen transport, as JSON.", Type.STRING, live=True),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        service = _UNSUPPORTED.get(str(properties["signal_transport"]))
        if service is not None:
            transport = properties["signal_transport"]
            yield (
                f"signal_transport: {transport}, by way of the {service}, is not supported; "
                "use TOKEN_SIGNAL, HEAT_SIGNAL or CFN_SIGNAL"
            )

    # -- making -----------------------------------------------------------------------------------------------

    async def equip(self, call: Call) -> Outcome:
        transport = call.properties["signal_transport"]
        call.data[TRANSPORT] = transport
        if transport == "CFN_SIGNAL":
            unfinished = await make_key_pair(call)
            if unfinished is not None:
                return unfinished
            call.data["ec2_signed_url"] = signed_url(call, WAIT_CONDITION, since=call.now)
        elif transport == "HEAT_SIGNAL":
            call.data["heat_signal_url"] = orchestration_url(call)
        elif transport == "TOKEN_SIGNAL":
            call.data["token"] = await _token(call)
            call.data["endpoint"] = orchestration_url(call)
        return Done()

    # -- looking ----------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        values = {
            "token": call.data.get("token"),
            "endpoint": call.data.get("endpoint"),
            "curl_cli": _curl(call),
            "signal": json.dumps(_payload(call)),
        }
        return {key: dig(values.get(str(key[0])), key[1:]) for key in keys}

    # -- being spoken to --------------------------------------------------------------------------------------

    async def signal(self, call: Call, details: Mapping[str, Any] | None) -> str:
        """Keep the signal. Raises BadValue for what is none."""
        given = dict(details or {})
        unknown = sorted(given.keys() - _KEYS)
        if unknown:
            raise BadValue(f"A signal has no {unknown[0]!r}; it may have {', '.join(sorted(_KEYS))}.")
        number = len(call.metadata) + 1
        status = given.get("status", "SUCCESS")
        if status not in STATUSES:
            raise BadValue(f"The status of a signal is SUCCESS or FAILURE, not {status!r}.")
        identifier = str(given.get("id", number))
        reason = given.get("reason", f"Signal {identifier} received")
        stored = {"data": given.get("data"), "reason": reason, "status": status}
        call.metadata = {**call.metadata, identifier: stored}
        return f"status:{status} reason:{reason}"


async def _token(call: Call) -> str:
    """A token of the resource's user."""
    credential = PluginCredential.of(
        "v3password",
        {
            "auth_url": call.cloud.auth_url,
            "user_id": call.physical_id,
            "password": call.data["password"],
            "project_id": user_project(call),
        },
    )
    return await (await call.cloud.acting_as(credential)).token()


def _curl(call: Call) -> str | None:
    if "token" not in call.data:
        return None
    insecure = "--insecure " if call.stack.options.get("clients_heat_insecure") else ""
    return (
        f"curl {insecure}-i -X POST -H 'X-Auth-Token: {call.data['token']}' -H 'Content-Type: application/json' "
        f"-H 'Accept: application/json' {call.data['endpoint']}"
    )


_URLS = {"CFN_SIGNAL": "ec2_signed_url", "HEAT_SIGNAL": "heat_signal_url"}
"""The keys of `Call.data` under which the URLs of transports are kept."""


def _payload(call: Call) -> dict[str, Any] | None:
    """What the sender of a signal needs to know; None while the handle is still being made."""
    transport, data = call.data.get(TRANSPORT), call.data
    if transport in _URLS and _URLS[transport] not in data:
        return None
    if transport == "CFN_SIGNAL":
        return {"alarm_url": data["ec2_signed_url"]}
    if transport == "HEAT_SIGNAL":
        return {
            "alarm_url": data["heat_signal_url"],
            "auth_url": call.cloud.server_auth_url,
            "username": call.physical_name,
            "user_id": data["user_id"],
            "password": data["password"],
            "project_id": user_project(call),
            "domain_id": data[DOMAIN],
            "region_name": call.stack.region or call.cloud.region,
        }
    return {} if transport == "NO_SIGNAL" else None
