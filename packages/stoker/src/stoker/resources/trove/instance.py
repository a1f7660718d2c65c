"""OS::Trove::Instance"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stoker.base.errors import CloudError, NotSupported
from stoker.plugins.capabilities import ServiceValidated
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call, Sources, Waiter
from stoker.resources import charges
from stoker.resources.base import Collection, RestResource, found_well, unrecorded
from stoker.resources.declare import between, length, matching
from stoker.resources.refused_changes import VOLUME_SIZE
from stoker.resources.steps import in_turn
from stoker.resources.trove import allowances
from stoker.resources.trove.base import (
    READY,
    SERVICE,
    datastore,
    datastore_problems,
    datastore_type,
    datastore_version,
    network_problems,
    networks,
    nics,
    reason,
)
from stoker.resources.trove.instance_changes import UPDATE_STEPS
from stoker.schema.live import Live, LiveSource, managed, never
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import has_unknown, is_unknown

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

GONE = Waiter.until("DELETED", failed=())
_PLAIN = {"availability_zone": "availability_zone", "replica_of": "replica_of", "replica_count": "replica_count"}
_WORD = r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"


async def _databases(kind: Instance, call: Call, shown: Mapping[str, object]) -> object:
    """Return those of the declared databases whose names the instance has; the service shows nothing else of them."""
    listed = await call.cloud.list(SERVICE, f"{kind.member_path(call)}/databases", "databases")
    present = {one["name"] for one in listed}
    return [one for one in call.properties["databases"] if one["name"] in present]


class Instance(RestResource, ServiceValidated):
    """A database server.

    Several replicas that are made together are one resource: its physical ID is that of the first of them, the IDs of
    the others are in `call.data["replicas"]`. Trove appends a number to their name.
    """

    type_name = "OS::Trove::Instance"
    description = "A database server, with databases and users."
    content = "the databases of the instance"
    charges = charges.DATABASE
    consumes = allowances.INSTANCE
    conflicts = (VOLUME_SIZE,)
    collection = Collection(SERVICE, "/instances", "instance", "instances", created_field="created", owner=None)
    support = Support(version="2014.1")
    consults = True
    waits = READY
    deleting = GONE
    computed = frozenset({"href"})
    readers = {"databases": _databases}

    properties = {
        "name": Property(description="Name of the instance.", constraints=length(high=255), change=Change.UPDATE),
        "flavor": Property(
            description="The flavor, by name or ID.", required=True, change=Change.UPDATE, reference="trove.flavor"
        ),
        "size": Property(
            Type.INTEGER,
            "Size of the volume in GiB; it can be increased, not decreased.",
            required=True,
            constraints=between(1, 150),
            change=Change.UPDATE,
        ),
        "databases": Property(
            Type.LIST,
            "The databases in the instance.",
            default=[],
            change=Change.UPDATE,
            items=Property(
                Type.MAP,
                "One database.",
                schema={
                    "character_set": Property(description="Character set of the database.", default="utf8"),
                    "collate": Property(description="Collation of the database.", default="utf8_general_ci"),
                    "name": Property(
                        description="Name of the database.",
                        required=True,
                        constraints=length(high=64) + matching(r"[a-zA-Z0-9_\-]+[a-zA-Z0-9_@?#\s\-]*[a-zA-Z0-9_\-]+"),
                    ),
                },
            ),
            live=Live(LiveSource.FETCHED, shared=True),
        ),
        "users": Property(
            Type.LIST,
            "The users of the database server.",
            default=[],
            change=Change.UPDATE,
            items=Property(
                Type.MAP,
                "One user.",
                schema={
                    "name": Property(
                        description="Name of the user.",
                        required=True,
                        constraints=length(high=16) + matching(_WORD),
                        change=Change.UPDATE,
                    ),
                    "password": Property(
                        description="Password of the user.",
                        required=True,
                        constraints=matching(_WORD),
                        change=Change.UPDATE,
                        secret=True,
                    ),
                    "host": Property(
                        description="The host from which the user may connect; % means any.",
                        default="%",
                        change=Change.UPDATE,
                    ),
                    "databases": Property(
                        Type.LIST,
                        "Names of the databases that the user may access.",
                        required=True,
                        items=Property(Type.STRING, "Name of a database."),
                        constraints=length(low=1),
                        change=Change.UPDATE,
                    ),
                },
            ),
            live=never("the service does not show passwords"),
        ),
        "availability_zone": Property(
            description="The availability zone of the instance.", live=never("the service does not show it")
        ),
        "restore_point": Property(
            description="ID of the backup from which the instance is restored.",
            live=never("the service does not show which backup was restored"),
        ),
        "datastore_type": datastore_type(),
        "datastore_version": datastore_version(),
        "networks": networks(live=never("the service shows addresses, not networks")),
        "replica_of": Property(
            description="ID of the instance that this one replicates.", support=Support(version="5.0.0")
        ),
        "replica_count": Property(
            Type.INTEGER,
            "Number of replicas to create.",
            support=Support(version="5.0.0"),
            live=managed("Stoker counts the replicas that it has made"),
        ),
    }
    attributes = {
        "hostname": Attribute("Host name of the instance.", Type.STRING),
        "href": Attribute("URL of the instance in the API of Trove.", Type.STRING),
    }

    # -- before any change --------------------------------------------------------------------------------------

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if properties.get("datastore_version") is not None and properties.get("datastore_type") is None:
            yield "datastore_version requires datastore_type"
        yield from network_problems(properties.get("networks"), "networks")
        users, databases = properties.get("users"), properties.get("databases")
        if not users or has_unknown(databases) or not isinstance(users, list):
            return
        if not databases:
            yield "users require databases"
            return
        names = {one["name"] for one in databases}
        for user in users:
            granted = user.get("databases") if isinstance(user, Mapping) else None
            for name in granted if isinstance(granted, list) else ():
                if not is_unknown(name) and name not in names:
                    yield f"users: the database {name!r} of a user is not in databases"

    async def consult(self, properties: Mapping[str, object], cloud: Cloud, sources: Sources) -> Iterable[str]:
        return await datastore_problems(properties, cloud)

    # -- creating -------------------------------------------------------------------------------------------------

    async def create_body(self, call: Call) -> dict[str, object]:
        given = call.properties
        restored = given.get("restore_point")
        body = {
            "name": given.get("name") or call.physical_name,
            **({} if given.get("replica_of") else _own_size(given)),
            "databases": given.get("databases"),
            "users": [user_body(one) for one in given.get("users") or ()],
            "restorePoint": {"backupRef": restored} if restored else None,
            "nics": nics(given.get("networks")),
            **{wire: given.get(name) for name, wire in _PLAIN.items()},
        }
        return {name: value for name, value in body.items() if value}

    def why(self, shown: Mapping[str, object]) -> str | None:
        return reason(shown)

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        found = [str(one["id"]) for one in await _named(call, body)]
        if body["name"] != call.physical_name:
            paths = [f"/instances/{key}" for key in found]
            shown = [self.collection.unwrap(await call.cloud.get(SERVICE, path)) for path in paths]
            found = [str(one["id"]) for one in shown if self.made_by(call, body, one)]
        return min(await unrecorded(call, found), default=None)

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, Any]) -> bool:
        compared = {name: body[name] for name in ("volume", "datastore", "availability_zone") if name in body}
        flavor = str(item["flavor"]["id"])
        alike = _source(item) == body.get("replica_of") and flavor == str(body.get("flavorRef", flavor))
        return alike and super().made_by(call, compared, item)

    def needs_extras(self, call: Call) -> bool:
        return (call.properties.get("replica_count") or 1) > 1

    async def add_extras(self, call: Call) -> None:
        """Record the other replicas that were made together with the first."""
        if self.needs_extras(call):
            found = [str(one["id"]) for one in await _named(call, await self.create_body(call))]
            others = await unrecorded(call, [key for key in found if key != call.physical_id])
            call.data["replicas"] = sorted(others)

    async def create(self, call: Call) -> Outcome:
        outcome = await super().create(call)
        if not isinstance(outcome, Done) or outcome.physical_id is not None:
            return outcome
        for key in call.data.get("replicas", ()):
            answer = await call.cloud.request("GET", SERVICE, f"/instances/{key}", ok=(404,))
            replica = self.collection.unwrap(answer.body) if answer.status != 404 else None
            outcome = self.status_outcome(call, replica)
            if not isinstance(outcome, Done):
                return outcome
        return Done()

    # -- updating -------------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        before, after = (call.previous or {}).get("size"), call.changed.get("size")
        if before is not None and after is not None and after < before:
            raise NotSupported(f"the size of a volume cannot be decreased from {before} to {after} GiB")
        return await in_turn(call, [step for name, step in UPDATE_STEPS.items() if name in call.changed])

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Replace an instance that is in error or does not exist; its data remain when it is healthy."""
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown["status"] in READY.failed

    # -- deleting -------------------------------------------------------------------------------------------------

    async def delete(self, call: Call) -> Outcome:
        """Delete the instance and the replicas made with it; Trove refuses (422) while it changes an instance."""
        try:
            outcome = await super().delete(call)
        except CloudError as error:
            shown = await self.show(call) if error.status == 422 else None
            if shown is None or shown["status"] in (*READY.done, *READY.failed):
                raise
            return InProgress(after=GONE.pause(call.elapsed))
        return outcome

    async def remove(self, call: Call) -> None:
        for key in call.data.get("replicas", ()):
            await call.cloud.request("DELETE", SERVICE, f"/instances/{key}", ok=(404,))
        await super().remove(call)

    # -- reading --------------------------------------------------------------------------------------------------

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        store = shown.get("datastore") or {}
        values = {
            "name": shown["name"],
            "flavor": str(shown["flavor"]["id"]),
            "size": shown["volume"]["size"],
            "datastore_type": store.get("type"),
            "datastore_version": store.get("version"),
        }
        if call.properties.get("replica_of"):
            values["replica_of"] = _source(shown)
        if (call.properties.get("replica_count") or 1) > 1:
            del values["name"]
        return super().differences(call, values)

    async def computed_attribute(self, call: Call, name: str) -> object:
        shown = await self.show(call)
        links = (shown or {}).get("links") or ()
        return next((link["href"] for link in links if link.get("rel") == "self"), None)


def _own_size(given: Mapping[str, object]) -> dict[str, object]:
    """Return what an instance has of its own, but a replica from its source, so that Trove refuses it for one."""
    return {"flavorRef": given["flavor"], "volume": {"size": given["size"]}, "datastore": datastore(given)}


def user_body(user: Mapping[str, Any]) -> dict[str, object]:
    """Return a user as Trove expects it."""
    return {**user, "databases": [{"name": name} for name in user["databases"]]}


async def _named(call: Call, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the instances that can be what the body requested, by their names."""
    count = body.get("replica_count") or 1
    name = body["name"]
    names = [name] if count == 1 else [f"{name}-{number + 1}" for number in range(count)]
    listed = await call.cloud.list(SERVICE, "/instances", "instances")
    return [one for one in listed if one["name"] in names and _source(one) == body.get("replica_of")]


def _source(shown: Mapping[str, Any]) -> str | None:
    source = shown.get("replica_of")
    return source.get("id") if isinstance(source, Mapping) else source
