"""Resolution of names to IDs: how to look up each kind of object, as data.

A finder is a list of look-ups, tried in order until one finds the value. `resolve` of a property and every constraint
that calls a service refer to a finder by its name. Packages offer further finders by entry points in the group
`stoker.finders`: mappings from names to `Finder` objects.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote

from stoker.base.errors import CloudError, Unconfirmed
from stoker.base.extensions import PluginInvalid, remembered, table
from stoker.cloud.errors import Ambiguous, NotNamed
from stoker.cloud.services import services
from stoker_foundation.clock import Clock

_MOST_NAMES = 50
_IN_DOMAIN = re.compile(r"(?P<name>.+)\{(?P<domain>[^{}]+)\}")


Found = Mapping[str, object]
"""An object as a service lists it."""


class Reader(Protocol):
    """The part of `Cloud` that finders use."""

    @property
    def project_id(self) -> str | None: ...

    async def get(
        self, service: str, path: str, *, params: Mapping[str, object] | None = None, ok: object = ()
    ) -> Any: ...

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, object] | None = None
    ) -> list[Any]: ...

    async def find(self, kind: str, value: str) -> str: ...


class Lookup(Protocol):
    """One way to look up an object."""

    async def candidates(self, cloud: Reader, finder: Finder, value: str, scope: Mapping[str, object]) -> list[Found]:
        """Return the objects that `value` may refer to; `scope` narrows a search by name (`domain_id`)."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """`GET <collection>/<value>`; 404 (and 400, for values that are not a valid ID of the service) means none."""

    only_uuid: bool = False

    async def candidates(self, cloud: Reader, finder: Finder, value: str, scope: Mapping[str, object]) -> list[Found]:
        if self.only_uuid and not is_uuid(value):
            return []
        body = await cloud.get(finder.service, f"{finder.path}/{quote(value, safe='')}", ok=(400, 404))
        found = body.get(finder.member, None) if finder.member and isinstance(body, dict) else body
        return [found] if isinstance(found, dict) and finder.id_field in found else []


@dataclass(frozen=True, slots=True)
class Search:
    """`GET <collection>?<field>=<value>`; with `exact`, results that do not have the value are ignored.

    `first` selects the first of several; `mine` searches the caller's project only.
    """

    field: str
    only_uuid: bool = False
    exact: bool = True
    first: bool = False
    mine: bool = False

    async def candidates(self, cloud: Reader, finder: Finder, value: str, scope: Mapping[str, object]) -> list[Found]:
        if self.only_uuid and not is_uuid(value):
            return []
        params = {**finder.params, **scope, self.field: value}
        if self.mine and cloud.project_id:
            params["project_id"] = cloud.project_id
        listed = await cloud.list(finder.service, finder.path, finder.members, params)
        found = [item for item in listed if not self.exact or item.get(self.field, value) == value]
        return found[:1] if self.first else found


@dataclass(frozen=True, slots=True)
class Scan:
    """List the whole collection, and compare here."""

    field: str

    async def candidates(self, cloud: Reader, finder: Finder, value: str, scope: Mapping[str, object]) -> list[Found]:
        listed = await cloud.list(finder.service, finder.path, finder.members, finder.params)
        return [item for item in listed if item.get(self.field) == value]


@dataclass(frozen=True, slots=True)
class Finder:
    """How to find one kind of object.

    `path`, `member` (the key around one object) and `members` (the key of the list) are the location, `lookups` the
    ways to search, `id_field` is the field of the result. `params` are sent with every list. `extension` must be loaded
    in the service. A value of a `domain_scoped` kind may end in `{domain}`. For a `reference` (a URL) the last segment
    is looked up, and the result is the value itself. `catalog` is for kinds of which a cloud has a few with well-known
    names (flavors): these are listed when a name is wrong.
    """

    service: str
    path: str
    lookups: tuple[Lookup, ...]
    members: str = ""
    member: str = ""
    id_field: str = "id"
    params: Mapping[str, object] = field(default_factory=dict)
    extension: str | None = None
    domain_scoped: bool = False
    reference: bool = False
    catalog: bool = False

    async def known_names(self, cloud: Reader) -> list[str]:
        """Return the names of the first objects of a catalog; none for other kinds, and if they cannot be listed."""
        if not self.catalog:
            return []
        try:
            body = await cloud.get(self.service, self.path, params={"limit": _MOST_NAMES})
        except CloudError:
            return []
        names = [item.get("name") for item in body.get(self.members) or ()]
        return [name for name in names if isinstance(name, str) and name]

    async def find(self, cloud: Reader, kind: str, value: str) -> str:
        """Return the ID of the object with the name or ID `value`. Raises NotNamed, Ambiguous and Unconfirmed."""
        name, scope = value, {}
        if self.domain_scoped and (parts := _IN_DOMAIN.fullmatch(value)):
            name, scope = parts["name"], {"domain_id": await cloud.find("keystone.domain", parts["domain"])}
        if self.reference:
            name = value.rstrip("/").rpartition("/")[2]
        unconfirmed: Unconfirmed | None = None
        for lookup in self.lookups if name else ():
            try:
                found = await lookup.candidates(cloud, self, name, scope)
            except Unconfirmed as error:  # another look-up may know it: a name is often no valid ID
                unconfirmed = error
                continue
            unconfirmed = None
            identifiers = list(dict.fromkeys(str(item[self.id_field]) for item in found))
            if len(identifiers) > 1:
                raise Ambiguous(self.service, kind, value, identifiers)
            if identifiers:
                return value if self.reference else identifiers[0]
        if unconfirmed is not None:
            raise unconfirmed
        raise NotNamed(self.service, kind, value)


def is_uuid(value: str) -> bool:
    """Return whether the string has the format of a UUID, with or without hyphens."""
    try:
        return str(uuid.UUID(value)).replace("-", "") == value.replace("-", "").lower()
    except ValueError:
        return False


_ID_THEN_NAME: tuple[Lookup, ...] = (Search("id", only_uuid=True), Search("name"))


def _neutron(members: str, lookups: tuple[Lookup, ...] = _ID_THEN_NAME, path: str = "", **rest: Any) -> Finder:
    return Finder("neutron", path or f"/v2.0/{members}", lookups, members, params={"fields": ["id", "name"]}, **rest)


def _chaining(members: str, extension: str, member: str) -> Finder:
    return Finder(
        "neutron", f"/v2.0/{extension}/{members}", (Fetch(), Scan("name")), members, member, extension=extension
    )


def _sdk(members: str, member: str, by_name: Lookup) -> Finder:
    return Finder("openstack", f"/v2.0/{members}", (Fetch(), by_name), members, member)


def _keystone(members: str, member: str, by_name: Lookup | None, **rest: Any) -> Finder:
    lookups: tuple[Lookup, ...] = (Fetch(), by_name) if by_name else (Fetch(),)
    return Finder("keystone", f"/{members}", lookups, members, member, **rest)


def _octavia(path: str, members: str, member: str, id_field: str = "id") -> Finder:
    return Finder("octavia", f"/lbaas/{path}", (Fetch(), Search("name")), members, member, id_field)


def _manila(path: str, members: str, **rest: Any) -> Finder:
    return Finder("manila", path, (Scan("id"), Scan("name")), members, **rest)


def _by_id(service: str, path: str, member: str, **rest: Any) -> Finder:
    return Finder(service, path, (Fetch(),), member=member, **rest)


_SEGMENT = _sdk("segments", "segment", Search("name"))
_VOLUME_TYPE = Finder(
    "cinder", "/types", (Scan("id"), Scan("name")), "volume_types", params={"is_public": "None"}, catalog=True
)
_SECURITY_GROUP = (Search("id", only_uuid=True), Search("name", mine=True), Search("name"))
_TAP_SERVICE = _chaining("tap_services", "taas", "tap_service")
_TAP_FLOW = _chaining("tap_flows", "taas", "tap_flow")

OPENSTACK: Mapping[str, Finder] = {
    "barbican.container": _by_id("barbican", "/v1/containers", "", id_field="container_ref", reference=True),
    "barbican.secret": _by_id("barbican", "/v1/secrets", "", id_field="secret_ref", reference=True),
    "blazar.reservation": _by_id("blazar", "/leases", "lease"),
    "cinder.backup": _by_id("cinder", "/backups", "backup"),
    "cinder.qos_specs": Finder("cinder", "/qos-specs", (Fetch(), Scan("name")), "qos_specs", "qos_specs"),
    "cinder.snapshot": _by_id("cinder", "/snapshots", "snapshot"),
    "cinder.volume": _by_id("cinder", "/volumes", "volume"),
    "cinder.volume_type": _VOLUME_TYPE,
    "congress.policy": Finder("congress", "/policies", (Scan("id"), Scan("name")), "results"),
    "designate.zone": Finder("designate", "/v2/zones", (Fetch(only_uuid=True), Search("name")), "zones"),
    "glance.image": Finder(
        "glance", "/v2/images", (Fetch(only_uuid=True), Search("name")), "images", params={"limit": 200}, catalog=True
    ),
    "ironic.node": _by_id("ironic", "/v1/nodes", "", id_field="uuid"),
    "ironic.portgroup": _by_id("ironic", "/v1/portgroups", "", id_field="uuid"),
    "keystone.domain": _keystone("domains", "domain", Search("name", first=True)),
    "keystone.group": _keystone("groups", "group", Search("name", first=True), domain_scoped=True),
    "keystone.project": _keystone("projects", "project", Search("name", first=True), domain_scoped=True),
    "keystone.region": _keystone("regions", "region", None),
    "keystone.role": _keystone("roles", "role", Search("name", first=True), domain_scoped=True),
    "keystone.service": _keystone("services", "service", Search("name")),
    "keystone.user": _keystone("users", "user", Search("name", exact=False), domain_scoped=True),
    "magnum.cluster_template": _by_id("magnum", "/v1/clustertemplates", "", id_field="uuid"),
    "manila.security_service": _manila("/security-services", "security_services"),
    "manila.share_network": _manila("/share-networks", "share_networks"),
    "manila.share_snapshot": _manila("/snapshots", "snapshots"),
    "manila.share_type": _manila("/types", "share_types", params={"is_public": "all"}),
    "mistral.workflow": _by_id("mistral", "/workflows", ""),
    "murano.category": Finder(
        "murano", "/catalog/categories", (Scan("name"), Scan("id")), "categories", id_field="name"
    ),
    "murano.environment": Finder("murano", "/environments", (Scan("id"), Scan("name")), "environments"),
    "murano.package": Finder("murano", "/catalog/packages", (Scan("id"), Scan("fully_qualified_name")), "packages"),
    "neutron.address_scope": _neutron("address_scopes", path="/v2.0/address-scopes", extension="address-scope"),
    "neutron.flow_classifier": _chaining("flow_classifiers", "sfc", "flow_classifier"),
    "neutron.lbaas.listener": _neutron("listeners", path="/v2.0/lbaas/listeners", extension="lbaasv2"),
    "neutron.lbaas.loadbalancer": _neutron("loadbalancers", path="/v2.0/lbaas/loadbalancers", extension="lbaasv2"),
    "neutron.lbaas.pool": _neutron("pools", path="/v2.0/lbaas/pools", extension="lbaasv2"),
    "neutron.lbaas.provider": Finder(
        "neutron",
        "/v2.0/service-providers",
        (Scan("name"),),
        "service_providers",
        id_field="name",
        params={"service_type": "LOADBALANCERV2"},
        extension="lbaasv2",
    ),
    "neutron.network": _neutron("networks", catalog=True),
    "neutron.port": _neutron("ports"),
    "neutron.port_pair": _chaining("port_pairs", "sfc", "port_pair"),
    "neutron.port_pair_group": _chaining("port_pair_groups", "sfc", "port_pair_group"),
    "neutron.qos_policy": _neutron("policies", path="/v2.0/qos/policies", extension="qos"),
    "neutron.router": _neutron("routers"),
    "neutron.security_group": _neutron("security_groups", _SECURITY_GROUP, path="/v2.0/security-groups"),
    "neutron.segment": _SEGMENT,
    "neutron.subnet": _neutron("subnets"),
    "neutron.subnetpool": _neutron("subnetpools"),
    "neutron.tap_flow": _TAP_FLOW,
    "neutron.tap_service": _TAP_SERVICE,
    "nova.flavor": Finder(
        "nova",
        "/flavors",
        (Fetch(), Scan("name"), Scan("id")),
        "flavors",
        "flavor",
        params={"is_public": "None"},
        catalog=True,
    ),
    "nova.host": Finder(
        "nova",
        "/os-hypervisors",
        (Search("hypervisor_hostname_pattern", exact=False, first=True),),
        "hypervisors",
        id_field="hypervisor_hostname",
    ),
    "nova.keypair": _by_id("nova", "/os-keypairs", "keypair", id_field="name"),
    "nova.server": _by_id("nova", "/servers", "server"),
    "octavia.availabilityzone": _octavia("availabilityzones", "availability_zones", "availability_zone", "name"),
    "octavia.availabilityzoneprofile": _octavia(
        "availabilityzoneprofiles", "availability_zone_profiles", "availability_zone_profile"
    ),
    "octavia.flavor": _octavia("flavors", "flavors", "flavor"),
    "octavia.flavorprofile": _octavia("flavorprofiles", "flavorprofiles", "flavorprofile"),
    "octavia.l7policy": _octavia("l7policies", "l7policies", "l7policy"),
    "octavia.listener": _octavia("listeners", "listeners", "listener"),
    "octavia.loadbalancer": _octavia("loadbalancers", "loadbalancers", "loadbalancer"),
    "octavia.pool": _octavia("pools", "pools", "pool"),
    "openstack.network_ip": _sdk("floatingips", "floatingip", Scan("floating_ip_address")),
    "openstack.network_port": _sdk("ports", "port", Search("name")),
    "openstack.network_segment": _SEGMENT,
    # Trove shows `id` only for numbers.
    "trove.flavor": Finder("trove", "/flavors", (Fetch(), Scan("name")), "flavors", "flavor", id_field="str_id"),
}
"""How objects of OpenStack's services are found."""


@remembered
def finders() -> Mapping[str, Finder]:
    """Return the finders that the installed packages offer, by name. Raises PluginInvalid."""
    found = table("stoker.finders", Finder)
    problems = [
        f"the finder {name!r} needs the service {finder.service!r}, which no installed package offers"
        for name, finder in found.items()
        if finder.service not in services()
    ]
    if problems:
        raise PluginInvalid(problems)
    return found


_MOST_KEPT = 4096


class FoundNames:
    """The results of finders with one credential, each for `seconds`; equal concurrent look-ups share one request."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._found: dict[tuple[str, str], tuple[float, asyncio.Future[str]]] = {}

    async def find(self, cloud: Reader, kind: str, value: str) -> str:
        """Return the ID of the object of a kind with the name or ID `value`. Raises NotNamed and Ambiguous."""
        now = self._clock.now()
        known = self._found.get((kind, value))
        if known is None or (known[0] <= now and known[1].done()):
            known = self._ask(cloud, kind, value, now)
        return await asyncio.shield(known[1])

    def _ask(self, cloud: Reader, kind: str, value: str, now: float) -> tuple[float, asyncio.Future[str]]:
        def answered(question: asyncio.Future[str]) -> None:
            if question.cancelled() or question.exception() is not None:
                self._found.pop((kind, value), None)

        self._forget_old(now)
        question = asyncio.ensure_future(finders()[kind].find(cloud, kind, value))
        question.add_done_callback(answered)
        entry = self._found[kind, value] = (now + self._seconds, question)
        return entry

    def _forget_old(self, now: float) -> None:
        if len(self._found) >= _MOST_KEPT:
            self._found = {key: entry for key, entry in self._found.items() if entry[0] > now}
