"""The kinds of objects of the load-balancer API, as data: their places, and the fields that requests may give.

The names, defaults and limits are those of the Octavia API, version 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.fields import Check
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.loadbalancer import checks

LAST_POSITION = 2_147_483_647
SEPARATE_PROTOCOLS = {"UDP": "UDP", "SCTP": "SCTP"}
"""Protocols that have ports of their own; all others are on top of TCP."""


@dataclass(frozen=True)
class Field:
    """A field of a request.

    fixed: it is set at creation only. read: converts a value that passes the check, such as the string of a number.
    """

    check: Check
    default: Any = None
    required: bool = False
    fixed: bool = False
    read: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of objects.

    path: the collection in URLs and in the store. member, members: the keys around one object and around a list.
    title: the name in messages. parent: the field with the ID of the object that contains it, "" for none.
    argument: what messages call the whole body; `member` unless it has a name of its own.
    """

    path: str
    member: str
    members: str
    title: str
    fields: Mapping[str, Field]
    parent: str = ""
    argument: str = ""

    def body(self, request: Request) -> dict[str, Any]:
        """The object in the body of a request. Raises ApiError 400."""
        body = request.json
        for name in body if isinstance(body, dict) else ():
            if name != self.member:
                raise self.unknown(name)
        return request.object(self.member)

    def unknown(self, name: str, *within: str) -> ApiError:
        """The 400 for a name that is not known at a place of the body."""
        where = ".".join((self.argument or self.member, *within))
        return bad_request(f"Unknown attribute for argument {where}: {name}")

    def values(self, given: Any) -> Record:
        """The fields of a new object, defaults included. Raises ApiError 400."""
        checked = self.checked(given)
        for name, field in self.fields.items():
            if field.required and checked.get(name) is None:
                raise checks.refused(name, None, "Mandatory field missing.")
        return {name: _or_default(checked.get(name), field) for name, field in self.fields.items()}

    def changes(self, given: Any) -> Record:
        """The fields that an update sets; null resets one to its default. Raises ApiError 400."""
        checked = self.checked(given)
        for name in checked:
            if self.fields[name].fixed:
                raise self.unknown(name, self.member)
        return {name: _or_default(value, self.fields[name]) for name, value in checked.items()}

    def checked(self, given: Any) -> Record:
        """The given fields. Raises ApiError 400 for an unknown field or a wrong value."""
        if not isinstance(given, dict):
            raise bad_request(f"Invalid input for field/attribute {self.member}. Value: {given}. It must be an object.")
        for name, value in given.items():
            if name not in self.fields:
                raise self.unknown(name, self.member)
            if value is not None and (problem := self.fields[name].check(value)) is not None:
                raise checks.refused(name, value, problem)
        return {name: None if value is None else self.fields[name].read(value) for name, value in given.items()}


def _or_default(value: Any, field: Field) -> Any:
    if value is not None:
        return value
    return list(field.default) if isinstance(field.default, list) else field.default


def _number(minimum: int, maximum: int | None = None, default: int | None = None, **more: bool) -> Field:
    return Field(checks.integer(minimum, maximum), default, read=fields.as_integer, **more)


def _port(**more: bool) -> Field:
    return _number(1, 65535, **more)


def _flag(default: bool) -> Field:
    return Field(fields.boolean, default, read=fields.as_boolean)


TEXT = checks.text()
ID = checks.identifier
ADMIN_STATE_UP = _flag(True)
NAMED: Mapping[str, Field] = {
    "name": Field(TEXT, ""),
    "description": Field(TEXT, ""),
    "admin_state_up": ADMIN_STATE_UP,
    "tags": Field(checks.items(TEXT, unique=True), []),
}
UNDESCRIBED = {name: field for name, field in NAMED.items() if name != "description"}
PROJECT = {"project_id": Field(TEXT, fixed=True), "tenant_id": Field(TEXT, fixed=True)}

LOAD_BALANCER = Kind(
    "loadbalancers",
    "loadbalancer",
    "loadbalancers",
    "Load Balancer",
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
        "listeners": Field(checks.items(fields.anything), [], fixed=True),
        "pools": Field(checks.items(fields.anything), [], fixed=True),
    },
    argument="load_balancer",
)
LISTENER = Kind(
    "listeners",
    "listener",
    "listeners",
    "Listener",
    {
        **NAMED,
        **PROJECT,
        "loadbalancer_id": Field(ID, fixed=True),
        "protocol": Field(
            checks.one_of("HTTP", "HTTPS", "PROMETHEUS", "SCTP", "TCP", "TERMINATED_HTTPS", "UDP"),
            required=True,
            fixed=True,
        ),
        "protocol_port": _port(required=True, fixed=True),
        "connection_limit": _number(-1, None, -1),
        "default_pool_id": Field(ID),
        "default_pool": Field(fields.anything, fixed=True),
        "l7policies": Field(checks.items(fields.anything), [], fixed=True),
        "default_tls_container_ref": Field(TEXT),
        "sni_container_refs": Field(checks.items(TEXT), []),
        "insert_headers": Field(fields.text_map(), {}),
        "allowed_cidrs": Field(checks.items(checks.network)),
        "timeout_client_data": _number(0, None, 50000),
        "timeout_member_connect": _number(0, None, 5000),
        "timeout_member_data": _number(0, None, 50000),
        "timeout_tcp_inspect": _number(0, None, 0),
        "client_authentication": Field(checks.one_of("NONE", "OPTIONAL", "MANDATORY"), "NONE"),
        "client_ca_tls_container_ref": Field(TEXT),
        "client_crl_container_ref": Field(TEXT),
        "tls_ciphers": Field(TEXT),
        "tls_versions": Field(checks.items(TEXT)),
        "alpn_protocols": Field(checks.items(TEXT)),
        "hsts_max_age": _number(0),
        "hsts_include_subdomains": _flag(False),
        "hsts_preload": _flag(False),
    },
    "load_balancer_id",
)
POOL = Kind(
    "pools",
    "pool",
    "pools",
    "Pool",
    {
        **NAMED,
        **PROJECT,
        "loadbalancer_id": Field(ID, fixed=True),
        "listener_id": Field(ID, fixed=True),
        "protocol": Field(
            checks.one_of("HTTP", "HTTPS", "PROXY", "PROXYV2", "SCTP", "TCP", "UDP"), required=True, fixed=True
        ),
        "lb_algorithm": Field(
            checks.one_of("LEAST_CONNECTIONS", "ROUND_ROBIN", "SOURCE_IP", "SOURCE_IP_PORT"), required=True
        ),
        "session_persistence": Field(checks.session_persistence),
        "tls_enabled": _flag(False),
        "tls_container_ref": Field(TEXT),
        "ca_tls_container_ref": Field(TEXT),
        "crl_container_ref": Field(TEXT),
        "tls_ciphers": Field(TEXT),
        "tls_versions": Field(checks.items(TEXT)),
        "alpn_protocols": Field(checks.items(TEXT)),
        "members": Field(checks.items(fields.anything), [], fixed=True),
        "healthmonitor": Field(fields.anything, fixed=True),
    },
    "load_balancer_id",
)
MEMBER = Kind(
    "members",
    "member",
    "members",
    "Member",
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
    "pool_id",
)
HEALTH_MONITOR = Kind(
    "healthmonitors",
    "healthmonitor",
    "healthmonitors",
    "Health Monitor",
    {
        **UNDESCRIBED,
        **PROJECT,
        "pool_id": Field(ID, fixed=True),
        "type": Field(
            checks.one_of("HTTP", "HTTPS", "PING", "SCTP", "TCP", "TLS-HELLO", "UDP-CONNECT"), required=True, fixed=True
        ),
        "delay": _number(0, required=True),
        "timeout": _number(0, required=True),
        "max_retries": _number(1, 10, required=True),
        "max_retries_down": _number(1, 10, 3),
        "http_method": Field(
            checks.one_of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE")
        ),
        "url_path": Field(checks.text(1, pattern=r"/\S*")),
        "expected_codes": Field(checks.text(pattern=r"\d{3}(\s*,\s*\d{3})*|\d{3}-\d{3}")),
        "http_version": Field(fields.anything),
        "domain_name": Field(TEXT),
    },
    "pool_id",
)
L7_POLICY = Kind(
    "l7policies",
    "l7policy",
    "l7policies",
    "L7 Policy",
    {
        **NAMED,
        **PROJECT,
        "listener_id": Field(ID, fixed=True),
        "action": Field(
            checks.one_of("REDIRECT_PREFIX", "REDIRECT_TO_POOL", "REDIRECT_TO_URL", "REJECT"), required=True
        ),
        "redirect_pool_id": Field(ID),
        "redirect_pool": Field(fields.anything, fixed=True),
        "redirect_url": Field(checks.text(pattern=r"https?://\S+")),
        "redirect_prefix": Field(checks.text(pattern=r"https?://\S+")),
        "redirect_http_code": Field(checks.one_of(301, 302, 303, 307, 308)),
        "position": _number(1, LAST_POSITION, LAST_POSITION),
        "rules": Field(checks.items(fields.anything), [], fixed=True),
    },
    "listener_id",
)
L7_RULE = Kind(
    "rules",
    "rule",
    "rules",
    "L7 Rule",
    {
        "admin_state_up": ADMIN_STATE_UP,
        "tags": NAMED["tags"],
        **PROJECT,
        "type": Field(
            checks.one_of(
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
            checks.one_of("CONTAINS", "ENDS_WITH", "EQUAL_TO", "REGEX", "STARTS_WITH"), required=True
        ),
        "key": Field(TEXT),
        "value": Field(checks.text(1), required=True),
        "invert": _flag(False),
    },
    "l7policy_id",
)

KINDS = (L7_RULE, L7_POLICY, MEMBER, HEALTH_MONITOR, LISTENER, POOL, LOAD_BALANCER)
"""What a load balancer consists of; contained kinds precede those that contain them."""
BY_PATH: Mapping[str, Kind] = {kind.path: kind for kind in KINDS}
QUOTA_NAMES = {"rules": "l7rule", **{kind.path: kind.member for kind in KINDS if kind is not L7_RULE}}
"""The quota for each kind."""
