"""Wait condition handles that are signalled through a signed URL of the CloudFormation API."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.base.errors import BadValue
from stoker.plugins.capabilities import Signalable
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, NoActionRequired, Snapshot
from stoker.resources.heat.signals.signal_url import WAIT_CONDITION, signed_url
from stoker.resources.heat.signals.wait_condition_handle import STATUSES, bounded
from stoker.resources.heat.users.stack_user import StackUserResource, make_key_pair
from stoker.schema.property import Support

_URL = "ec2_signed_url"
_KEYS = ("Status", "Data", "Reason", "UniqueId")


class SignedHandle(StackUserResource, Signalable):
    """A handle whose reference ID is the URL for signals (PUT). They are stored in the resource's metadata."""

    async def equip(self, call: Call) -> Outcome:
        unfinished = await make_key_pair(call)
        if unfinished is not None:
            return unfinished
        if _URL not in call.data:
            call.data[_URL] = signed_url(call, WAIT_CONDITION, since=call.now)
        return Done()

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get(_URL, resource.name)

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Store the signal. Raises BadValue if it is malformed, NoActionRequired if it is empty."""
        if details is None:
            raise NoActionRequired("the signal is empty")
        given = dict(details)
        if given.keys() != set(_KEYS):
            raise BadValue(
                f"A signal must have the keys {', '.join(_KEYS)}, not {', '.join(sorted(map(str, given))) or 'none'}."
            )
        if given["Status"] not in STATUSES:
            raise BadValue(f"The Status of a signal must be SUCCESS or FAILURE, not {given['Status']!r}.")
        stored = {name: given[name] for name in ("Data", "Reason", "Status")}
        call.metadata = bounded({**call.metadata, str(given["UniqueId"]): stored})
        return f"status:{given['Status']} reason:{given['Reason']}"


class UpdateWaitConditionHandle(SignedHandle):
    """OS::Heat::UpdateWaitConditionHandle, which is replaced at every update of its stack."""

    type_name = "OS::Heat::UpdateWaitConditionHandle"
    description = "Receives the signals of a wait condition; a new handle is created at every update of the stack."
    support = Support(version="2014.1")
    replaced_with_parent = True
