"""Segments: what networks are made of, and the numbers that tell their packets apart."""

from __future__ import annotations

from typing import NamedTuple

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, conflict
from openstack_emulator.network.records.core import Network, Segment
from openstack_emulator.network.rules.errors import invalid_input
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.resources import Resources, State

TUNNEL = "vxlan"
PHYSICAL_TYPES = frozenset({"flat", "vlan"})
LAST_VLAN = 4094


class ProviderSegment(NamedTuple):
    """Where the packets of a segment go."""

    network_type: str
    physical_network: str | None
    segmentation_id: int | None


class Segments(Resources[Segment]):
    """Each network begins with the segment its provider attributes name; an admin may add more."""

    def __init__(self, state: State, kind: ResourceKind[Segment]) -> None:
        super().__init__(state, kind)
        self._latest: dict[str, int] = {}

    def visible(self, actor: Actor, record: Segment) -> bool:
        return actor.admin

    def prepare_create(self, actor: Actor, draft: Segment, values: Values) -> None:
        chosen = self.choose(draft.network_type, draft.physical_network, draft.segmentation_id)
        draft.network_type, draft.physical_network, draft.segmentation_id = chosen

    def choose(self, kind: str | None, physical: str | None, number: int | None) -> ProviderSegment:
        """Where packets go, with a free number where the type has one and none is given.

        Raises: ApiError 400 for values that do not go together, 409 for a number in use.
        """
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
        return ProviderSegment(kind, physical, number)

    def put_first(self, network: Network) -> None:
        """Take in the segment that a new network's provider attributes name."""
        self.put(
            Segment(
                id=new_id(),
                name=None,
                description=None,
                tags=[],
                network_id=network.id,
                project_id=network.project_id,
                network_type=network.network_type,
                physical_network=network.physical_network,
                segmentation_id=network.segmentation_id,
            )
        )

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


def _number_in_use(kind: str, physical: str | None, number: int) -> ApiError:
    if kind == "vlan":
        where = f"The VLAN {number} on physical network {physical}"
        return conflict(f"Unable to create the network. {where} is in use.", "VlanIdInUse")
    return conflict(f"Unable to create the network. The tunnel ID {number} is in use.", "TunnelIdInUse")
