"""The fields that requests may give for each kind of objects.

The names, defaults and limits are those of the Octavia API, version 2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean, as_integer
from openstack_emulator.core.validation.problems import Problem, Reason, specific
from openstack_emulator.loadbalancer.routes import checks
from openstack_emulator.loadbalancer.routes.fields import Field, Form
from openstack_emulator.loadbalancer.rules.drafts import PROVIDERS

LAST_POSITION = 2_147_483_647


def _number(minimum: int, maximum: int | None = None, default: int | None = None, **more: bool) -> Field:
    return Field(fields.integer(minimum, maximum), default, read=as_integer, **more)


def _port(**more: bool) -> Field:
    return _number(1, 65535, **more)


def _flag(default: bool) -> Field:
    return Field(fields.boolean, default, read=as_boolean)


TEXT = fields.text()
ID = fields.identifier
ADMIN_STATE_UP = _flag(True)
NAMED: Mapping[str, Field] = {
    "name": Field(TEXT, ""),
    "description": Field(TEXT, ""),
    "admin_state_up": ADMIN_STATE_UP,
    "tags": Field(fields.items(TEXT, unique=True), []),
}
UNDESCRIBED = {name: field for name, field in NAMED.items() if name != "description"}
PROJECT = {"project_id": Field(TEXT, fixed=True), "tenant_id": Field(TEXT, fixed=True)}

LOAD_BALANCER = Form(
    "loadbalancer",
    {
        **NAMED,
        **PROJECT,
        "vip_address": Field(checks.address, fixed=True),
        "vip_port_id": Field(ID, fixed=True),
        "vip_subnet_id": Field(ID, fixed=True),
        "vip_network_id": Field(ID, fixed=True),
        "vip_qos_policy_id": Field(ID),
        "provider": Field(TEXT, fixed=True),
        "flavor_id": Field(ID, fixed=True),
        "availability_zone": Field(TEXT, fixed=True),
        "listeners": Field(fields.items(fields.anything), [], fixed=True),
        "pools": Field(fields.items(fields.anything), [], fixed=True),
    },
    argument="load_balancer",
)
LISTENER = Form(
    "listener",
    {
        **NAMED,
        **PROJECT,
        "loadbalancer_id": Field(ID, fixed=True),
        "protocol": Field(
            fields.one_of("HTTP", "HTTPS", "PROMETHEUS", "SCTP", "TCP", "TERMINATED_HTTPS", "UDP"),
            required=True,
            fixed=True,
        ),
        "protocol_port": _port(required=True, fixed=True),
        "connection_limit": _number(-1, None, -1),
        "default_pool_id": Field(ID),
        "default_pool": Field(fields.anything, fixed=True),
        "l7policies": Field(fields.items(fields.anything), [], fixed=True),
        "default_tls_container_ref": Field(TEXT),
        "sni_container_refs": Field(fields.items(TEXT), []),
        "insert_headers": Field(fields.text_map(), {}),
        "allowed_cidrs": Field(fields.items(checks.network)),
        "timeout_client_data": _number(0, None, 50000),
        "timeout_member_connect": _number(0, None, 5000),
        "timeout_member_data": _number(0, None, 50000),
        "timeout_tcp_inspect": _number(0, None, 0),
        "client_authentication": Field(fields.one_of("NONE", "OPTIONAL", "MANDATORY"), "NONE"),
        "client_ca_tls_container_ref": Field(TEXT),
        "client_crl_container_ref": Field(TEXT),
        "tls_ciphers": Field(TEXT),
        "tls_versions": Field(fields.items(TEXT)),
        "alpn_protocols": Field(fields.items(TEXT)),
        "hsts_max_age": _number(0),
        "hsts_include_subdomains": _flag(False),
        "hsts_preload": _flag(False),
    },
)
POOL = Form(
    "pool",
    {
        **NAMED,
        **PROJECT,
        "loadbalancer_id": Field(ID, fixed=True),
        "listener_id": Field(ID, fixed=True),
        "protocol": Field(
            fields.one_of("HTTP", "HTTPS", "PROXY", "PROXYV2", "SCTP", "TCP", "UDP"), required=True, fixed=True
        ),
        "lb_algorithm": Field(
            fields.one_of("LEAST_CONNECTIONS", "ROUND_ROBIN", "SOURCE_IP", "SOURCE_IP_PORT"), required=True
        ),
        "session_persistence": Field(checks.session_persistence),
        "tls_enabled": _flag(False),
        "tls_container_ref": Field(TEXT),
        "ca_tls_container_ref": Field(TEXT),
        "crl_container_ref": Field(TEXT),
        "tls_ciphers": Field(TEXT),
        "tls_versions": Field(fields.items(TEXT)),
        "alpn_protocols": Field(fields.items(TEXT)),
        "members": Field(fields.items(fields.anything), [], fixed=True),
        "healthmonitor": Field(fields.anything, fixed=True),
    },
)
MEMBER = Form(
    "member",
    {
        **UNDESCRIBED,
        **PROJECT,
        "address": Field(checks.address, required=True, fixed=True),
        "protocol_port": _port(required=True, fixed=True),
        "subnet_id": Field(ID, fixed=True),
        "weight": _number(0, 256, 1),
        "backup": _flag(False),
        "monitor_address": Field(checks.address),
        "monitor_port": _port(),
    },
)
HEALTH_MONITOR = Form(
    "healthmonitor",
    {
        **UNDESCRIBED,
        **PROJECT,
        "pool_id": Field(ID, fixed=True),
        "type": Field(
            fields.one_of("HTTP", "HTTPS", "PING", "SCTP", "TCP", "TLS-HELLO", "UDP-CONNECT"), required=True, fixed=True
        ),
        "delay": _number(0, required=True),
        "timeout": _number(0, required=True),
        "max_retries": _number(1, 10, required=True),
        "max_retries_down": _number(1, 10, 3),
        "http_method": Field(
            fields.one_of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE")
        ),
        "url_path": Field(fields.text(1, pattern=r"/\S*")),
        "expected_codes": Field(fields.text(pattern=r"\d{3}(\s*,\s*\d{3})*|\d{3}-\d{3}")),
        "http_version": Field(fields.anything),
        "domain_name": Field(TEXT),
    },
)
L7_POLICY = Form(
    "l7policy",
    {
        **NAMED,
        **PROJECT,
        "listener_id": Field(ID, fixed=True),
        "action": Field(
            fields.one_of("REDIRECT_PREFIX", "REDIRECT_TO_POOL", "REDIRECT_TO_URL", "REJECT"), required=True
        ),
        "redirect_pool_id": Field(ID),
        "redirect_pool": Field(fields.anything, fixed=True),
        "redirect_url": Field(fields.text(pattern=r"https?://\S+")),
        "redirect_prefix": Field(fields.text(pattern=r"https?://\S+")),
        "redirect_http_code": Field(fields.one_of(301, 302, 303, 307, 308)),
        "position": _number(1, LAST_POSITION, LAST_POSITION),
        "rules": Field(fields.items(fields.anything), [], fixed=True),
    },
)
L7_RULE = Form(
    "rule",
    {
        "admin_state_up": ADMIN_STATE_UP,
        "tags": NAMED["tags"],
        **PROJECT,
        "type": Field(
            fields.one_of(
                "COOKIE",
                "FILE_TYPE",
                "HEADER",
                "HOST_NAME",
                "PATH",
                "SSL_CONN_HAS_CERT",
                "SSL_DN_FIELD",
                "SSL_VERIFY_RESULT",
            ),
            required=True,
        ),
        "compare_type": Field(
            fields.one_of("CONTAINS", "ENDS_WITH", "EQUAL_TO", "REGEX", "STARTS_WITH"), required=True
        ),
        "key": Field(TEXT),
        "value": Field(fields.text(1), required=True),
        "invert": _flag(False),
    },
)


# -- what administrators set up ------------------------------------------------------------------------------------

FLAVOR_CAPABILITIES = {
    "amp_image_tag": "The tag of the image that amphorae are made from.",
    "compute_flavor": "The ID of the compute flavor of amphorae.",
    "loadbalancer_topology": "The load balancer topology. One of: SINGLE - One amphora per load balancer. "
    "ACTIVE_STANDBY - Two amphora per load balancer.",
    "sriov_vip": "Whether the VIP port is an SR-IOV port.",
}
ZONE_CAPABILITIES = {
    "compute_zone": "The compute availability zone.",
    "management_network": "The ID of the network by which amphorae are managed.",
    "valid_vip_networks": "The IDs of the networks that VIPs may be on.",
    "volume_zone": "The volume availability zone of amphorae.",
}
"""What the profiles of the provider amphora may consist of."""


def _data(known: Mapping[str, str]) -> Field:
    def check(value: Any) -> Problem | None:
        try:
            data = json.loads(value) if isinstance(value, str) else None
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            return specific(value, "it must be a string with a JSON object in it")
        if unknown := sorted(data.keys() - known.keys()):
            return Problem(Reason.UNKNOWN, value, tuple(unknown))
        return None

    return Field(check, required=True)


PROVIDER = Field(fields.one_of(*PROVIDERS), "amphora")
FLAVOR_PROFILE = Form(
    "flavorprofile",
    {"name": Field(TEXT, ""), "provider_name": PROVIDER, "flavor_data": _data(FLAVOR_CAPABILITIES)},
)
FLAVOR = Form(
    "flavor",
    {
        "name": Field(fields.text(1), required=True),
        "description": Field(TEXT, ""),
        "enabled": ADMIN_STATE_UP,
        "flavor_profile_id": Field(fields.identifier, required=True, fixed=True),
    },
)
ZONE_PROFILE = Form(
    "availability_zone_profile",
    {"name": Field(TEXT, ""), "provider_name": PROVIDER, "availability_zone_data": _data(ZONE_CAPABILITIES)},
)
ZONE = Form(
    "availability_zone",
    {
        "name": Field(fields.text(1), required=True, fixed=True),
        "description": Field(TEXT, ""),
        "enabled": ADMIN_STATE_UP,
        "availability_zone_profile_id": Field(fields.identifier, required=True, fixed=True),
    },
)
