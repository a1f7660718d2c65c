"""OS::Manila::Share"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, Waiter
from stoker.resources import charges
from stoker.resources.base import Collection, RestResource, found_well
from stoker.resources.declare import one_of
from stoker.resources.manila.allowances import SHARE
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import FETCHED, LISTED
from stoker.schema.property import Attribute, Change, Property, Support, Type

_DENIED = "denied"
"""In `call.progress`: IDs of the access rules whose removal has been requested."""
_DEFAULT_LEVEL = "rw"
_IN_EFFECT, _BROKEN = "active", "error"
"""States of access rules."""
_RENAMED = {"name": "display_name", "description": "display_description"}
"""Fields of updates that have other names than those of creations."""

_RULE = {
    "access_to": Property(description="Who gets access: an address or CIDR, a user, or a name.", required=True),
    "access_type": Property(
        description="What access_to is.", required=True, constraints=one_of("ip", "user", "cert", "cephx")
    ),
    "access_level": Property(
        description="Whether the access is read-only (ro) or not (rw, the default).", constraints=one_of("ro", "rw")
    ),
}


async def _protocol(kind: Share, call: Call, shown: Mapping[str, object]) -> str:
    """Return the protocol, which Manila shows in capital letters, as the template writes it."""
    given, live = str(call.properties["share_protocol"]), str(shown["share_proto"])
    return given if given.upper() == live else live


class Share(RestResource):
    """A shared file system."""

    type_name = "OS::Manila::Share"
    description = "A shared file system, and who may mount it."
    content = "the files on the share"
    consumes = SHARE
    charges = charges.SHARE
    collection = Collection("manila", "/shares", "share", "shares", list_path="/shares/detail", owner=None)
    support = Support(version="5.0.0")
    waits = Waiter.until("available", pending=("creating", "creating_from_snapshot"), failed=("error",))
    deleting = Waiter.until(pending=("deleting",), failed=("error", "error_deleting"))
    computed = frozenset({"export_locations"})
    readers = {"share_protocol": _protocol}

    properties = {
        "share_protocol": Property(
            description="Protocol by which the share is mounted.",
            required=True,
            constraints=one_of("NFS", "CIFS", "GlusterFS", "HDFS", "CEPHFS"),
            wire="share_proto",
            live=LISTED,
        ),
        "size": Property(Type.INTEGER, "Size in GiB.", required=True),
        "snapshot": Property(
            description="Snapshot to create the share from, by name or ID.",
            wire="snapshot_id",
            reference="manila.share_snapshot",
        ),
        "name": Property(description="Name of the share.", change=Change.UPDATE),
        "metadata": Property(
            Type.MAP, "Metadata of the share, as keys and values.", change=Change.UPDATE, wire=NOT_SENT, live=LISTED
        ),
        "share_network": Property(
            description="Share network of the share, by name or ID.",
            wire="share_network_id",
            reference="manila.share_network",
        ),
        "description": Property(description="Description of the share.", change=Change.UPDATE),
        "share_type": Property(
            description="Type of the share, by name or ID; by default that of the cloud.",
            reference="manila.share_type",
        ),
        "is_public": Property(
            Type.BOOLEAN,
            "Whether other projects see the share; by default only administrators may do that.",
            default=False,
            change=Change.UPDATE,
        ),
        "access_rules": Property(
            Type.LIST,
            "Who may mount the share.",
            default=[],
            items=Property(Type.MAP, "An access rule.", schema=_RULE),
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=FETCHED,
        ),
    }
    attributes = {
        "availability_zone": Attribute("Availability zone of the share.", Type.STRING),
        "host": Attribute("Host of the share; shown to administrators.", Type.STRING),
        "export_locations": Attribute("Paths by which the share is mounted.", Type.LIST),
        "share_server_id": Attribute("ID of the share server; shown to administrators.", Type.STRING),
        "created_at": Attribute("Time of the share's creation.", Type.STRING),
        "status": Attribute("Status of the share.", Type.STRING),
        "project_id": Attribute("The project that owns the share.", Type.STRING),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        body["share_proto"] = str(body["share_proto"]).upper()
        metadata = _metadata(call)
        return {**body, "metadata": metadata} if metadata else body

    async def create(self, call: Call) -> Outcome:
        """Create the share, wait until it is available, and then grant access."""
        outcome = await super().create(call)
        if not isinstance(outcome, Done) or not call.properties["access_rules"]:
            return outcome
        if call.physical_id is None:
            return InProgress(after=0.0, physical_id=outcome.physical_id)
        return await self._granted(call)

    async def update_body(self, call: Call) -> dict[str, object]:
        body = await super().update_body(call)
        return {_RENAMED.get(name, name): value for name, value in body.items()}

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        """Wait for the creation; Manila makes updates at once."""
        return Done() if shown is not None and call.action == "UPDATE" else super().status_outcome(call, shown)

    async def change_extras(self, call: Call) -> None:
        if "metadata" in call.changed:
            await call.cloud.put("manila", f"{self.member_path(call)}/metadata", {"metadata": _metadata(call)})

    async def update(self, call: Call) -> Outcome:
        outcome = await super().update(call)
        if not isinstance(outcome, Done) or "access_rules" not in call.changed:
            return outcome
        return await self._granted(call)

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Replace a share in error; one whose access rules failed keeps its content."""
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown.get("status") != "available"

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, shown)
        call.report.compared.add("metadata")
        if call.properties.get("metadata") is not None and shown["metadata"] != _metadata(call):
            found["metadata"] = shown["metadata"]
        return found

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        found = await super().observe(call)
        if found is None:
            return None
        try:
            rules = await self._rules(call)
        except CloudError as error:
            call.report.unread["access_rules"] = error.message
            return found
        call.report.compared.add("access_rules")
        held = {_shown(rule) for rule in rules}
        if held == _declared_rules(call):
            return found
        given = [rule for rule in call.properties["access_rules"] if _shown(rule) in held]
        return {**found, "access_rules": [*given, *(rule._asdict() for rule in sorted(held - _declared_rules(call)))]}

    async def computed_attribute(self, call: Call, name: str) -> object:
        listed = await call.cloud.get("manila", f"{self.member_path(call)}/export_locations", ok=(404,))
        return [location["path"] for location in listed.get("export_locations", ())]

    # -- access rules -----------------------------------------------------------------------------------------

    async def _granted(self, call: Call) -> Outcome:
        """Make the share's access rules the declared ones, and wait until they are in effect.

        Manila has one rule for each access_to: another level can be granted once the old rule has been removed.
        """
        declared, denied = _declared_rules(call), call.progress.setdefault(_DENIED, [])
        rules = await self._rules(call)
        kept = {_shown(rule): rule["state"] for rule in rules if _shown(rule) in declared and rule["id"] not in denied}
        going = [rule for rule in rules if _shown(rule) not in declared or rule["id"] in denied]
        broken = [rule for rule in rules if rule["state"] == _BROKEN and (rule["id"] in denied or _shown(rule) in kept)]
        if broken:
            listed = ", ".join(f"{rule['access_type']} {rule['access_to']}" for rule in broken)
            return Failed(f"the service could not apply these access rules: {listed}", in_error=True)
        for rule in going:
            if rule["id"] not in denied:
                await self._act(call, "deny_access", {"access_id": rule["id"]})
                denied.append(rule["id"])
        targets = {_shown(rule).target for rule in going}
        missing = sorted(rule for rule in declared - kept.keys() if rule.target not in targets)
        for rule in missing:
            await self._act(call, "allow_access", rule._asdict())
        settled = not going and not missing and set(kept.values()) <= {_IN_EFFECT}
        return Done() if settled else InProgress(after=self.waits.pause(call.elapsed))

    async def _rules(self, call: Call) -> list[Any]:
        """Return the access rules that the share has."""
        body = await self._act(call, "access_list", None)
        return list(body["access_list"])

    async def _act(self, call: Call, action: str, arguments: object) -> Any:
        return await call.cloud.post("manila", f"{self.member_path(call)}/action", {action: arguments})


class _Rule(NamedTuple):
    access_type: str
    access_to: str
    access_level: str

    @property
    def target(self) -> tuple[str, str]:
        """Who gets access."""
        return self.access_type, self.access_to


def _declared_rules(call: Call) -> set[_Rule]:
    return {_shown(rule) for rule in call.properties["access_rules"] or ()}


def _shown(rule: Mapping[str, Any]) -> _Rule:
    return _Rule(rule["access_type"], rule["access_to"], rule.get("access_level") or _DEFAULT_LEVEL)


def _metadata(call: Call) -> dict[str, str]:
    return {key: str(value) for key, value in (call.properties.get("metadata") or {}).items()}
