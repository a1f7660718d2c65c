"""OS::Nova::Server: creation, suspension, resumption, deletion and reading; for updates see `changes`."""

from __future__ import annotations

import re
from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import (
    ConditionalContent,
    ConditionallyReplaced,
    HealthReporter,
    ImplicitlyDependent,
    ReplacementPreparer,
    ReplacementReverter,
    Resumable,
    SnapshotBeforeDelete,
    Suspendable,
)
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, Graph, Node
from stoker.plugins.transports import configuration_transports, secrets_of
from stoker.resources import charges
from stoker.resources.base import Collection, RestResource, first_unowned
from stoker.resources.heat.users.companion_user import adopt_user
from stoker.resources.live_values import read_differences
from stoker.resources.neutron.base import PORTS_OF_DEVICES
from stoker.resources.neutron.conflicts import ADDRESSES, GROUPS_BESIDE_PORTS
from stoker.resources.nova.allowances import SERVER
from stoker.resources.nova.conflicts import FLAVORS_FOR_IMAGES, ROOM_ON_HOSTS, SMALLER_DISKS, ZONES
from stoker.resources.nova.server.attributes import read_attributes
from stoker.resources.nova.server.body import TAGS_AT_CREATION, has_disks_of_its_own, server_body
from stoker.resources.nova.server.changes import change_steps, replacement_reason
from stoker.resources.nova.server.image import ServerImage, make_image
from stoker.resources.nova.server.live_state import differences, disks, networks, security_groups
from stoker.resources.nova.server.ports import (
    created_port_ids,
    delete_ports,
    ensure_port,
    mark_used,
    needs_own_port,
    record_unlisted_ports,
    unused_port,
)
from stoker.resources.nova.server.replacement import hand_over, reconnect
from stoker.resources.nova.server.schema import ATTRIBUTES, PROPERTIES
from stoker.resources.nova.server.states import (
    ACTIVE,
    ADDRESSES_AT,
    ASLEEP,
    act,
    deletion_outcome,
    fault_of,
    path_of,
    read_server,
    status_of,
    wait_for,
)
from stoker.resources.nova.server.validation import problems, subnets_before
from stoker.resources.nova.software_config import dismiss, equip, is_configured
from stoker.resources.nova.user_data import boot_data
from stoker.resources.scheduler_hints import scheduler_hints
from stoker.resources.steps import Step, in_turn

NAME_LIMIT = 53
_UNHEALTHY = ("SHUTOFF", "ERROR", "DELETED", "SOFT_DELETED")
"""Statuses that a server does not leave by itself, and that are no state in which a user keeps it."""


class Server(
    RestResource,
    ImplicitlyDependent,
    HealthReporter,
    ConditionalContent,
    ReplacementPreparer,
    ConditionallyReplaced,
    ReplacementReverter,
    Resumable,
    SnapshotBeforeDelete,
    Suspendable,
):
    """A virtual machine."""

    type_name = "OS::Nova::Server"
    addresses_at = ADDRESSES_AT
    description = "A virtual machine or a bare metal machine."
    consumes = SERVER
    charges = charges.SERVER
    conflicts = (FLAVORS_FOR_IMAGES, SMALLER_DISKS, ZONES, ROOM_ON_HOSTS, ADDRESSES, GROUPS_BESIDE_PORTS)
    content = "the data on the disks of the server"
    collection = Collection(
        "nova",
        "/servers",
        "server",
        "servers",
        list_path="/servers/detail",
        created_field="created",
        owner=None,
        whole=True,
    )
    shared_lists = (collection.shared(), PORTS_OF_DEVICES)
    waits = ACTIVE
    physical_name_limit = NAME_LIMIT
    snapshot_on_delete = True
    copy = ServerImage()
    login_user: ClassVar[str | None] = None
    """The name of the default user in user data that cloud-init reads; None: the image's own."""
    unsaved = frozenset({"CREATE", "UPDATE", "ADOPT", "CHECK", "SUSPEND", "RESUME"})
    redacted_data = frozenset({"password", "access_key", "secret_key", "credential_id"})
    properties = PROPERTIES
    attributes = ATTRIBUTES
    readers = {
        "networks": networks,
        "security_groups": security_groups,
        "block_device_mapping": partial(disks, "block_device_mapping"),
        "block_device_mapping_v2": partial(disks, "block_device_mapping_v2"),
    }
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The name is searched in the project's list; if the template gives the name, image and creation time "
        "must match too. Ports created for a server have the resource's mark as their device owner until Nova "
        "binds them, and are found by it.",
        own_name_without="name",
    )

    def configure(self, options: Mapping[str, Any]) -> None:
        self.physical_name_limit = options.get("max_server_name_length", NAME_LIMIT)
        defaults = {
            "user_data_format": options.get("default_user_data_format"),
            "software_config_transport": options.get("default_software_config_transport"),
        }
        given = {name: replace(PROPERTIES[name], default=value) for name, value in defaults.items() if value}
        self.properties = {**PROPERTIES, **given}
        self.redacted_data = type(self).redacted_data | secrets_of(configuration_transports())

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        return problems(properties)

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return subnets_before(node, graph)

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        return replacement_reason(after, changed)

    def lost_content(self, properties: Mapping[str, object], changed: Several[str] | None = None) -> str:
        """A server that boots from a volume has its data there; one whose image changes in place is built again."""
        if changed is not None:
            return self.content if "image" in changed else ""
        return self.content if has_disks_of_its_own(properties) else ""

    # -- creating ---------------------------------------------------------------------------------------------

    async def find(self, call: Call) -> str | None:
        if any(needs_own_port(entry) for entry in call.properties.get("networks") or []):
            await record_unlisted_ports(call)
        name = call.properties.get("name") or call.physical_name
        pattern = (
            f"^{re.sub(r'[^A-Za-z0-9_-]', '.', name)}$"  # the syntax of regular expressions depends on Nova's database
        )
        listed = await call.cloud.list("nova", "/servers/detail", "servers", {"name": pattern})
        listed = [item for item in listed if item.get("name") == name and status_of(item) != "DELETED"]
        if name != call.physical_name:
            expected = {"image": {"id": call.properties["image"]} if call.properties.get("image") else ""}
            listed = [item for item in listed if self.made_by(call, expected, item)]
        found = await first_unowned(call, self.collection, listed)
        if found is not None:
            mark_used(call)
        return found

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            return await in_turn(call, (_until_active, _tag) if call.properties.get("tags") else (_until_active,))
        if is_configured(call) and not call.progress.get("equipped"):
            outcome = await equip(call)
            call.progress["equipped"] = isinstance(outcome, Done)
            return InProgress(after=0.0) if isinstance(outcome, Done) else outcome
        if await _make_ports(call):
            return InProgress(after=0.0)
        body: dict[str, object] = {"server": await server_body(call, await boot_data(call, self.login_user))}
        if hints := scheduler_hints(call):
            body["os:scheduler_hints"] = hints
        made = (await call.cloud.post("nova", "/servers", body))["server"]
        mark_used(call)
        return InProgress(after=ACTIVE.pause(call.elapsed), physical_id=str(made["id"]))

    # -- updating -------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        return await in_turn(call, change_steps(call))

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        return await hand_over(call)

    async def revert_replacement(self, call: Call) -> Outcome:
        return await reconnect(call)

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or status_of(shown) in ("ERROR", "DELETED", "SOFT_DELETED")

    async def suspend(self, call: Call) -> Outcome:
        return await _put(call, "suspend", "SUSPENDED")

    async def resume(self, call: Call) -> Outcome:
        return await _put(call, "resume", "ACTIVE")

    # -- deleting -------------------------------------------------------------------------------------------

    async def delete(self, call: Call) -> Outcome:
        """Delete the server first, then the ports that were created for it, so that Nova still finds them."""
        return await in_turn(call, _removal(call))

    async def snapshot_delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return await self.delete(call)
        return await in_turn(call, [make_image, *_removal(call)])

    # -- reading --------------------------------------------------------------------------------------------

    async def adopt(self, call: Call) -> Outcome:
        outcome = await super().adopt(call)
        return await adopt_user(call) if isinstance(outcome, Done) else outcome

    async def check(self, call: Call) -> Outcome:
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return Failed("the server does not exist", "NotFound")
        status, reason = status_of(shown), fault_of(shown)
        return Done() if status == "ACTIVE" else Failed(f"the server is {status}" + (f": {reason}" if reason else ""))

    async def unhealthy_reason(self, call: Call) -> str | None:
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return "the server does not exist any more"
        status, reason = status_of(shown), fault_of(shown)
        if status not in _UNHEALTHY:
            return None
        return f"the server is {status}" + (f": {reason}" if reason else "")

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return None
        found = await differences(call, shown)
        if shown["status"] != "ACTIVE":
            return found
        return {**found, **await read_differences(self, self.readers, call, shown)}

    async def read_attributes(self, call: Call, keys: Several[AttributeKey]) -> dict[AttributeKey, object]:
        return await read_attributes(call, keys)


# -- steps ----------------------------------------------------------------------------------------------------


async def _make_ports(call: Call) -> bool:
    """Create missing ports; return whether there were any, since they must be recorded before they are used."""
    entries = enumerate(call.properties.get("networks") or [])
    missing = [(at, entry) for at, entry in entries if needs_own_port(entry) and unused_port(call, at) is None]
    for index, entry in missing:
        await ensure_port(call, index, entry)
    return bool(missing)


async def _until_active(call: Call) -> Outcome:
    return await wait_for(call, ACTIVE)


async def _tag(call: Call) -> Outcome:
    """Tag a server if Nova could not create it with tags."""
    if not await call.cloud.supports("nova", TAGS_AT_CREATION):
        await call.cloud.put("nova", path_of(call, "/tags"), {"tags": call.properties["tags"]})
    return Done()


async def _put(call: Call, action: str, status: str) -> Outcome:
    """Request an action that brings the server into a status, unless it has that status."""
    if call.physical_id is None:
        return Failed(f"cannot {action} the server: it does not exist", "NotFound")
    waiter = ASLEEP if status == "SUSPENDED" else ACTIVE
    if call.progress.get("sent"):
        return await wait_for(call, waiter)
    shown = await read_server(call)
    if shown is not None and status_of(shown) == status:
        return Done()
    if shown is None or shown.get("OS-EXT-STS:task_state") not in ("suspending", "resuming"):
        await act(call, action)
    call.progress["sent"] = True
    return InProgress(after=waiter.pause(call.elapsed))


def _removal(call: Call) -> list[Step]:
    """Return the steps of the deletion; that of the ports is the last, since the list is shorter once it is done."""
    steps: list[Step] = [_delete_server]
    if is_configured(call):
        steps.append(dismiss)
    if created_port_ids(call):
        steps.append(_delete_ports)
    return steps


async def _delete_server(call: Call) -> Outcome:
    if call.physical_id is None:
        return Done()
    try:
        if not call.progress.get("sent"):
            await call.cloud.delete("nova", path_of(call))
            call.progress["sent"] = True
            return InProgress(after=ACTIVE.pause(call.elapsed))
        shown = await read_server(call)
        if shown is not None and status_of(shown) == "SOFT_DELETED" and not call.progress.get("forced"):
            await act(call, "forceDelete")
            call.progress["forced"] = True
            return InProgress(after=ACTIVE.pause(call.elapsed))
    except CloudError as error:
        if error.not_found:
            return Done()
        raise
    return InProgress(after=ACTIVE.pause(call.elapsed)) if shown is None else deletion_outcome(call, shown)


async def _delete_ports(call: Call) -> Outcome:
    await delete_ports(call)
    return Done()
