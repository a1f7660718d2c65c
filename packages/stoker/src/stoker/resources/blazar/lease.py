"""OS::Blazar::Lease"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, unrecorded
from stoker.resources.blazar.base import ReservationResource
from stoker.resources.declare import between, matching, one_of
from stoker.resources.wire import without_nulls
from stoker.schema.live import never, same
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.schema.unknown import is_unknown

_DATE = r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"
_LARGEST = 2147483647
_DATES = ("start_date", "end_date", "before_end_date")
_HOST, _INSTANCE = "physical:host", "virtual:instance"
_UNUSED: Mapping[str, frozenset[str]] = {
    _HOST: frozenset({"vcpus", "memory_mb", "disk_gb", "affinity", "amount"}),
    _INSTANCE: frozenset({"hypervisor_properties", "max", "min", "before_end"}),
}
"""The properties that reservations of a resource type do not have."""
_NEEDED: Mapping[str, tuple[str, ...]] = {_HOST: ("min", "max"), _INSTANCE: ("vcpus", "memory_mb", "disk_gb", "amount")}


def _amount(description: str) -> Property:
    return Property(Type.INTEGER, description, constraints=between(0, _LARGEST))


class Lease(ReservationResource):
    """A lease. It is created when Blazar has accepted it; its period may begin much later."""

    type_name = "OS::Blazar::Lease"
    description = "A lease of hosts, or of room for servers, for a period of time."
    collection = Collection("blazar", "/leases", "lease", "leases", owner=None)
    support = Support(version="12.0.0")
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The name comes from the template. A lease with the name must also have been created since the action began, "
        "have the requested period and reservations, and belong to no other resource.",
    )

    properties = {
        "name": Property(description="Name of the lease.", required=True),
        "start_date": Property(
            description="When the lease begins, in UTC: YYYY-MM-DD HH:MM.", required=True, constraints=matching(_DATE)
        ),
        "end_date": Property(
            description="When the lease ends, in UTC: YYYY-MM-DD HH:MM.", required=True, constraints=matching(_DATE)
        ),
        "before_end_date": Property(
            description="When Blazar acts before the end, in UTC: YYYY-MM-DD HH:MM.",
            constraints=matching(_DATE),
            live=never("the service shows it only among the events"),
        ),
        "reservations": Property(
            Type.LIST,
            "What the lease reserves.",
            required=True,
            items=Property(
                Type.MAP,
                "A reservation.",
                schema={
                    "resource_type": Property(
                        description="What is reserved: whole hosts, or room for servers.",
                        required=True,
                        constraints=one_of(_INSTANCE, _HOST),
                    ),
                    "min": Property(
                        Type.INTEGER, "Smallest acceptable number of hosts (physical:host).", constraints=between(1)
                    ),
                    "max": Property(Type.INTEGER, "Largest number of hosts (physical:host).", constraints=between(1)),
                    "hypervisor_properties": Property(
                        description='Requirements on the hypervisors (physical:host): \'[">=", "$vcpus", "8"]\'.'
                    ),
                    "resource_properties": Property(
                        description='Requirements on the capabilities of the hosts: \'["==", "$gpu", "True"]\'.'
                    ),
                    "before_end": Property(
                        description="What happens to servers before the end (physical:host).",
                        default="default",
                        constraints=one_of("default", "snapshot"),
                    ),
                    "amount": _amount("Number of servers (virtual:instance)."),
                    "vcpus": _amount("Number of processors of a server (virtual:instance)."),
                    "memory_mb": _amount("Memory of a server in MiB (virtual:instance)."),
                    "disk_gb": _amount("Size of a server's disk in GiB (virtual:instance)."),
                    "affinity": Property(
                        Type.BOOLEAN,
                        "Whether the servers are on one host, or each on another one (virtual:instance).",
                        default=False,
                    ),
                },
            ),
        ),
        "events": Property(
            Type.LIST,
            "Further events of the lease.",
            default=[],
            items=Property(
                Type.MAP,
                "An event.",
                schema={
                    "event_type": Property(description="Type of the event.", required=True),
                    "time": Property(description="When the event occurs, in UTC: YYYY-MM-DD HH:MM.", required=True),
                },
            ),
            live=never("the service shows events of its own among them"),
        ),
    }

    attributes = {
        "name": Attribute("Name of the lease.", Type.STRING),
        "start_date": Attribute("When the lease begins.", Type.STRING),
        "end_date": Attribute("When the lease ends.", Type.STRING),
        "created_at": Attribute("When the lease was created.", Type.STRING),
        "updated_at": Attribute("When the lease was last changed.", Type.STRING),
        "status": Attribute("Status of the lease (PENDING, ACTIVE, TERMINATED or ERROR).", Type.STRING),
        "degraded": Attribute("Whether resources of the lease have failed.", Type.BOOLEAN),
        "user_id": Attribute("ID of the user who created the lease.", Type.STRING),
        "project_id": Attribute("ID of the project that the lease belongs to.", Type.STRING),
        "trust_id": Attribute("Trust by which Blazar acts for this user.", Type.STRING),
        "reservations": Attribute(
            "The reservations with their IDs, which servers on reserved hosts need as a scheduler hint.", Type.LIST
        ),
        "events": Attribute("The events with their dates and statuses.", Type.LIST),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        """Dates are strings that sort by time."""
        dates = [properties[name] for name in ("start_date", "end_date")]
        if not any(is_unknown(date) for date in dates) and _moment(dates[0]) >= _moment(dates[1]):
            yield f"end_date must be later than start_date, but {dates[1]} is not later than {dates[0]}"
        reservations = properties["reservations"]
        for at, given in enumerate([] if is_unknown(reservations) else reservations or ()):
            if is_unknown(given) or is_unknown(given["resource_type"]):
                continue
            kind = given["resource_type"]
            if missing := [name for name in _NEEDED.get(kind, ()) if given[name] is None]:
                yield f"reservations[{at}]: a reservation of the type {kind} requires {' and '.join(missing)}"
            low, high = given["min"], given["max"]
            if kind == _HOST and isinstance(low, int) and isinstance(high, int) and low > high:
                yield f"reservations[{at}]: min must not be greater than max"

    async def create_body(self, call: Call) -> dict[str, object]:
        given = call.properties
        plain = without_nulls({name: given[name] for name in ("name", *_DATES)})
        reservations = [
            {name: value for name, value in one.items() if name not in _UNUSED[one["resource_type"]]}
            for one in given["reservations"]
        ]
        return {**plain, "reservations": reservations, "events": given["events"] or []}

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        listed = await call.cloud.list("blazar", "/leases", "leases")
        found = [str(item["id"]) for item in listed if self.made_by(call, body, item)]
        return min(await unrecorded(call, found), default=None)

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        return super().made_by(call, {"name": body["name"]}, item) and not _differences(body, item)

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return None
        call.report.compared.update(("name", "reservations", *(name for name in _DATES if name in shown)))
        found = _differences(await self.create_body(call), shown)
        return found if shown["name"] == call.properties["name"] else {**found, "name": shown["name"]}


def _moment(date: object) -> datetime:
    """Return the minute that a date means, as templates or as Blazar write it; an impossible one comes first."""
    try:
        return datetime.fromisoformat(str(date)).replace(second=0, microsecond=0, tzinfo=None)
    except ValueError:
        return datetime.min


def _differences(body: Mapping[str, Any], shown: Mapping[str, object]) -> dict[str, object]:
    """Return the properties of a request that a lease does not have, with the live values of dates."""
    found = {
        name: shown[name]
        for name in _DATES
        if name in body and name in shown and _moment(body[name]) != _moment(shown[name])
    }
    declared = [without_nulls(one) for one in body["reservations"]]
    if not same(declared, shown["reservations"]):
        found["reservations"] = None
    return found
