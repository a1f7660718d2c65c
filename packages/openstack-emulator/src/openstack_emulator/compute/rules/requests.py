"""Requests for servers, checked."""

from __future__ import annotations

from collections.abc import Sequence

from openstack_emulator.compute.records import Creator, Flavor, RequestedDevice, RequestedInterface, Server
from openstack_emulator.compute.rules.aggregates import Aggregates
from openstack_emulator.compute.rules.boot_sources import BootSources, check_image_fits, devices_of_image
from openstack_emulator.compute.rules.flavors import Flavors, flavor_copy
from openstack_emulator.compute.rules.inputs import NewServer
from openstack_emulator.compute.rules.interfaces import Interfaces
from openstack_emulator.compute.rules.keypairs import Keypairs
from openstack_emulator.compute.rules.quotas import Quotas
from openstack_emulator.compute.rules.security_groups import ServerSecurityGroups
from openstack_emulator.compute.rules.server_groups import ServerGroups
from openstack_emulator.compute.rules.states import NO_STATE
from openstack_emulator.compute.rules.user_data import check_user_data
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.image.records import Image
from openstack_emulator.volume.rules.sources import MAPPINGS


class ServerRequests(Rules):
    """Turns the request for servers into the record of a server, or refuses it."""

    def __init__(
        self,
        records: Records,
        flavors: Flavors,
        keypairs: Keypairs,
        aggregates: Aggregates,
        sources: BootSources,
        interfaces: Interfaces,
        security_groups: ServerSecurityGroups,
        groups: ServerGroups,
        quotas: Quotas,
    ) -> None:
        super().__init__(records)
        self._flavors = flavors
        self._keypairs = keypairs
        self._aggregates = aggregates
        self._sources = sources
        self._interfaces = interfaces
        self._security_groups = security_groups
        self._groups = groups
        self._quotas = quotas

    def draft(self, context: Context, new_server: NewServer) -> Server:
        """What the new servers have in common: a record without an id, a name and a number.

        Raises: ApiError 400 for what does not fit or exist, 403 beyond a quota, 409 for a port in use or an
        ambiguous network.
        """
        image = self._sources.image(context, new_server.image)
        flavor = self._flavor_for_boot(context, new_server.flavor, image)
        properties = {} if image is None else dict(image.properties)
        image_name = "" if image is None else image.name or ""
        if image is not None and MAPPINGS in properties:
            new_server = new_server.with_mappings(devices_of_image(image, new_server.mappings))
            image = None
        devices = self._sources.devices(context, new_server, image)
        if new_server.key_name and self._keypairs.rows.get(f"{context.user_id}:{new_server.key_name}") is None:
            raise bad_request("Invalid key_name provided.")
        security_groups = self._security_groups.ids(context.project, new_server.security_groups)
        networks = self._interfaces.requested(context, new_server.networks)
        zone, host = self._placement(context, new_server)
        if (group := new_server.hints.get("group")) is not None:
            self._groups.require_room(group, new_server.count)
        self._check_quotas(context, new_server, flavor)
        check_user_data(new_server.user_data)
        _check_several(new_server.count, devices, networks)
        now = self.records.timestamp()
        return Server(
            id="",
            name="",
            number=0,
            hostname="",
            launch_index=0,
            project_id=context.project,
            user_id=context.user_id,
            creator=Creator(
                boot_roles=",".join(sorted(context.roles)),
                owner_user_name=context.user_name,
                owner_project_name=context.project_name or "",
            ),
            vm_state="building",
            task_state="scheduling",
            power_state=NO_STATE,
            host=None,
            created=now,
            updated=now,
            launched_at=None,
            locked_by=None,
            locked_reason=None,
            failure=None,
            tags=new_server.tags,
            image_id="" if image is None else image.id,
            image_name=image_name,
            image_properties=properties,
            flavor=flavor_copy(flavor),
            key_name=new_server.key_name,
            metadata=new_server.metadata,
            description=new_server.description,
            config_drive="True" if new_server.config_drive else "",
            user_data=new_server.user_data,
            files=new_server.files,
            disk_config=new_server.disk_config,
            access_ip_v4=new_server.access_ip_v4,
            access_ip_v6=new_server.access_ip_v6,
            trusted_image_certificates=new_server.trusted_image_certificates,
            reservation_id=f"r-{new_id()[:8]}",
            zone_asked=zone,
            host_asked=host,
            networks=networks,
            security_groups=security_groups,
            devices=devices,
            hints=new_server.hints,
        )

    def _check_quotas(self, context: Context, new_server: NewServer, flavor: Flavor) -> None:
        self._quotas.check_metadata(context.project, new_server.metadata)
        count = new_server.count
        more = {"instances": count, "cores": count * flavor.vcpus, "ram": count * flavor.ram}
        self._quotas.check(context.project, more)

    def _flavor_for_boot(self, context: Context, reference: object, image: Image | None) -> Flavor:
        key = str(reference).rstrip("/").rsplit("/", 1)[-1]
        try:
            flavor = self._flavors.find(context, key)
        except ApiError:
            raise bad_request(f"Flavor {key} could not be found.") from None
        if image is not None:
            check_image_fits(image, flavor)
        return flavor

    def _placement(self, context: Context, new_server: NewServer) -> tuple[str | None, str | None]:
        """The zone and the host asked for: `zone`, or `zone:host` by an admin."""
        zone, _, host = new_server.availability_zone.partition(":")
        host = new_server.host or host.strip(":")
        if host and not context.is_admin:
            raise forbidden("Policy doesn't allow os_compute_api:servers:create:forced_host to be performed.")
        if zone and zone not in self._aggregates.zones():
            raise bad_request("The requested availability zone is not available")
        if host and host not in self._aggregates.hosts.rows:
            raise bad_request(f"Compute host {host} could not be found.")
        return zone or None, host or None


def _check_several(count: int, devices: Sequence[RequestedDevice], networks: Sequence[RequestedInterface]) -> None:
    """400 for what cannot be given to several servers, or twice."""
    volume_ids = [device.volume_id for device in devices if device.volume_id]
    if len(set(volume_ids)) < len(volume_ids) or (volume_ids and count > 1):
        raise bad_request("Block Device Mapping is Invalid: A volume can be given once and to one server only.")
    if count > 1 and any(network.port or network.fixed_ip for network in networks):
        raise bad_request("Invalid input: A port or a fixed address can be given to one server only.")
