"""Client plug-ins by name: those that packages offer in `heat.clients`, and those of OpenStack's usual services."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any

GROUP = "heat.clients"


@cache
def _offered() -> dict[str, metadata.EntryPoint]:
    return {found.name: found for found in metadata.entry_points(group=GROUP)}


def has_client(name: str) -> bool:
    """Return whether there is a client plug-in with this name."""
    from stoker_heat_plugins.openstack_clients import BUILTIN

    return name in _offered() or name in BUILTIN


@cache
def client_plugin_class(name: str) -> Any:
    """Return the class of the client plug-in with this name. Raises LookupError if no package offers one."""
    from stoker_heat_plugins.openstack_clients import BUILTIN, OpenStackClientPlugin

    if name in _offered():
        return _offered()[name].load()
    if name == "neutron":
        from heat.engine.clients.os.neutron import NeutronClientPlugin

        return NeutronClientPlugin
    if name in BUILTIN:
        return type(f"{name.title()}ClientPlugin", (OpenStackClientPlugin,), {"service": name})
    raise LookupError(
        f"no installed package offers a client plug-in {name!r} (entry points {GROUP}); known are "
        f"{', '.join(sorted({*_offered(), *BUILTIN}))}"
    )


def forget() -> None:
    """Read the entry points again when they are needed next."""
    _offered.cache_clear()
    client_plugin_class.cache_clear()
