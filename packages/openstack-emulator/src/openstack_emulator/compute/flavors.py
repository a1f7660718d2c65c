"""Flavors: sizes of servers."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record

PRESETS = (
    ("1", "m1.tiny", 512, 1, 1),
    ("2", "m1.small", 2048, 1, 20),
    ("3", "m1.medium", 4096, 2, 40),
    ("4", "m1.large", 8192, 4, 80),
    ("5", "m1.xlarge", 16384, 8, 160),
    ("42", "m1.nano", 192, 1, 1),
    ("84", "m1.micro", 256, 1, 1),
    ("c1", "cirros256", 256, 1, 1),
    ("d1", "ds512M", 512, 1, 5),
    ("d2", "ds1G", 1024, 1, 10),
    ("d3", "ds2G", 2048, 2, 10),
    ("d4", "ds4G", 4096, 4, 20),
)
"""The flavors of a DevStack: id, name, RAM (MiB), VCPUs, disk (GiB)."""


class Flavors(Component):
    """Flavors, their extra specs, and which projects may use a private one."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("flavors", "name")

    def seed(self) -> None:
        for key, name, ram, vcpus, disk in PRESETS:
            wanted = {"id": key, "name": name, "ram": ram, "vcpus": vcpus, "disk": disk}
            self.create({**wanted, "extra_specs": {"hw_rng:allowed": "True"}})

    def create(self, wanted: Record) -> Record:
        """A new flavor; 409 when its id or name is taken.

        wanted: name, ram (MiB), vcpus, disk (GiB); and optionally id, ephemeral (GiB), swap (MiB), rxtx_factor,
        is_public, description, extra_specs.
        """
        if self.rows.first(name=wanted["name"]) is not None:
            raise conflict(f"Flavor with name {wanted['name']} already exists.")
        key = wanted.get("id") or new_id()
        if key in self.rows:
            raise conflict(f"Flavor with ID {key} already exists.")
        return self.rows.add(
            {
                "ephemeral": 0,
                "swap": 0,
                "rxtx_factor": 1.0,
                "is_public": True,
                "description": None,
                "extra_specs": {},
                **wanted,
                "id": key,
                "_projects": [],
            }
        )

    def find(self, context: Context, key: str) -> Record:
        """A flavor the caller may use; 404 otherwise."""
        flavor = self.rows.require(key)
        if not may_use(flavor, context):
            raise self.rows.missing(key)
        return flavor

    def usable(self, context: Context) -> list[Record]:
        """The flavors the caller may use."""
        return [flavor for flavor in self.rows if may_use(flavor, context)]

    def add_access(self, flavor: Record, project_id: str) -> None:
        """Let a project use a private flavor; 409 when it may already or the flavor is public."""
        if flavor["is_public"]:
            raise conflict("Can not add access to a public flavor.")
        if project_id in flavor["_projects"]:
            raise conflict(
                f"Flavor access already exists for flavor {flavor['id']} and project {project_id} combination."
            )
        self.rows.update(flavor, _projects=[*flavor["_projects"], project_id])

    def remove_access(self, flavor: Record, project_id: str) -> None:
        """Remove a project's access to a private flavor; 404 when it had none."""
        if project_id not in flavor["_projects"]:
            raise not_found(f"Flavor access not found for {flavor['id']} / {project_id} combination.")
        self.rows.update(flavor, _projects=[one for one in flavor["_projects"] if one != project_id])


def may_use(flavor: Record, context: Context) -> bool:
    """Whether the caller may use a flavor."""
    return flavor["is_public"] or context.is_admin or context.project_id in flavor["_projects"]


def flavor_copy(flavor: Record) -> Record:
    """The part of a flavor that a server keeps: the flavor may be changed or deleted."""
    fields = ("id", "name", "ram", "vcpus", "disk", "ephemeral", "swap", "extra_specs")
    return {field: flavor[field] for field in fields}
