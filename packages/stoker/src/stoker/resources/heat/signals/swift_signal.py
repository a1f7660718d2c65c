"""OS::Heat::SwiftSignalHandle and OS::Heat::SwiftSignal: a wait condition whose signals are versions of an object."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.plugins.capabilities import ExternallySignalled, Signalable
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import COLLECTED, AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.base import value_at
from stoker.resources.declare import between
from stoker.resources.heat.signals import signal_place
from stoker.resources.heat.signals.signal_place import OBJECT_URL
from stoker.resources.heat.signals.wait_condition import BaseWaitCondition
from stoker.resources.heat.signals.wait_condition_handle import TRANSPORT, store_signal
from stoker.resources.swift.allowances import one_object
from stoker.schema.property import Attribute, Property, Support, Type

HANDLE = "OS::Heat::SwiftSignalHandle"
_SINCE = Support(version="2014.2")


class SwiftSignalHandle(ResourceType, Signalable, ExternallySignalled):
    """A signed URL of an object whose versions are the signals."""

    type_name = HANDLE
    description = "Receives the signals of an OS::Heat::SwiftSignal as versions of an object."
    service = "swift"
    support = _SINCE
    consumes = one_object(len(signal_place.NOTHING_YET))
    redacted_data = frozenset({OBJECT_URL})
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        "The object has the physical name, and its URL is recorded before it is created.",
    )

    attributes = {
        "token": Attribute("Empty: the URL contains its own signature.", Type.STRING, live=True),
        "endpoint": Attribute("The URL to send signals to.", Type.STRING, live=True),
        "curl_cli": Attribute("The beginning of a curl command that sends a signal.", Type.STRING, live=True),
    }

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get(OBJECT_URL) if resource.physical_id is not None else resource.name

    async def create(self, call: Call) -> Outcome:
        call.data[TRANSPORT] = "TEMP_URL_SIGNAL"
        if await signal_place.choose_object(call):
            return InProgress(after=0.0)
        await signal_place.versioned_object(call)
        return Done(physical_id=call.physical_name)

    async def delete(self, call: Call) -> Outcome:
        if OBJECT_URL in call.data:
            await signal_place.remove_object(call)
        return Done()

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        url = call.data.get(OBJECT_URL)
        values = {"token": "", "endpoint": url, "curl_cli": None if url is None else f"curl -i -X PUT '{url}'"}
        return {key: value_at(values, key) for key in keys}

    async def stored_signals(self, call: Call) -> Mapping[str, Mapping[str, object] | None]:
        return await signal_place.signals_in_versions(call, call.data.get(COLLECTED, ()))

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        return store_signal(call, details)


class SwiftSignal(BaseWaitCondition):
    """Waits for the signals of its handle."""

    type_name = "OS::Heat::SwiftSignal"
    description = "Waits for signals that report success, sent to an OS::Heat::SwiftSignalHandle."
    service = "swift"
    support = _SINCE
    handles = frozenset({HANDLE})
    failures = "SwiftSignal"

    properties = {
        "handle": Property(description="The handle that receives the signals.", required=True),
        "timeout": Property(
            Type.NUMBER, "Maximum time to wait, in seconds.", required=True, constraints=between(1, 43200)
        ),
        "count": Property(Type.INTEGER, "Number of signals to wait for.", default=1, constraints=between(1, 1000)),
    }
    attributes = {"data": Attribute("The data of the signals by signal ID, as JSON.", Type.STRING)}

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values = await super().read_attributes(call, keys)
        return {key: "null" if value == "{}" else value for key, value in values.items()}
