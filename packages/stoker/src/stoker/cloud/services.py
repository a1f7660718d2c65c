"""Services as data: catalog names, versions, microversion headers.

The names of OpenStack's services are those of Heat's client plug-ins. Packages offer further services by entry points
in the group `stoker.services`: mappings from names to `Service` objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.extensions import PluginInvalid, remembered, table

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Microversions:
    """How the API microversion of a call is sent to a service.

    `headers` are pairs of a header's name and its value, with `{}` for the version. `newest` is the highest version
    that Stoker supports: the highest common version is negotiated. For a service with `always`, that version is sent.
    """

    headers: tuple[tuple[str, str], ...]
    newest: str | None = None
    always: str | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """One service. `version` is the path segment that precedes paths that do not contain one themselves.

    `catalog_types` are its types in Keystone's catalog, in the order in which they are looked up. `extension_list` is
    the path of the list of the API's extensions, None for a service without any.
    """

    name: str
    catalog_types: tuple[str, ...]
    version: str = ""
    microversions: Microversions | None = None
    extension_list: str | None = None


_TABLE = (
    Service("aodh", ("alarming",), "v2"),
    Service("barbican", ("key-manager",), "v1"),
    Service("blazar", ("reservation",), "v1"),
    Service(
        "cinder",
        ("volumev3", "block-storage"),
        "v3",
        Microversions((("OpenStack-API-Version", "volume {}"),), newest="3.71"),
        extension_list="/extensions",
    ),
    Service("congress", ("policy",), "v1"),
    Service("designate", ("dns",), "v2"),
    Service("glance", ("image",), "v2"),
    Service("heat", ("orchestration",), "v1"),
    Service("heat-cfn", ("cloudformation",), "v1"),
    Service(
        "ironic",
        ("baremetal",),
        "v1",
        Microversions((("X-OpenStack-Ironic-API-Version", "{}"),), newest="1.99"),
    ),
    Service("keystone", ("identity",), "v3"),
    Service("magnum", ("container-infra",), "v1"),
    Service(
        "manila",
        ("sharev2", "shared-file-system"),
        "v2",
        Microversions((("X-OpenStack-Manila-API-Version", "{}"),), always="2.13"),
    ),
    Service("mistral", ("workflowv2", "workflow"), "v2"),
    Service("murano", ("application-catalog",), "v1"),
    Service("neutron", ("network",), "v2.0", extension_list="/v2.0/extensions"),
    Service(
        "nova",
        ("compute",),
        "v2.1",
        Microversions(
            (("OpenStack-API-Version", "compute {}"), ("X-OpenStack-Nova-API-Version", "{}")),
            newest="2.96",
        ),
        extension_list="/extensions",
    ),
    Service("octavia", ("load-balancer",), "v2.0"),
    Service("openstack", ("network",), "v2.0"),
    Service(
        "placement", ("placement",), "", Microversions((("OpenStack-API-Version", "placement {}"),), always="1.29")
    ),
    Service("swift", ("object-store",), "v1"),
    Service("trove", ("database",), "v1.0"),
    Service("zaqar", ("messaging",), "v2"),
    Service("zun", ("container",), "v1", Microversions((("OpenStack-API-Version", "container {}"),), always="1.12")),
)

OPENSTACK: Mapping[str, Service] = {service.name: service for service in _TABLE}
"""The services of OpenStack."""


@remembered
def services() -> Mapping[str, Service]:
    """Return the services that the installed packages offer, by name. Raises PluginInvalid."""
    found = table("stoker.services", Service)
    problems = [
        f"the service {name!r} is offered under another name than its own, {service.name!r}"
        for name, service in found.items()
        if name != service.name
    ]
    if problems:
        raise PluginInvalid(problems)
    return found


def parse_version(text: str) -> Version:
    """Parse `2.96` as `(2, 96)`; raises ValueError for other formats."""
    return tuple(int(part) for part in text.split("."))


def show_version(version: Version) -> str:
    """Format `(2, 96)` as `2.96`."""
    return ".".join(str(part) for part in version)


def offered_versions(body: object, headers: Any, major: str) -> tuple[Version, Version] | None:
    """Return the oldest and newest microversion in a version document (or Ironic's headers); None without any.

    `major` is the path segment (`v2.1`), which selects the entry in a document that lists several versions.
    """
    newest = headers.get("X-OpenStack-Ironic-API-Maximum-Version")
    oldest = headers.get("X-OpenStack-Ironic-API-Minimum-Version")
    if newest and oldest:
        return parse_version(oldest), parse_version(newest)
    if not isinstance(body, dict):
        return None
    listed = body.get("versions")
    entries = listed if isinstance(listed, list) else [body.get("version")]
    for entry in entries:
        if (
            isinstance(entry, dict)
            and entry.get("version")
            and parse_version_id(entry["id"]) == parse_version_id(major)
        ):
            return parse_version(entry["min_version"]), parse_version(entry["version"])
    return None


def parse_version_id(identifier: str) -> Version:
    """Parse a version's ID without trailing zeros: `v3` and `v3.0` are both `(3,)`."""
    version = list(parse_version(identifier.lstrip("v")))
    while len(version) > 1 and version[-1] == 0:
        version.pop()
    return tuple(version)


def identity_url(url: str) -> str:
    """Return Keystone's URL with the API version, without a trailing slash."""
    url = url.rstrip("/")
    for version in ("/v2.0", "/v3"):
        url = url.removesuffix(version)
    return f"{url}/v3"
