"""Objects as clients see them, by microversion."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.baremetal.records import BareMetalRecord
from openstack_emulator.baremetal.rules.drivers import DRIVERS, HOST
from openstack_emulator.baremetal.rules.fields import ObjectKind
from openstack_emulator.baremetal.rules.kinds import INTERFACES
from openstack_emulator.core.http import Request, Version

View = dict[str, object]


def links(request: Request, path: str, key: str) -> list[dict[str, str]]:
    """The links of an object."""
    return [
        {"href": f"{request.base}/v1/{path}/{key}", "rel": "self"},
        {"href": f"{request.base}/{path}/{key}", "rel": "bookmark"},
    ]


def shown(request: Request, kind: ObjectKind, record: BareMetalRecord, names: Iterable[str] | None = None) -> View:
    """The fields that exist in the request's version; only those in `names`, if given, and links."""
    known = [name for name, field in kind.fields.items() if field.since <= request.version and not field.write_only]
    chosen = known if names is None else [name for name in known if name in names]
    below = {
        name: links(request, kind.path, f"{record.uuid}/{name}")
        for name, since in kind.below.items()
        if names is None and since <= request.version
    }
    return {**values(kind, record, chosen, request.version), **below, "links": links(request, kind.path, record.uuid)}


def values(kind: ObjectKind, record: BareMetalRecord, names: Iterable[str], version: Version) -> View:
    """Fields of an object as requests of a version see them."""
    return {name: kind.fields[name].visible(version, record.get(name)) for name in names}


def driver_view(request: Request, name: str, detail: bool) -> View:
    """A driver; `detail` adds the implementations of each interface."""
    view: View = {
        "name": name,
        "hosts": [HOST],
        "links": [{"href": f"{request.base}/v1/drivers/{name}", "rel": "self"}],
    }
    if request.version < (1, 30):
        return view
    interfaces = DRIVERS[name]
    known = [interface for interface, since in INTERFACES.items() if detail and request.version >= since]
    return {
        **view,
        "type": "dynamic",
        **{f"default_{interface}_interface": interfaces[interface][0] for interface in known},
        **{f"enabled_{interface}_interfaces": list(interfaces[interface]) for interface in known},
    }


def conductor_view(request: Request, created_at: str, now: str) -> View:
    """The conductor."""
    return {
        "hostname": HOST,
        "conductor_group": "",
        "alive": True,
        "drivers": list(DRIVERS),
        "created_at": created_at,
        "updated_at": now,
        "links": links(request, "conductors", HOST),
    }
