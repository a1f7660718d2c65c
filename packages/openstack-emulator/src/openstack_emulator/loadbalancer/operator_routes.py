"""What administrators set up: flavors, availability zones, their profiles, and quotas; and what a cloud offers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Handler, new_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.limits import DEFAULT
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.loadbalancer import checks
from openstack_emulator.loadbalancer.building import PROVIDERS
from openstack_emulator.loadbalancer.kinds import LOAD_BALANCER, NAMED, TEXT, Field, Kind
from openstack_emulator.loadbalancer.lists import listed, trimmed
from openstack_emulator.loadbalancer.records import LoadBalancerRecords

CAPABILITIES = {
    "flavor": {
        "amp_image_tag": "The tag of the image that amphorae are made from.",
        "compute_flavor": "The ID of the compute flavor of amphorae.",
        "loadbalancer_topology": "The load balancer topology. One of: SINGLE - One amphora per load balancer. "
        "ACTIVE_STANDBY - Two amphora per load balancer.",
        "sriov_vip": "Whether the VIP port is an SR-IOV port.",
    },
    "availability_zone": {
        "compute_zone": "The compute availability zone.",
        "management_network": "The ID of the network by which amphorae are managed.",
        "valid_vip_networks": "The IDs of the networks that VIPs may be on.",
        "volume_zone": "The volume availability zone of amphorae.",
    },
}
"""What the profiles of the provider amphora may consist of."""
QUOTA_ALIASES = {"loadbalancer": "load_balancer", "healthmonitor": "health_monitor"}
"""Second names of quotas."""


def _data(what: str) -> Field:
    def check(value: Any) -> str | None:
        try:
            data = json.loads(value) if isinstance(value, str) else None
        except ValueError:
            data = None
        if not isinstance(data, dict):
            return "it must be a string with a JSON object in it"
        if unknown := sorted(data.keys() - CAPABILITIES[what].keys()):
            return f"Additional properties are not allowed ({', '.join(unknown)} unexpected)"
        return None

    return Field(check, required=True)


_ENABLED = NAMED["admin_state_up"]
PROVIDER = Field(checks.one_of(*PROVIDERS), "amphora")
FLAVOR_PROFILE = Kind(
    "flavorprofiles",
    "flavorprofile",
    "flavorprofiles",
    "Flavor profile",
    {"name": Field(TEXT, ""), "provider_name": PROVIDER, "flavor_data": _data("flavor")},
)
FLAVOR = Kind(
    "flavors",
    "flavor",
    "flavors",
    "Flavor",
    {
        "name": Field(checks.text(1), required=True),
        "description": Field(TEXT, ""),
        "enabled": _ENABLED,
        "flavor_profile_id": Field(checks.identifier, required=True, fixed=True),
    },
)
ZONE_PROFILE = Kind(
    "availabilityzoneprofiles",
    "availability_zone_profile",
    "availability_zone_profiles",
    "Availability Zone Profile",
    {"name": Field(TEXT, ""), "provider_name": PROVIDER, "availability_zone_data": _data("availability_zone")},
)
ZONE = Kind(
    "availabilityzones",
    "availability_zone",
    "availability_zones",
    "Availability Zone",
    {
        "name": Field(checks.text(1), required=True, fixed=True),
        "description": Field(TEXT, ""),
        "enabled": _ENABLED,
        "availability_zone_profile_id": Field(checks.identifier, required=True, fixed=True),
    },
)


@dataclass(frozen=True)
class Setup:
    """The routes of one kind of what administrators set up.

    profile_field: the field with the ID of its profile, "" for a profile itself. used: what prevents its deletion.
    open: whether everybody may read it. key: the field that identifies it.
    """

    kind: Kind
    rows: Callable[[LoadBalancerRecords], Collection]
    used: Callable[[LoadBalancerRecords, Record], bool]
    profile_field: str = ""
    open: bool = False
    key: str = "id"

    def routes(self) -> dict[str, dict[str, Handler]]:
        path = f"/{self.kind.path}"
        return {
            path: {"GET": self.index, "POST": self.create},
            f"{path}/{{id}}": {"GET": self.show, "PUT": self.update, "DELETE": self.delete},
        }

    def index(self, records: LoadBalancerRecords, request: Request) -> Response:
        self._may_read(request)
        return listed(request, self.kind.members, [self._view(row) for row in self.rows(records)], self.key)

    def show(self, records: LoadBalancerRecords, request: Request) -> Response:
        self._may_read(request)
        shown = self._view(self.rows(records).require(request.vars["id"]))
        return Response({self.kind.member: trimmed(shown, request.query)})

    def create(self, records: LoadBalancerRecords, request: Request) -> Response:
        request.context.require()
        values = self.kind.values(self.kind.body(request))
        rows = self.rows(records)
        if self.profile_field:
            profiles = records.flavor_profiles if self.kind is FLAVOR else records.zone_profiles
            profiles.require(values[self.profile_field])
            self._check_name(rows, values["name"])
        made = rows.add({**values, "id": values["name"] if self.key == "name" else new_id()})
        return Response({self.kind.member: self._view(made)}, 201)

    def update(self, records: LoadBalancerRecords, request: Request) -> Response:
        request.context.require()
        rows = self.rows(records)
        row = rows.require(request.vars["id"])
        changes = self.kind.changes(self.kind.body(request))
        frozen = changes.keys() - {"name"}
        if not self.profile_field and frozen and self.used(records, row):
            raise conflict(f"{self.kind.title} {row['id']} is in use and cannot be modified.")
        if self.profile_field and changes.get("name", row["name"]) != row["name"]:
            self._check_name(rows, changes["name"])
        rows.update(row, **changes)
        return Response({self.kind.member: self._view(row)})

    def delete(self, records: LoadBalancerRecords, request: Request) -> Response:
        request.context.require()
        row = self.rows(records).require(request.vars["id"])
        if self.used(records, row):
            raise conflict(f"{self.kind.title} {row['id']} is in use and cannot be deleted.")
        self.rows(records).remove(row)
        return Response(status=204)

    def _may_read(self, request: Request) -> None:
        if not self.open:
            request.context.require()

    def _check_name(self, rows: Collection, name: str) -> None:
        if rows.first(name=name) is not None:
            raise conflict(f"A {self.kind.title} of {name} already exists.")

    def _view(self, row: Record) -> Record:
        return {name: row[name] for name in (self.key, *self.kind.fields)}


def _balancers_with(records: LoadBalancerRecords, **equals: str) -> bool:
    return bool(records.rows[LOAD_BALANCER].select(**equals))


SETUPS = (
    Setup(
        FLAVOR,
        lambda records: records.flavors,
        lambda records, row: _balancers_with(records, flavor_id=row["id"]),
        "flavor_profile_id",
        open=True,
    ),
    Setup(
        FLAVOR_PROFILE,
        lambda records: records.flavor_profiles,
        lambda records, row: bool(records.flavors.select(flavor_profile_id=row["id"])),
    ),
    Setup(
        ZONE,
        lambda records: records.zones,
        lambda records, row: _balancers_with(records, availability_zone=row["name"]),
        "availability_zone_profile_id",
        open=True,
        key="name",
    ),
    Setup(
        ZONE_PROFILE,
        lambda records: records.zone_profiles,
        lambda records, row: bool(records.zones.select(availability_zone_profile_id=row["id"])),
    ),
)


# -- quotas --------------------------------------------------------------------------------------------------------


def _limits_view(limits: dict[str, int]) -> dict[str, Any]:
    return {**limits, **{alias: limits[name] for name, alias in QUOTA_ALIASES.items()}}


def _quota_view(records: LoadBalancerRecords, project_id: str) -> dict[str, Any]:
    own = _limits_view(records.quotas.limits_of(project_id))
    return {**own, "project_id": project_id, "tenant_id": project_id}


def list_quotas(records: LoadBalancerRecords, request: Request) -> Response:
    request.context.require()
    projects = [row["id"] for row in records.quotas.rows if row["id"] != DEFAULT]
    rows = [_quota_view(records, key) for key in projects]
    return listed(request, "quotas", rows, "project_id")


def show_quota(records: LoadBalancerRecords, request: Request) -> Response:
    key = request.vars["project_id"]
    if not request.context.is_admin and key != request.context.project_id:
        raise forbidden("Policy does not allow this request to be performed.")
    return Response({"quota": _quota_view(records, key)})


def show_default_quota(records: LoadBalancerRecords, request: Request) -> Response:
    return Response({"quota": _limits_view(records.quotas.default_limits())})


def update_quota(records: LoadBalancerRecords, request: Request) -> Response:
    request.context.require()
    names = {alias: name for name, alias in QUOTA_ALIASES.items()}
    initial = records.quotas.initial()
    changes: dict[str, int] = {}
    for given, value in request.object("quota").items():
        name = names.get(given, given)
        if name not in initial:
            raise bad_request(f"Unknown attribute for argument quota: {given}")
        if value is not None and (problem := checks.integer(-1, 2_147_483_647)(value)) is not None:
            raise checks.refused(given, value, problem)
        number = fields.as_integer(value)
        changes[name] = initial[name] if number is None else number
    key = request.vars["project_id"]
    records.quotas.set_limits(key, changes)
    return Response({"quota": _quota_view(records, key)}, 202)


def reset_quota(records: LoadBalancerRecords, request: Request) -> Response:
    request.context.require()
    records.quotas.reset_limits(request.vars["project_id"])
    return Response(status=202)


# -- what the cloud offers -----------------------------------------------------------------------------------------


def list_providers(records: LoadBalancerRecords, request: Request) -> Response:
    rows = [{"name": name, "description": description} for name, description in PROVIDERS.items()]
    return listed(request, "providers", rows, "name")


def _capabilities(what: str) -> Handler:
    def show(records: LoadBalancerRecords, request: Request) -> Response:
        request.context.require()
        if request.vars["provider"] not in PROVIDERS:
            raise bad_request(f"Provider '{request.vars['provider']}' is not enabled.")
        rows = [{"name": name, "description": description} for name, description in CAPABILITIES[what].items()]
        return listed(request, f"{what}_capabilities", rows, "name")

    return show


def _amphorae(records: LoadBalancerRecords) -> list[Record]:
    """The one machine that each load balancer runs on, as far as it is built."""
    return [
        {
            "id": _machine(row, "amphora"),
            "compute_id": _machine(row, "server"),
            "lb_network_ip": f"192.168.0.{2 + UUID(row['id']).int % 250}",
            "vrrp_interface": None,
            "vrrp_id": 1,
            "vrrp_priority": None,
            "cert_expiration": None,
            "cert_busy": False,
            "cached_zone": _zone_data(records, row).get("compute_zone", "nova"),
            "image_id": _machine(row, "image"),
            "compute_flavor": _flavor_data(records, row).get("compute_flavor"),
            "loadbalancer_id": row["id"],
            "status": "ALLOCATED",
            "role": "STANDALONE",
            "ha_ip": row["vip_address"],
            "ha_port_id": row["vip_port_id"],
            "vrrp_ip": row["vip_address"],
            "vrrp_port_id": row["vip_port_id"],
            "created_at": row["created_at"],
            "updated_at": row["updated_at"],
        }
        for row in records.rows[LOAD_BALANCER]
        if row["provisioning_status"] != "PENDING_CREATE"
    ]


def _flavor_data(records: LoadBalancerRecords, balancer: Record) -> dict[str, Any]:
    """The data of the flavor of a load balancer."""
    flavor = records.flavors.get(balancer["flavor_id"] or "")
    return {} if flavor is None else _parsed(records.flavor_profiles.require(flavor["flavor_profile_id"]), "flavor")


def _zone_data(records: LoadBalancerRecords, balancer: Record) -> dict[str, Any]:
    """The data of the availability zone of a load balancer."""
    zone = records.zones.get(balancer["availability_zone"] or "")
    if zone is None:
        return {}
    return _parsed(records.zone_profiles.require(zone["availability_zone_profile_id"]), "availability_zone")


def _parsed(profile: Record, what: str) -> dict[str, Any]:
    return dict(json.loads(profile[f"{what}_data"]))


def _machine(balancer: Record, part: str) -> str:
    """The ID of a part of the machine that a load balancer runs on; another one after each failover."""
    return str(uuid5(NAMESPACE_URL, f"{part}/{balancer['id']}/{balancer.get('_failovers', 0)}"))


def list_amphorae(records: LoadBalancerRecords, request: Request) -> Response:
    request.context.require()
    return listed(request, "amphorae", _amphorae(records))


def show_amphora(records: LoadBalancerRecords, request: Request) -> Response:
    return Response({"amphora": _amphora(records, request)})


def fail_over_amphora(records: LoadBalancerRecords, request: Request) -> Response:
    """Replace an amphora."""
    balancer = records.rows[LOAD_BALANCER].require(_amphora(records, request)["loadbalancer_id"])
    records.fail_over(balancer)
    return Response(status=202)


def configure_amphora(records: LoadBalancerRecords, request: Request) -> Response:
    """Make an amphora's agent read its configuration again, which changes nothing here."""
    _amphora(records, request)
    return Response(status=202)


def _amphora(records: LoadBalancerRecords, request: Request) -> Record:
    """The amphora in the URL, for administrators. Raises ApiError 403 and 404."""
    request.context.require()
    key = request.vars["id"]
    found = next((row for row in _amphorae(records) if row["id"] == key), None)
    if found is None:
        raise not_found(f"Amphora {key} not found.")
    return found


_AMPHORA_ROUTES: dict[str, dict[str, Handler]] = {
    "": {"GET": list_amphorae},
    "/{id}": {"GET": show_amphora},
    "/{id}/failover": {"PUT": fail_over_amphora},
    "/{id}/config": {"PUT": configure_amphora},
}
AMPHORAE = {
    f"{prefix}/octavia/amphorae{path}": handlers
    for prefix in ("/v2", "/v2.0")
    for path, handlers in _AMPHORA_ROUTES.items()
}
"""The routes of the machines that load balancers run on, which stand beside those of load balancing."""


def setups() -> dict[str, dict[str, Handler]]:
    """The routes of what administrators set up, and of what the cloud offers."""
    routes: dict[str, dict[str, Handler]] = {}
    for setup in SETUPS:
        routes |= setup.routes()
    return {
        **routes,
        "/quotas": {"GET": list_quotas},
        "/quotas/defaults": {"GET": show_default_quota},
        "/quotas/{project_id}/default": {"GET": show_default_quota},
        "/quotas/{project_id}": {"GET": show_quota, "PUT": update_quota, "DELETE": reset_quota},
        "/providers": {"GET": list_providers},
        "/providers/{provider}/flavor_capabilities": {"GET": _capabilities("flavor")},
        "/providers/{provider}/availability_zone_capabilities": {"GET": _capabilities("availability_zone")},
    }
