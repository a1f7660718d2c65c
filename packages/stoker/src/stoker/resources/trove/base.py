"""What instances and clusters have in common: networks, datastores, statuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import Waiter
from stoker.resources.declare import custom, length
from stoker.resources.wire import without_nulls
from stoker.schema.property import Property, Type
from stoker.schema.unknown import is_unknown

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

SERVICE = "trove"
REASONS = {"FAILED": "the database server could not be set up", "ERROR": "the last operation failed"}
READY = Waiter.until("ACTIVE", "RESTART_REQUIRED", failed=("ERROR", "FAILED"))
"""A server that needs a restart works, with the former values of some parameters."""

_NIC = {"network": "net-id", "port": "port-id", "fixed_ip": "v4-fixed-ip"}


def datastore_type(required: bool = False) -> Property:
    """Declare the property `datastore_type`."""
    return Property(
        description="Kind of database server, such as mysql.", required=required, constraints=length(high=255)
    )


def datastore_version(required: bool = False) -> Property:
    """Declare the property `datastore_version`."""
    return Property(description="Version of the datastore, by name.", required=required, constraints=length(high=255))


def networks(**more: Any) -> Property:
    """Declare the property `networks`."""
    return Property(
        Type.LIST,
        "The networks to which the instance is connected.",
        default=[],
        items=Property(
            Type.MAP,
            "One connection, to a network or at a port.",
            schema={
                "network": Property(description="The network, by name or ID.", reference="neutron.network"),
                "port": Property(description="The port, by name or ID.", reference="neutron.port"),
                "fixed_ip": Property(description="The IPv4 address in the network.", constraints=custom("ip_addr")),
            },
        ),
        **more,
    )


def nics(given: Sequence[Mapping[str, object]] | None) -> list[dict[str, object]]:
    """Return networks as Trove expects them."""
    return [{wire: one[name] for name, wire in _NIC.items() if one.get(name)} for one in given or ()]


def network_problems(given: object, where: str) -> Iterable[str]:
    """Return error messages about networks, of each of which either a network or a port must be given."""
    if not isinstance(given, list):
        return
    for at, one in enumerate(given):
        if is_unknown(one) or not isinstance(one, Mapping):
            continue
        number = sum(one.get(name) is not None for name in ("network", "port"))
        if number == 0:
            yield f"{where}[{at}] must have network or port"
        elif number == 2:
            yield f"{where}[{at}] must not have both network and port"


async def datastore_problems(properties: Mapping[str, Any], cloud: Cloud) -> list[str]:
    """Return an error message when Trove does not have the datastore or its version."""
    store, version = properties.get("datastore_type"), properties.get("datastore_version")
    if store is None or is_unknown(store):
        return []
    path = f"/datastores/{quote(store, safe='')}"
    if (await cloud.request("GET", SERVICE, path, ok=(404,))).status == 404:
        return [f"datastore_type: there is no datastore {store!r}"]
    names = [str(one["name"]) for one in await cloud.list(SERVICE, f"{path}/versions", "versions")]
    if version is None or is_unknown(version) or version in names:
        return []
    return [
        f"datastore_version: the datastore {store!r} has no version {version!r}; "
        f"its versions are {', '.join(names) or 'none'}"
    ]


def datastore(properties: Mapping[str, object]) -> dict[str, object]:
    """Return the datastore as Trove expects it."""
    return without_nulls({"type": properties.get("datastore_type"), "version": properties.get("datastore_version")})


def reason(instance: Mapping[str, Any]) -> str | None:
    """Return why an instance is in its status: the fault that Trove shows, or the meaning of the status."""
    fault = instance.get("fault") or {}
    return fault.get("message") or REASONS.get(str(instance.get("status")))


def ready(instance: Mapping[str, Any], elapsed: float | None) -> Outcome:
    """Evaluate the status of an instance."""
    return READY.outcome(instance.get("status"), reason(instance), elapsed)
