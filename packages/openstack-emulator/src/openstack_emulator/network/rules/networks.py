"""Networks."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.network.records.core import Network, Port
from openstack_emulator.network.rules.errors import in_use, invalid_input
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.resources import Resources, State
from openstack_emulator.network.rules.segments import PHYSICAL_TYPES, Segments

AUTOMATIC_OWNERS = frozenset({"network:dhcp", "network:distributed"})
TUNNEL_MTU, PLAIN_MTU = 1450, 1500
ZONES = ("nova",)
PROVIDER = ("provider:network_type", "provider:physical_network", "provider:segmentation_id")


class Networks(Resources[Network]):
    """Visible to their project, to those they are shared with, and, when external, to everybody."""

    def __init__(self, state: State, kind: ResourceKind[Network], segments: Segments) -> None:
        super().__init__(state, kind)
        self.segments = segments

    def prepare_create(self, actor: Actor, draft: Network, values: Values) -> None:
        chosen = self.segments.choose(*(values.get(name) for name in PROVIDER))
        draft.network_type, draft.physical_network, draft.segmentation_id = chosen
        check_zones(draft.availability_zone_hints)
        most = PLAIN_MTU if draft.network_type in PHYSICAL_TYPES else TUNNEL_MTU
        if values.get("mtu", 0) > most:
            raise invalid_input(f"Requested MTU is too big, maximum is {most}.")
        if "mtu" not in values:
            draft.mtu = most
        draft.availability_zones = []
        if draft.is_default:
            self._refuse_second_default(draft)

    def after_create(self, actor: Actor, record: Network) -> None:
        self.segments.put_first(record)
        if record.external:
            self.state.sharing.open(record, "access_as_external")

    def prepare_update(self, actor: Actor, record: Network, after: Network, values: Values) -> None:
        if values.keys() & PROVIDER:
            raise invalid_input("Plugin does not support updating provider attributes.")
        if values.get("shared") is False:
            self._refuse_unshare(record)
        if values.get("is_default"):
            self._refuse_second_default(record)
        if after.external != record.external:
            self._switch_external(record, after.external)

    def visible(self, actor: Actor, record: Network) -> bool:
        return super().visible(actor, record) or (
            record.external and self.state.sharing.reaches(record.id, actor.project_id, "access_as_external")
        )

    def usable(self, actor: Actor, record: Network) -> bool:
        """Whether the actor may put servers on it: its own or shared ones, not merely external ones."""
        return Resources.visible(self, actor, record)

    def refuse_delete(self, actor: Actor, record: Network) -> None:
        if self._ports_in_use(record):
            raise self.used(record)

    def forget(self, record: Network) -> None:
        for floating in self.state.rows.floatingips.select(floating_network_id=record.id):
            self.state.of("floatingips").forget(floating)
        for plural in ("ports", "subnets"):
            others = self.state.of(plural)
            for row in others.rows.select(network_id=record.id):
                others.forget(row)
        super().forget(record)

    def used(self, record: Network) -> ApiError:
        ids = ",".join(port.id for port in self._ports_in_use(record))
        message = self.kind.in_use.format(id=record.id)
        return in_use("NetworkInUse", f"{message[:-1]}, id for these ports is: {ids}.")

    def _ports_in_use(self, record: Network) -> list[Port]:
        """The ports that keep a network: all but those of services and of floating IPs that lead nowhere."""
        ports = self.state.rows.ports.select(network_id=record.id)
        floating = self.state.rows.floatingips.select(floating_network_id=record.id, port_id=None)
        idle = {row.id for row in floating}
        return [port for port in ports if port.device_owner not in AUTOMATIC_OWNERS and port.device_id not in idle]

    def _refuse_second_default(self, record: Network) -> None:
        default = self.rows.first(is_default=True)
        if default is not None and default.id != record.id:
            raise conflict(f"A default external network already exists: {default.id}.", "DefaultExternalNetworkExists")

    def _refuse_unshare(self, record: Network) -> None:
        users = self.state.rows.ports.select(network_id=record.id)
        if any(port.project_id not in ("", record.project_id) for port in users):
            raise conflict(
                f"Unable to reconfigure sharing settings for network {record.name}. Multiple tenants are using it.",
                "InvalidSharedSetting",
            )

    def _switch_external(self, record: Network, external: bool) -> None:
        if external:
            self.state.sharing.open(record, "access_as_external")
            return
        if any(
            p.device_owner in ("network:router_gateway", "network:floatingip")
            for p in self.state.rows.ports.select(network_id=record.id)
        ):
            raise conflict(
                f"External network {record.id} cannot be updated to be made non-external, since it has existing "
                "gateway ports.",
                "ExternalNetworkInUse",
            )
        self.state.sharing.close(record, "access_as_external")


def check_zones(hints: Iterable[str]) -> None:
    """Refuse an availability zone that has no agents. Raises: ApiError 404."""
    for zone in hints:
        if zone not in ZONES:
            raise not_found(f"AvailabilityZone {zone} could not be found.", "AvailabilityZoneNotFound")
