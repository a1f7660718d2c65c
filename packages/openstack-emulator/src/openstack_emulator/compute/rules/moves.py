"""Operations that give a server another flavor or host."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.compute.records import Server, ServerFlavor, ServerPlacement
from openstack_emulator.compute.rules.boot_sources import check_image_fits
from openstack_emulator.compute.rules.flavors import Flavors, flavor_copy
from openstack_emulator.compute.rules.guests import Guests
from openstack_emulator.compute.rules.hosts import Hosts
from openstack_emulator.compute.rules.migrations import Migrations
from openstack_emulator.compute.rules.operations import Operations
from openstack_emulator.compute.rules.quotas import Quotas
from openstack_emulator.compute.rules.scheduler import NO_HOST, Scheduler
from openstack_emulator.compute.rules.server_groups import ServerGroups
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.image.rules.composition import ImageService


class Moves(Rules):
    """Resize, migrate, live migrate and evacuate, with the list of migrations."""

    def __init__(
        self,
        records: Records,
        operations: Operations,
        guests: Guests,
        flavors: Flavors,
        quotas: Quotas,
        hosts: Hosts,
        scheduler: Scheduler,
        groups: ServerGroups,
        migrations: Migrations,
    ) -> None:
        super().__init__(records)
        self.servers = operations.servers
        self.hosts = hosts
        self._operations = operations
        self._guests = guests
        self._flavors = flavors
        self._quotas = quotas
        self._scheduler = scheduler
        self._groups = groups
        self.migrations = migrations
        operations.finishers |= {
            "resize": self._finish_resize,
            "migrate": self._finish_resize,
            "confirmResize": self._finish_confirm,
            "revertResize": self._finish_revert,
            "evacuate": self._finish_move,
            "os-migrateLive": self._finish_move,
        }

    def resize(self, context: Context, server: Server, flavor_id: object) -> None:
        """Begin to give a server another flavor.

        Raises: ApiError 400 for its own or an unknown flavor, or one for which another guest driver is selected, 403
        beyond a quota, 409 in a wrong state.
        """
        self._operations.require(server, "resize")
        key = str(flavor_id).rstrip("/").rsplit("/", 1)[-1]
        if self._flavors.rows.get(key) is None:
            raise bad_request(f"Flavor {key} could not be found.")
        flavor = self._flavors.find(context, key)
        if flavor.id == server.flavor.id:
            raise bad_request("When resizing, instances must change flavor!")
        if flavor.disk == 0 and server.image_id and server.flavor.disk != 0:
            raise bad_request("Resize to zero disk flavor is not allowed.")
        image = self.cloud.of(ImageService).images.rows.get(server.image_id)
        if image is not None:
            check_image_fits(image, flavor)
        more = {
            "cores": max(0, flavor.vcpus - server.flavor.vcpus),
            "ram": max(0, flavor.ram - server.flavor.ram),
        }
        self._quotas.check(server.project_id, more)
        self._guests.require_same_driver(server, flavor=flavor.name)
        self._begin_move(server, "resize", flavor_copy(flavor))

    def migrate(self, server: Server, host: str | None) -> None:
        """Begin to move a server to another host, as a resize to its own flavor; 400 when no other host fits."""
        self._operations.require(server, "migrate")
        self._begin_move(server, "migrate", server.flavor, only=host, avoid=server.host)

    def _begin_move(
        self, server: Server, name: str, flavor: ServerFlavor, only: str | None = None, avoid: str | None = None
    ) -> None:
        group = self._groups.group_of(server.id)
        target = self._scheduler.choose_host(
            server, flavor, None if group is None else group.id, only=only, avoid=avoid
        )
        if target is None and avoid is None:
            target = server.host
        if target is None:
            raise bad_request("No valid host was found. No valid host found for cold migrate")
        old = ServerPlacement(flavor=server.flavor, host=server.host, vm_state=server.vm_state)
        new = ServerPlacement(flavor=flavor, host=target, vm_state=None)
        self._operations.begin(server, name, old=old, new=new)
        self.migrations.add(server, "resize" if name == "resize" else "migration", "migrating", target, flavor.id)

    def _finish_resize(self, server: Server) -> Mapping[str, object]:
        new, server.new = server.new, None
        self.migrations.end(server, "finished")
        return {} if new is None else {"flavor": new.flavor, "host": new.host}

    def _finish_confirm(self, server: Server) -> Mapping[str, object]:
        old, server.old = server.old, None
        self.migrations.end(server, "confirmed")
        return {"vm_state": "active" if old is None else old.vm_state}

    def _finish_revert(self, server: Server) -> Mapping[str, object]:
        old, server.old = server.old, None
        self.migrations.end(server, "reverted")
        return {} if old is None else {"flavor": old.flavor, "host": old.host, "vm_state": old.vm_state}

    def _finish_move(self, server: Server) -> Mapping[str, object]:
        target, server.target = server.target, None
        self.migrations.end(server, "completed")
        return {"host": target}

    def live_migrate(self, server: Server, host: str | None) -> None:
        """Begin to move a running server; 400 when no other host fits."""
        self._operations.require(server, "os-migrateLive")
        if host is not None and host not in self.hosts.rows:
            raise bad_request(f"Compute host {host} could not be found.")
        if host == server.host:
            raise bad_request(f"Unable to migrate instance ({server.id}) to current host ({host}).")
        target = self._scheduler.choose_host(server, only=host, avoid=server.host)
        if target is None:
            raise bad_request(NO_HOST)
        self._operations.begin(server, "os-migrateLive", target=target)
        self.migrations.add(server, "live-migration", "running", target, server.flavor.id)

    def evacuate(self, server: Server, host: str | None) -> None:
        """Begin to rebuild a server on another host; 409 while its own host is up."""
        service = self.hosts.service_of(server.host)
        if service is not None and not service.forced_down:
            raise bad_request(f"Compute service of {server.host} is still in use.")
        target = self._scheduler.choose_host(server, only=host, avoid=server.host)
        if target is None:
            raise bad_request(NO_HOST)
        self._operations.begin(server, "evacuate", target=target)
        self.migrations.add(server, "evacuation", "running", target, server.flavor.id)
