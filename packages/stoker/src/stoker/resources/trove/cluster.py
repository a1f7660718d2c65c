"""OS::Trove::Cluster"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import ServiceValidated
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, Sources, Waiter
from stoker.resources import charges
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import between, length
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
    ready,
)
from stoker.resources.wire import without_nulls
from stoker.schema.live import never
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.schema.unknown import is_unknown

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

GONE = Waiter.until("DELETED")
IDLE, DELETING = "NONE", "DELETING"
"""Tasks of a cluster: one with any other task cannot be deleted now."""


class Cluster(RestResource, ServiceValidated):
    """A cluster, which is ready when all of its instances are. Trove can change nothing of it in place."""

    type_name = "OS::Trove::Cluster"
    description = "A cluster of database servers."
    content = "the databases of the cluster"
    charges = charges.DATABASE_CLUSTER
    consumes = allowances.CLUSTER
    collection = Collection(SERVICE, "/clusters", "cluster", "clusters", created_field="created", owner=None)
    support = Support(version="2015.1")
    consults = True
    computed = frozenset({"instances"})

    properties = {
        "name": Property(description="Name of the cluster.", constraints=length(high=255)),
        "datastore_type": datastore_type(required=True),
        "datastore_version": datastore_version(required=True),
        "instances": Property(
            Type.LIST,
            "The instances of the cluster.",
            required=True,
            items=Property(
                Type.MAP,
                "One instance.",
                schema={
                    "flavor": Property(
                        description="The flavor, by name or ID.", required=True, reference="trove.flavor"
                    ),
                    "volume_size": Property(
                        Type.INTEGER, "Size of the volume in GiB.", required=True, constraints=between(1, 150)
                    ),
                    "networks": networks(support=Support(version="10.0.0")),
                    "availability_zone": Property(
                        description="The availability zone of the instance.", support=Support(version="14.0.0")
                    ),
                },
            ),
            live=never("the service shows addresses and flavors of members, not what they were created from"),
        ),
    }
    attributes = {
        "instances": Attribute("IDs of the instances.", Type.LIST),
        "ip": Attribute("Addresses of the instances.", Type.LIST),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        instances = properties.get("instances")
        if not isinstance(instances, list):
            return
        for at, one in enumerate(instances):
            if isinstance(one, Mapping) and not is_unknown(one):
                yield from network_problems(one.get("networks"), f"instances[{at}].networks")

    async def consult(self, properties: Mapping[str, object], cloud: Cloud, sources: Sources) -> Iterable[str]:
        return await datastore_problems(properties, cloud)

    async def create_body(self, call: Call) -> dict[str, object]:
        given = call.properties
        return {
            "name": given.get("name") or call.physical_name,
            "datastore": datastore(given),
            "instances": [_member(one) for one in given["instances"]],
        }

    def made_by(self, call: Call, body: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
        """Compare all but the instances, which Trove shows in another form; of them, only the number."""
        alike = len(body["instances"]) == len(item["instances"])
        return alike and super().made_by(call, {**body, "instances": item["instances"]}, item)

    def status_outcome(self, call: Call, shown: Mapping[str, Any] | None) -> Outcome:
        if shown is None:
            return super().status_outcome(call, shown)
        outcomes = [ready(one, call.elapsed) for one in shown["instances"]]
        failed = next((one for one in outcomes if isinstance(one, Failed)), None)
        if failed is not None:
            return failed
        return Done() if outcomes and all(isinstance(one, Done) for one in outcomes) else _later(call)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        return super().differences(call, {"name": shown.get("name"), **_datastore_shown(shown)})

    async def delete(self, call: Call) -> Outcome:
        """Delete the cluster when it has no task, and wait until Trove no longer shows it."""
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return Done()
        if shown["task"]["name"] == IDLE:
            try:
                await self.remove(call)
            except CloudError as error:
                if error.not_found:
                    return Done()
                if error.status != 422:  # a task has begun meanwhile
                    raise
        return InProgress(after=GONE.pause(call.elapsed))

    async def computed_attribute(self, call: Call, name: str) -> object:
        shown = await self.show(call)
        return None if shown is None else [one["id"] for one in shown["instances"]]


def _member(given: Mapping[str, Any]) -> dict[str, object]:
    connections = nics(given.get("networks"))
    return without_nulls(
        {
            "flavorRef": given["flavor"],
            "volume": {"size": given["volume_size"]},
            "nics": connections or None,
            "availability_zone": given.get("availability_zone"),
        }
    )


def _later(call: Call) -> InProgress:
    return InProgress(after=READY.pause(call.elapsed))


def _datastore_shown(shown: Mapping[str, Any]) -> dict[str, object]:
    store = shown.get("datastore") or {}
    return {"datastore_type": store.get("type"), "datastore_version": store.get("version")}
