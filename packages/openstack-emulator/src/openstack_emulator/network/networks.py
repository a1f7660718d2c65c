"""Networks, their segments, and the RBAC policies that open objects to other projects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.store import Record
from openstack_emulator.network.errors import disallowed_by, in_use, invalid_input
from openstack_emulator.network.kinds import Actor, Kind
from openstack_emulator.network.table import EVERYONE, State, Table

AUTOMATIC_OWNERS = frozenset({"network:dhcp", "network:distributed"})
EXTERNAL = "router:external"
TUNNEL = "vxlan"
TUNNEL_MTU, PLAIN_MTU = 1450, 1500
PHYSICAL_TYPES = frozenset({"flat", "vlan"})
ZONES = ("nova",)
LAST_VLAN = 4094
TARGET = "target_tenant"
PROVIDER = ("network_type", "physical_network", "segmentation_id")
OBJECT_TABLES = {
    "network": "networks",
    "qos_policy": "policies",
    "security_group": "security_groups",
    "address_scope": "address_scopes",
    "subnetpool": "subnetpools",
    "address_group": "address_groups",
}


UNSHOWN = ("project_id", "tenant_id", "tags")
"""What segments have and do not show."""


class Segments(Table):
    """Each network begins with the segment its provider attributes name; an admin may add more."""

    def __init__(self, state: State, kind: Kind) -> None:
        super().__init__(state, kind)
        self._latest: dict[str, int] = {}

    def visible(self, actor: Actor, record: Record) -> bool:
        return actor.admin

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        return {name: value for name, value in shown.items() if name not in UNSHOWN}

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        wanted.update(self.choose(*(wanted[name] for name in PROVIDER)))

    def choose(self, kind: str | None, physical: str | None, number: int | None) -> dict[str, Any]:
        """`{network_type, physical_network, segmentation_id}`, with a free number where the type has one and none is
        given. Raises: ApiError 400 for values that do not go together, 409 for a number in use."""
        if kind is None and (physical or number):
            raise invalid_input("network_type required for other provider attributes.")
        kind = kind or TUNNEL
        numbered = kind not in ("flat", "local")
        if kind in PHYSICAL_TYPES and not physical:
            raise invalid_input(f"physical_network required for {kind} provider network.")
        if kind not in PHYSICAL_TYPES and physical:
            raise invalid_input(f"provider:physical_network specified with provider:network_type of {kind}.")
        if number and not numbered:
            raise invalid_input(f"segmentation_id specified with provider:network_type of {kind}.")
        if kind == "vlan" and (number or 1) > LAST_VLAN:
            raise invalid_input(f"segmentation_id out of range (1 through {LAST_VLAN}).")
        if number and self._taken(kind, physical, number):
            raise _number_in_use(kind, physical, number)
        if numbered and not number:
            number = self._next(kind, physical)
        return dict(zip(PROVIDER, (kind, physical, number), strict=True))

    def put_first(self, network: Record) -> None:
        """Take in the segment that a new network's provider attributes name."""
        values = {name: network[f"provider:{name}"] for name in PROVIDER}
        blank: Record = {"name": None, "description": None, "tags": []}
        self.put({"id": new_id(), **blank, "network_id": network["id"], "project_id": network["project_id"], **values})

    def _taken(self, kind: str, physical: str | None, number: int) -> bool:
        same = self.rows.first(segmentation_id=number, network_type=kind, physical_network=physical)
        return same is not None

    def _next(self, kind: str, physical: str | None) -> int:
        number = self._latest.get(kind, 0) + 1
        while self._taken(kind, physical, number):
            number += 1
        if kind == "vlan" and number > LAST_VLAN:
            raise ApiError(
                503,
                "Unable to create the network. No tenant network is available for allocation.",
                "NoNetworkAvailable",
            )
        if kind != "vlan":
            self._latest[kind] = number
        return number


class Networks(Table):
    """Visible to their project, to those they are shared with, and, when external, to everybody."""

    def __init__(self, state: State, kind: Kind, segments: Segments) -> None:
        super().__init__(state, kind)
        self.segments = segments

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        chosen = self.segments.choose(*(given.get(f"provider:{name}") for name in PROVIDER))
        wanted.update({f"provider:{name}": value for name, value in chosen.items()})
        check_zones(wanted["availability_zone_hints"])
        most = PLAIN_MTU if wanted["provider:network_type"] in PHYSICAL_TYPES else TUNNEL_MTU
        if given.get("mtu", 0) > most:
            raise invalid_input(f"Requested MTU is too big, maximum is {most}.")
        if "mtu" not in given:
            wanted["mtu"] = most
        wanted["availability_zones"] = []
        if wanted["is_default"]:
            self._refuse_second_default(wanted)

    def created(self, actor: Actor, record: Record) -> None:
        self.segments.put_first(record)
        if record[EXTERNAL]:
            self._share(record, "access_as_external")

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        if any(name.startswith("provider:") for name in changes):
            raise invalid_input("Plugin does not support updating provider attributes.")
        if changes.get("shared") is False:
            self._refuse_unshare(record)
        if changes.get("is_default"):
            self._refuse_second_default(record)
        if EXTERNAL in changes and changes[EXTERNAL] != record[EXTERNAL]:
            self._switch_external(record, changes[EXTERNAL])

    def visible(self, actor: Actor, record: Record) -> bool:
        return super().visible(actor, record) or (
            record[EXTERNAL] and self.state.shared(record["id"], actor.project_id, "access_as_external")
        )

    def usable(self, actor: Actor, record: Record) -> bool:
        """Whether the actor may put servers on it: its own or shared ones, not merely external ones."""
        return Table.visible(self, actor, record)

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        subnets = self.state.rows["subnets"].select(network_id=record["id"])
        shown["subnets"] = [subnet["id"] for subnet in subnets]
        shown["availability_zones"] = list(ZONES) if subnets else []
        shown["ipv4_address_scope"] = self._scope(subnets, 4)
        shown["ipv6_address_scope"] = self._scope(subnets, 6)
        if not record[EXTERNAL]:
            shown.pop("is_default")
        return shown

    def announced(self, actor: Actor, record: Record) -> Record:
        return {**self.view(actor, record), "is_default": record["is_default"]}

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        if self._hindrances(record):
            raise self.used(record)

    def forget(self, record: Record) -> None:
        for floating in self.state.rows["floatingips"].select(floating_network_id=record["id"]):
            self.state.table("floatingips").forget(floating)
        for plural in ("ports", "subnets"):
            for row in self.state.rows[plural].select(network_id=record["id"]):
                self.state.table(plural).forget(row)
        super().forget(record)

    def used(self, record: Record) -> ApiError:
        ids = ",".join(port["id"] for port in self._hindrances(record))
        message = self.kind.in_use.format(id=record["id"])
        return in_use("NetworkInUse", f"{message[:-1]}, id for these ports is: {ids}.")

    def _hindrances(self, record: Record) -> list[Record]:
        """The ports that keep a network: all but those of services and of floating IPs that lead nowhere."""
        ports = self.state.rows["ports"].select(network_id=record["id"])
        floating = self.state.rows["floatingips"].select(floating_network_id=record["id"], port_id=None)
        idle = {row["id"] for row in floating}
        return [
            port for port in ports if port["device_owner"] not in AUTOMATIC_OWNERS and port["device_id"] not in idle
        ]

    def _scope(self, subnets: list[Record], version: int) -> str | None:
        for subnet in subnets:
            if subnet["ip_version"] == version and subnet["subnetpool_id"]:
                pool = self.state.rows["subnetpools"].get(subnet["subnetpool_id"])
                if pool is not None:
                    return str(pool["address_scope_id"]) if pool["address_scope_id"] else None
        return None

    def _refuse_second_default(self, record: Record) -> None:
        default = self.rows.first(is_default=True)
        if default is not None and default["id"] != record["id"]:
            raise conflict(
                f"A default external network already exists: {default['id']}.", "DefaultExternalNetworkExists"
            )

    def _refuse_unshare(self, record: Record) -> None:
        users = self.state.rows["ports"].select(network_id=record["id"])
        if any(port["project_id"] not in ("", record["project_id"]) for port in users):
            raise conflict(
                f"Unable to reconfigure sharing settings for network {record['name']}. Multiple tenants are using it.",
                "InvalidSharedSetting",
            )

    def _switch_external(self, record: Record, external: bool) -> None:
        if external:
            self._share(record, "access_as_external")
            return
        if any(
            p["device_owner"] in ("network:router_gateway", "network:floatingip")
            for p in self.state.rows["ports"].select(network_id=record["id"])
        ):
            raise conflict(
                f"External network {record['id']} cannot be updated to be made non-external, since it has existing "
                "gateway ports.",
                "ExternalNetworkInUse",
            )
        self._close(self._open_policies(record, "access_as_external"))


def check_zones(hints: Iterable[str]) -> None:
    """Refuse an availability zone that has no agents. Raises: ApiError 404."""
    for zone in hints:
        if zone not in ZONES:
            raise not_found(f"AvailabilityZone {zone} could not be found.", "AvailabilityZoneNotFound")


def _number_in_use(kind: str, physical: str | None, number: int) -> ApiError:
    if kind == "vlan":
        where = f"The VLAN {number} on physical network {physical}"
        return conflict(f"Unable to create the network. {where} is in use.", "VlanIdInUse")
    return conflict(f"Unable to create the network. The tunnel ID {number} is in use.", "TunnelIdInUse")


class RbacPolicies(Table):
    """Who besides its owner may use an object."""

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        kind, action = wanted["object_type"], wanted["action"]
        if kind not in OBJECT_TABLES:
            raise invalid_input(f"'{kind}' is not a valid RBAC object type.")
        actions = ("access_as_shared", "access_as_external") if kind == "network" else ("access_as_shared",)
        if action not in actions:
            raise bad_request(
                f"Invalid action '{action}' for object type '{kind}'. Valid actions: {actions}", "InvalidActionForType"
            )
        table = self.state.table(OBJECT_TABLES[kind])
        shared = table.rows.get(wanted["object_id"])
        if shared is None:
            raise invalid_input(f"{table.kind.label} {wanted['object_id']} could not be found.")
        if not actor.owns(shared):
            raise invalid_input("Only admins can manipulate policies on objects they do not own.")
        _check_target(wanted["target_tenant"])
        self._refuse_wildcard(actor, wanted["target_tenant"], "create")
        same = {key: wanted[key] for key in ("object_id", "action", "target_tenant")}
        if self.rows.first(**same) is not None:
            raise conflict("An RBAC policy already exists with those values.", "DuplicateRbacPolicy")

    def created(self, actor: Actor, record: Record) -> None:
        if record["action"] == "access_as_external":
            network = self.state.rows["networks"].require(record["object_id"])
            self.state.table("networks").change(network, {EXTERNAL: True})

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        _check_target(changes.get("target_tenant", EVERYONE))
        self._refuse_wildcard(actor, changes.get("target_tenant", ""), "update")
        self._refuse_while_used(record)

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        self._refuse_while_used(record)

    def _refuse_wildcard(self, actor: Actor, target: str, action: str) -> None:
        if target == EVERYONE and not actor.admin:
            rules = f"rule:{action}_rbac_policy"
            for name in ("object_type", "object_id", "target_tenant", "action") if action == "create" else (TARGET,):
                rules = f"({rules} and rule:{action}_rbac_policy:{name})"
            raise disallowed_by(rules)

    def _refuse_while_used(self, policy: Record) -> None:
        """409 while a project that has access through this policy alone has ports on the network."""
        if policy["object_type"] != "network" or policy["action"] != "access_as_shared":
            return
        network = self.state.rows["networks"].require(policy["object_id"])
        others = [p for p in self.rows.select(object_id=network["id"], action="access_as_shared") if p is not policy]
        open_to = {p["target_tenant"] for p in others} | {"", network["project_id"]}
        for port in self.state.rows["ports"].select(network_id=network["id"]):
            concerned = policy["target_tenant"] in (EVERYONE, port["project_id"])
            if concerned and EVERYONE not in open_to and port["project_id"] not in open_to:
                raise in_use(
                    "RbacPolicyInUse",
                    f"RBAC policy on object {network['id']} cannot be removed because other objects depend on it.",
                )


def _check_target(target: str) -> None:
    """Refuse a target that cannot be the ID of a project; whether there is such a project is not checked."""
    if target != EVERYONE and re.fullmatch(r"[0-9a-f]{32}", target.replace("-", "").lower()) is None:
        raise invalid_input(f"'{target}' is not a valid target project ID; expected a UUID or '*'.")
