"""The ways in which software deployments and wait condition handles are signalled."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.cloud.credentials import StackUserCredential
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import COLLECTED, Call
from stoker.plugins.transports import SignalTransport
from stoker.resources.heat.signals import signal_place
from stoker.resources.heat.signals.signal_place import OBJECT_URL, QUEUE
from stoker.resources.heat.signals.signal_url import SIGNAL, WAIT_CONDITION, orchestration_url, signed_url
from stoker.resources.heat.users.companion_user import ensure_user
from stoker.resources.heat.users.stack_user import DOMAIN, make_key_pair, user_project

_SIGNED_URL, _PLAIN_URL = "ec2_signed_url", "heat_signal_url"


class SignedUrl(SignalTransport):
    """A URL of the CloudFormation API, signed with the key pair of the resource's user."""

    async def prepare_deployment(self, call: Call) -> Outcome:
        return await ensure_user(call, with_key_pair=True)

    async def deployment_inputs(self, call: Call) -> Mapping[str, object]:
        return {"signal_id": signed_url(call, SIGNAL, since=call.now), "signal_verb": "POST"}

    async def prepare_handle(self, call: Call) -> Outcome:
        unfinished = await make_key_pair(call)
        if unfinished is not None:
            return unfinished
        call.data[_SIGNED_URL] = signed_url(call, WAIT_CONDITION, since=call.now)
        return Done()

    def sender(self, call: Call) -> Mapping[str, object] | None:
        return {"alarm_url": call.data[_SIGNED_URL]} if _SIGNED_URL in call.data else None


class SignedObject(SignalTransport):
    """An object in Swift behind a signed URL."""

    place = OBJECT_URL
    secrets = frozenset({OBJECT_URL})

    async def choose(self, call: Call) -> bool:
        return await signal_place.choose_object(call)

    async def prepare_deployment(self, call: Call) -> Outcome:
        await signal_place.empty_object(call)
        return Done()

    async def deployment_inputs(self, call: Call) -> Mapping[str, object]:
        return {"signal_id": call.data[OBJECT_URL], "signal_verb": "PUT"}

    async def signal_of_deployment(self, call: Call) -> Mapping[str, object] | None:
        return await signal_place.signal_in_object(call)

    async def prepare_handle(self, call: Call) -> Outcome:
        await signal_place.versioned_object(call)
        return Done()

    def sender(self, call: Call) -> Mapping[str, object] | None:
        return {"alarm_url": call.data[OBJECT_URL]} if OBJECT_URL in call.data else None

    async def signals_of_handle(self, call: Call) -> Mapping[str, Mapping[str, object] | None]:
        return await signal_place.signals_in_versions(call, call.data.get(COLLECTED, ()))

    async def remove(self, call: Call) -> None:
        await signal_place.remove_object(call)


class OrchestrationUrl(SignalTransport):
    """The Orchestration API, with the password of the resource's user."""

    credentials = True

    async def prepare_deployment(self, call: Call) -> Outcome:
        return await ensure_user(call, with_key_pair=False)

    async def deployment_inputs(self, call: Call) -> Mapping[str, object]:
        return _without_nulls(signal_place.sender(call))

    async def prepare_handle(self, call: Call) -> Outcome:
        call.data[_PLAIN_URL] = orchestration_url(call)
        return Done()

    def sender(self, call: Call) -> Mapping[str, object] | None:
        return {**_credentials(call), "alarm_url": call.data.get(_PLAIN_URL) or orchestration_url(call)}


class Queue(SignalTransport):
    """A queue in Zaqar, which belongs to the resource's user."""

    place = QUEUE
    as_user = True
    credentials = True

    async def choose(self, call: Call) -> bool:
        return signal_place.choose_queue(call)

    async def prepare_deployment(self, call: Call) -> Outcome:
        outcome = await ensure_user(call, with_key_pair=False)
        if isinstance(outcome, Done):
            await signal_place.empty_queue(call)
        return outcome

    async def deployment_inputs(self, call: Call) -> Mapping[str, object]:
        return {**_without_nulls(signal_place.sender(call)), "queue_id": call.data[QUEUE]}

    async def signal_of_deployment(self, call: Call) -> Mapping[str, object] | None:
        return next(iter((await signal_place.signals_in_queue(call)).values()), None)

    def sender(self, call: Call) -> Mapping[str, object] | None:
        return {**_credentials(call), "queue_id": call.data[QUEUE]} if QUEUE in call.data else None

    async def signals_of_handle(self, call: Call) -> Mapping[str, Mapping[str, object] | None]:
        return await signal_place.signals_in_queue(call)

    async def remove(self, call: Call) -> None:
        await signal_place.remove_queue(call)


class NoSignal(SignalTransport):
    """No signal is sent: nothing waits for one."""

    expected = False


class Token(SignalTransport):
    """The Orchestration API, with a token of the handle's user."""

    deployments = False

    async def prepare_handle(self, call: Call) -> Outcome:
        credential = StackUserCredential(str(call.physical_id), call.data["password"], user_project(call))
        call.data["token"] = await (await call.cloud.acting_as(credential)).token()
        call.data["endpoint"] = orchestration_url(call)
        return Done()

    def sender(self, call: Call) -> Mapping[str, object] | None:
        return None  # the attributes token and endpoint have it


def _credentials(call: Call) -> dict[str, object]:
    sender = signal_place.sender(call)
    region = sender.pop("region_name")
    return {**sender, "domain_id": call.data[DOMAIN], "region_name": region}


def _without_nulls(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


TRANSPORTS: Mapping[str, SignalTransport] = {
    "CFN_SIGNAL": SignedUrl(),
    "TEMP_URL_SIGNAL": SignedObject(),
    "HEAT_SIGNAL": OrchestrationUrl(),
    "NO_SIGNAL": NoSignal(),
    "ZAQAR_SIGNAL": Queue(),
    "TOKEN_SIGNAL": Token(),
}
