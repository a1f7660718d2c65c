"""Instances as clients see them."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.component import Component
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.database.configurations import Configurations, show_links
from openstack_emulator.database.datastores import Datastores
from openstack_emulator.database.http import links
from openstack_emulator.database.instances import Instances

_HEALTH = {"ACTIVE": "HEALTHY", "RESTART_REQUIRED": "HEALTHY", "BACKUP": "HEALTHY", "ERROR": "ERROR"}


class InstanceViews(Component):
    """Builds the public forms of instances."""

    def __init__(
        self, records: Any, instances: Instances, datastores: Datastores, configurations: Configurations
    ) -> None:
        super().__init__(records)
        self.instances, self.datastores, self.configurations = instances, datastores, configurations

    def summary(self, request: Request, instance: Record) -> dict[str, Any]:
        """An instance in a list."""
        datastore = self.datastores.shown(instance["datastore_version_id"])
        reachable = bool(instance["addresses"]) and instance["status"] != "BUILD"
        shown = {
            "id": instance["id"],
            "name": instance["name"],
            "status": instance["status"],
            "operating_status": _HEALTH.get(instance["status"], ""),
            "links": links(request, "instances", instance["id"]),
            "flavor": {"id": instance["flavor_id"], "links": links(request, "flavors", instance["flavor_id"])},
            "volume": {"size": instance["volume_size"]},
            "datastore": {name: datastore[name] for name in ("type", "version")},
            "region": instance["region"],
            "access": instance["access"] or ({"is_public": False} if reachable else {}),
        }
        if request.context.is_admin:
            shown["tenant_id"] = instance["project_id"]
        if instance["replica_of"] is not None:
            shown["replica_of"] = self._link(request, instance["replica_of"])
        if reachable:
            shown["addresses"] = instance["addresses"]
            shown["ip"] = [one["address"] for one in instance["addresses"]]
        shown["hostname"] = instance["hostname"]
        return shown

    def detail(self, request: Request, instance: Record) -> dict[str, Any]:
        """An instance by itself."""
        shown = self.summary(request, instance)
        shown |= {name: instance[name] for name in ("created", "updated")}
        shown |= {name: instance[name] for name in ("availability_zone", "locality") if instance[name] is not None}
        shown["datastore"] = self.datastores.shown(instance["datastore_version_id"])
        shown["service_status_updated"] = instance["updated"]
        if instance["status"] in ("ACTIVE", "RESTART_REQUIRED"):
            shown["volume"] = {"size": instance["volume_size"], "used": 0.12}
        if instance["volume_type"] is not None:
            shown["volume"]["type"] = instance["volume_type"]
        if instance["configuration_id"] is not None:
            shown["configuration"] = show_links(request, self.configurations, instance["configuration_id"])
        if instance["cluster_id"] is not None:
            shown["cluster_id"] = instance["cluster_id"]
        if replicas := self.instances.rows.select(replica_of=instance["id"]):
            shown["replicas"] = [self._link(request, one["id"]) for one in replicas]
        if instance["fault"] is not None:
            shown["fault"] = instance["fault"]
        return shown

    def _link(self, request: Request, key: str) -> dict[str, Any]:
        return {"id": key, "links": links(request, "instances", key)}
