"""All routes of the reservation service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.http import Request, Response
from openstack_emulator.reservation.routes import addresses, hosts, leases
from openstack_emulator.reservation.rules.composition import Reservations

Routes = Mapping[str, Mapping[str, Callable[[Reservations, Request], Response]]]
ROUTES: Routes = {
    "/floatingips": {"GET": addresses.index, "POST": addresses.create},
    "/floatingips/allocations": {"GET": addresses.list_allocations},
    "/floatingips/{address_id}": {"GET": addresses.show, "DELETE": addresses.delete},
    "/leases": {"GET": leases.index, "POST": leases.create},
    "/leases/{lease_id}": {"GET": leases.show, "PUT": leases.change, "DELETE": leases.delete},
    "/os-hosts": {"GET": hosts.index, "POST": hosts.create},
    "/os-hosts/allocations": {"GET": hosts.list_allocations},
    "/os-hosts/properties": {"GET": hosts.list_properties},
    "/os-hosts/properties/{name}": {"PATCH": hosts.change_property},
    "/os-hosts/{host_id}": {"GET": hosts.show, "PUT": hosts.change, "DELETE": hosts.delete},
    "/os-hosts/{host_id}/allocation": {"GET": hosts.show_allocation},
}
