"""The machines that load balancers run on: one for each, as far as it is built."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import NAMESPACE_URL, UUID, uuid5

from openstack_emulator.core.errors import not_found
from openstack_emulator.loadbalancer.records import LoadBalancer
from openstack_emulator.loadbalancer.rules.operators import Offerings
from openstack_emulator.loadbalancer.rules.tables import Tables


@dataclass(frozen=True)
class Amphora:
    """The machine of a load balancer: another one after each failover."""

    balancer: LoadBalancer
    zone: str
    flavor: str | None

    @property
    def id(self) -> str:
        return self._part("amphora")

    @property
    def server_id(self) -> str:
        return self._part("server")

    @property
    def image_id(self) -> str:
        return self._part("image")

    @property
    def address(self) -> str:
        """The address in the network by which amphorae are managed."""
        return f"192.168.0.{2 + UUID(self.balancer.id).int % 250}"

    def _part(self, name: str) -> str:
        return str(uuid5(NAMESPACE_URL, f"{name}/{self.balancer.id}/{self.balancer.failovers}"))


class Amphorae:
    """Finds the machines of load balancers."""

    def __init__(self, tables: Tables, offerings: Offerings) -> None:
        self._tables, self._offerings = tables, offerings

    def all(self) -> list[Amphora]:
        """All machines."""
        return [
            Amphora(
                balancer,
                self._offerings.zone_data(balancer).get("compute_zone", "nova"),
                self._offerings.flavor_data(balancer).get("compute_flavor"),
            )
            for balancer in self._tables.balancers
            if balancer.provisioning_status != "PENDING_CREATE"
        ]

    def require(self, key: str) -> Amphora:
        """A machine. Raises ApiError 404."""
        found = next((amphora for amphora in self.all() if amphora.id == key), None)
        if found is None:
            raise not_found(f"Amphora {key} not found.")
        return found
