"""Flavors: sizes of servers."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.compute.records import Flavor, ServerFlavor
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules

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


@dataclass(frozen=True, kw_only=True)
class NewFlavor:
    """A flavor that is to be created. ram and swap: in MiB. disk and ephemeral: in GiB. id: None for a new one."""

    name: str
    ram: int
    vcpus: int
    disk: int
    id: str | None = None
    ephemeral: int = 0
    swap: int = 0
    rxtx_factor: float = 1.0
    is_public: bool = True
    description: str | None = None
    extra_specs: dict[str, str] = field(default_factory=dict)


class Flavors(Rules):
    """Flavors, their extra specs, and which projects may use a private one."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("flavors", Flavor, "name")

    def seed(self) -> None:
        for key, name, ram, vcpus, disk in PRESETS:
            specs = {"hw_rng:allowed": "True"}
            self.create(NewFlavor(id=key, name=name, ram=ram, vcpus=vcpus, disk=disk, extra_specs=specs))

    def create(self, new_flavor: NewFlavor) -> Flavor:
        """A new flavor; 409 when its id or name is taken."""
        if self.rows.first(name=new_flavor.name) is not None:
            raise conflict(f"Flavor with name {new_flavor.name} already exists.")
        key = new_flavor.id or new_id()
        if key in self.rows:
            raise conflict(f"Flavor with ID {key} already exists.")
        return self.rows.add(
            Flavor(
                id=key,
                name=new_flavor.name,
                ram=new_flavor.ram,
                vcpus=new_flavor.vcpus,
                disk=new_flavor.disk,
                ephemeral=new_flavor.ephemeral,
                swap=new_flavor.swap,
                rxtx_factor=new_flavor.rxtx_factor,
                is_public=new_flavor.is_public,
                description=new_flavor.description,
                extra_specs=new_flavor.extra_specs,
                projects=[],
            )
        )

    def find(self, context: Context, key: str) -> Flavor:
        """A flavor the caller may use; 404 otherwise."""
        flavor = self.rows.require(key)
        if not may_use(flavor, context):
            raise self.rows.missing(key)
        return flavor

    def usable(self, context: Context) -> list[Flavor]:
        """The flavors the caller may use."""
        return [flavor for flavor in self.rows if may_use(flavor, context)]

    def add_access(self, flavor: Flavor, project_id: str) -> None:
        """Let a project use a private flavor; 409 when it may already or the flavor is public."""
        if flavor.is_public:
            raise conflict("Can not add access to a public flavor.")
        if project_id in flavor.projects:
            raise conflict(f"Flavor access already exists for flavor {flavor.id} and project {project_id} combination.")
        self.rows.update(flavor, projects=[*flavor.projects, project_id])

    def remove_access(self, flavor: Flavor, project_id: str) -> None:
        """Remove a project's access to a private flavor; 404 when it had none."""
        if project_id not in flavor.projects:
            raise not_found(f"Flavor access not found for {flavor.id} / {project_id} combination.")
        self.rows.update(flavor, projects=[project for project in flavor.projects if project != project_id])


def may_use(flavor: Flavor, context: Context) -> bool:
    """Whether the caller may use a flavor."""
    return flavor.is_public or context.is_admin or context.project_id in flavor.projects


def flavor_copy(flavor: Flavor) -> ServerFlavor:
    """The part of a flavor that a server keeps."""
    return ServerFlavor(
        id=flavor.id,
        name=flavor.name,
        ram=flavor.ram,
        vcpus=flavor.vcpus,
        disk=flavor.disk,
        ephemeral=flavor.ephemeral,
        swap=flavor.swap,
        extra_specs=flavor.extra_specs,
    )
