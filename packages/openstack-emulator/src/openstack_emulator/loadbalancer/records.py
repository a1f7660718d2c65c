"""What the load-balancer service keeps.

A load balancer and everything that belongs to it form a tree; its objects are derived from `Provisioned`. What
administrators set up, flavors and availability zones with their profiles, stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Provisioned(TypedRecord):
    """A load balancer, or an object that belongs to it; `load_balancer_id` of the load balancer is its own ID."""

    project_id: str
    load_balancer_id: str
    created_at: str
    updated_at: str | None
    provisioning_status: str
    admin_state_up: bool
    tags: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class LoadBalancer(Provisioned):
    """A load balancer and the place of its virtual address.

    owns_port: whether the port of the address is deleted with it. failovers: how often what it runs on was replaced.
    """

    name: str
    description: str
    vip_address: str | None
    vip_port_id: str | None
    vip_subnet_id: str | None
    vip_network_id: str | None
    vip_qos_policy_id: str | None
    vip_vnic_type: str
    provider: str
    flavor_id: str | None
    availability_zone: str | None
    owns_port: bool = field(metadata=named("_owns_port"))
    failovers: int = field(metadata=named("_failovers"))


@dataclass(slots=True, kw_only=True, eq=False)
class Listener(Provisioned):
    """A port that a load balancer listens on. Timeouts are in milliseconds."""

    name: str
    description: str
    protocol: str
    protocol_port: int
    connection_limit: int
    default_pool_id: str | None
    default_tls_container_ref: str | None
    sni_container_refs: list[str]
    insert_headers: dict[str, str]
    allowed_cidrs: list[str] | None
    timeout_client_data: int
    timeout_member_connect: int
    timeout_member_data: int
    timeout_tcp_inspect: int
    client_authentication: str
    client_ca_tls_container_ref: str | None
    client_crl_container_ref: str | None
    tls_ciphers: str | None
    tls_versions: list[str] | None
    alpn_protocols: list[str] | None
    hsts_max_age: int | None
    hsts_include_subdomains: bool
    hsts_preload: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Pool(Provisioned):
    """Members that requests are passed on to; `session_persistence` has a `type` and its details."""

    name: str
    description: str
    protocol: str
    lb_algorithm: str
    session_persistence: dict[str, Any] | None
    tls_enabled: bool
    tls_container_ref: str | None
    ca_tls_container_ref: str | None
    crl_container_ref: str | None
    tls_ciphers: str | None
    tls_versions: list[str] | None
    alpn_protocols: list[str] | None


@dataclass(slots=True, kw_only=True, eq=False)
class Member(Provisioned):
    """A server of a pool, and where it is probed if that is another place."""

    pool_id: str
    name: str
    address: str
    protocol_port: int
    subnet_id: str | None
    weight: int
    backup: bool
    monitor_address: str | None
    monitor_port: int | None


@dataclass(slots=True, kw_only=True, eq=False)
class HealthMonitor(Provisioned):
    """How the members of a pool are probed; delay and timeout are in seconds."""

    pool_id: str
    name: str
    type: str
    delay: int
    timeout: int
    max_retries: int
    max_retries_down: int
    http_method: str | None
    url_path: str | None
    expected_codes: str | None
    http_version: object
    domain_name: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class L7Policy(Provisioned):
    """What a listener does with the requests that all rules of the policy fit; positions begin with 1."""

    listener_id: str
    name: str
    description: str
    action: str
    redirect_pool_id: str | None
    redirect_url: str | None
    redirect_prefix: str | None
    redirect_http_code: int | None
    position: int


@dataclass(slots=True, kw_only=True, eq=False)
class L7Rule(Provisioned):
    """A condition of a policy."""

    l7policy_id: str
    type: str
    compare_type: str
    key: str | None
    value: str
    invert: bool


# -- what administrators set up ------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True, eq=False)
class Profile(TypedRecord):
    """What a provider does for a flavor or in an availability zone; `data` is a JSON object in a string."""

    name: str
    provider_name: str


@dataclass(slots=True, kw_only=True, eq=False)
class FlavorProfile(Profile):
    """The profile of flavors."""

    data: str = field(metadata=named("flavor_data"))


@dataclass(slots=True, kw_only=True, eq=False)
class ZoneProfile(Profile):
    """The profile of availability zones."""

    data: str = field(metadata=named("availability_zone_data"))


@dataclass(slots=True, kw_only=True, eq=False)
class Choice(TypedRecord):
    """What a new load balancer may name, if it is enabled."""

    name: str
    description: str
    enabled: bool
    profile_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Flavor(Choice):
    """A flavor of load balancers."""

    profile_id: str = field(metadata=named("flavor_profile_id"))


@dataclass(slots=True, kw_only=True, eq=False)
class AvailabilityZone(Choice):
    """A zone that load balancers may be in; its ID is its name."""

    profile_id: str = field(metadata=named("availability_zone_profile_id"))
