"""The drivers of nodes over HTTP."""

from __future__ import annotations

from openstack_emulator.baremetal.rules.access import require_system
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.drivers import DRIVERS
from openstack_emulator.baremetal.views import driver_view
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response

_PROPERTIES = {
    "fake-hardware": {name: f"{name} of the fake vendor interface. Required." for name in ("B1", "B2")},
    **{
        driver: {f"{driver}_{function}": f"The {function} of the management controller."
                 for function in ("address", "username", "password")}
        for driver in ("ipmi", "redfish")
    },
}  # fmt: skip
"""Driver → name in `driver_info` → what it is for."""


def index(service: BareMetal, request: Request) -> Response:
    require_system(request, "baremetal:driver:get", "reader")
    names = [] if request.query.get("type") == "classic" else list(DRIVERS)
    detail = bool(request.query.boolean("detail"))
    return Response({"drivers": [driver_view(request, name, detail) for name in names]})


def _named(request: Request) -> str:
    name = request.vars["driver"]
    if name not in DRIVERS:
        raise ApiError(404, f"Failed to load driver {name}.")
    return name


def show(service: BareMetal, request: Request) -> Response:
    require_system(request, "baremetal:driver:get", "reader")
    return Response(driver_view(request, _named(request), True))


def show_properties(service: BareMetal, request: Request) -> Response:
    require_system(request, "baremetal:driver:get_properties", "reader")
    return Response(dict(_PROPERTIES[_named(request)]))
