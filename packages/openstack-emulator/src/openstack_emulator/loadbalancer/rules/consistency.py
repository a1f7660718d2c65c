"""The rules for the fields of an object: with each other, and with those of other objects of its load balancer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_network
from typing import Any

from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.loadbalancer.records import HealthMonitor, L7Policy, L7Rule, Listener, Member, Pool, Provisioned
from openstack_emulator.loadbalancer.rules.addresses import VirtualAddresses
from openstack_emulator.loadbalancer.rules.errors import failure
from openstack_emulator.loadbalancer.rules.siblings import Siblings

SEPARATE_PROTOCOLS = frozenset({"UDP", "SCTP"})
"""Protocols that have ports of their own; all others are on top of TCP."""
POOL_PROTOCOLS: Mapping[str, frozenset[str]] = {
    "HTTP": frozenset({"HTTP", "PROXY", "PROXYV2"}),
    "HTTPS": frozenset({"HTTPS", "PROXY", "PROXYV2", "TCP"}),
    "PROMETHEUS": frozenset(),
    "SCTP": frozenset({"SCTP"}),
    "TCP": frozenset({"HTTP", "HTTPS", "PROXY", "PROXYV2", "TCP"}),
    "TERMINATED_HTTPS": frozenset({"HTTP", "PROXY", "PROXYV2"}),
    "UDP": frozenset({"UDP"}),
}
"""Which protocols of pools a listener's protocol goes with."""
OVER_HTTP = ("HTTP", "HTTPS")
"""The types of health monitors that send requests."""
TARGETS = {
    "REDIRECT_TO_POOL": "redirect_pool_id",
    "REDIRECT_TO_URL": "redirect_url",
    "REDIRECT_PREFIX": "redirect_prefix",
}
"""Where each action of an L7 policy redirects to; REJECT redirects nowhere."""


class Consistency:
    """Checks objects that are created or changed, and fills in what follows from their fields."""

    def __init__(self, addresses: VirtualAddresses) -> None:
        self._addresses = addresses
        self._checks: Mapping[type[Provisioned], Callable[[Siblings, Any], None]] = {
            Listener: self._check_listener,
            Pool: lambda siblings, pool: check_session(pool.session_persistence),
            Member: self._check_member,
            HealthMonitor: _check_monitor,
            L7Policy: _check_policy,
            L7Rule: lambda siblings, rule: _check_rule(rule),
        }

    def check(self, siblings: Siblings, record: Provisioned) -> None:
        """Check an object. Raises ApiError 400 and 409."""
        if (check := self._checks.get(type(record))) is not None:
            check(siblings, record)

    def _check_listener(self, siblings: Siblings, listener: Listener) -> None:
        _check_port(siblings, listener)
        encrypted = listener.protocol == "TERMINATED_HTTPS"
        if encrypted and not (listener.default_tls_container_ref or listener.sni_container_refs):
            raise failure(
                "An SNI or default certificate container reference must be provided for "
                f"{listener.protocol} protocol listeners."
            )
        self._check_allowed(siblings, listener)
        if listener.hsts_max_age is None and (listener.hsts_include_subdomains or listener.hsts_preload):
            raise failure("HSTS configuration options hsts_include_subdomains and hsts_preload require hsts_max_age.")
        if listener.hsts_max_age is not None and not encrypted:
            raise failure("The HSTS feature can only be used for TERMINATED_HTTPS listeners.")
        if listener.default_pool_id:
            check_protocols(listener, siblings.part(Pool, listener.default_pool_id))

    def _check_allowed(self, siblings: Siblings, listener: Listener) -> None:
        """Refuse networks of another IP version than the load balancer's address. Raises ApiError 400."""
        if not listener.allowed_cidrs:
            return
        version = self._addresses.version(siblings.balancer)
        if any(ip_network(cidr, strict=False).version != version for cidr in listener.allowed_cidrs):
            raise failure("The allowed_cidrs IP version must match the VIP address IP version.")

    def _check_member(self, siblings: Siblings, member: Member) -> None:
        self._addresses.check_subnet(siblings.caller, member.subnet_id)
        address, port = member.address, member.protocol_port
        if siblings.of(member, pool_id=member.pool_id, address=address, protocol_port=port):
            raise conflict(f"Another member on this pool is already using ip {address} on protocol_port {port}")


def _check_port(siblings: Siblings, listener: Listener) -> None:
    """Refuse a second listener on a port. Raises ApiError 409."""
    for other in siblings.of(listener, protocol_port=listener.protocol_port):
        if _transport(other) == _transport(listener):
            raise conflict(
                f"Another Listener on this Load Balancer is already using protocol {listener.protocol} "
                f"and protocol_port {listener.protocol_port}"
            )


def _transport(listener: Listener) -> str:
    return listener.protocol if listener.protocol in SEPARATE_PROTOCOLS else "TCP"


def check_protocols(listener: Listener, pool: Pool) -> None:
    """Refuse a pool with a protocol that a listener cannot pass on. Raises ApiError 400."""
    if pool.protocol not in POOL_PROTOCOLS[listener.protocol]:
        raise failure(
            f"The pool protocol '{pool.protocol}' is invalid while the listener protocol is '{listener.protocol}'."
        )


def check_session(persistence: Mapping[str, object] | None) -> None:
    """Check how a pool recognizes a session. Raises ApiError 400."""
    session = persistence or {}
    by_application = session.get("type") == "APP_COOKIE"
    if by_application and not session.get("cookie_name"):
        raise failure('Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence type.')
    if not by_application and session.get("cookie_name"):
        raise failure('Field "cookie_name" can only be specified with session persistence of type "APP_COOKIE".')


def _check_monitor(siblings: Siblings, monitor: HealthMonitor) -> None:
    if monitor.type in OVER_HTTP:
        monitor.http_method = monitor.http_method or "GET"
        monitor.url_path = monitor.url_path or "/"
        monitor.expected_codes = monitor.expected_codes or "200"
    if siblings.of(monitor, pool_id=monitor.pool_id):
        raise conflict("This pool already has a health monitor")
    of_requests = {name: getattr(monitor, name) for name in ("http_method", "url_path", "expected_codes")}
    if monitor.type not in OVER_HTTP and (set_fields := [name for name, value in of_requests.items() if value]):
        raise bad_request(f"A health monitor of type {monitor.type} cannot have {', '.join(set_fields)}.")
    if monitor.type == "UDP-CONNECT" and siblings.part(Pool, monitor.pool_id).protocol != "UDP":
        raise bad_request("A health monitor of type UDP-CONNECT needs a pool with the protocol UDP.")


def require_target(action: str, target: object) -> None:
    """Refuse a policy that redirects to nothing. Raises ApiError 400."""
    if action in TARGETS and not target:
        raise bad_request(f"Invalid L7 Policy arguments: {TARGETS[action]} must not be None")


def _check_policy(siblings: Siblings, policy: L7Policy) -> None:
    action = policy.action
    targets = {name: getattr(policy, name) for name in TARGETS.values()}
    require_target(action, targets.get(TARGETS.get(action, "")))
    if action != "REDIRECT_TO_POOL":
        policy.redirect_pool_id = None
    if action != "REDIRECT_TO_URL":
        policy.redirect_url = None
    if action != "REDIRECT_PREFIX":
        policy.redirect_prefix = None
    redirects = action in ("REDIRECT_TO_URL", "REDIRECT_PREFIX")
    policy.redirect_http_code = (policy.redirect_http_code or 302) if redirects else None
    listener = siblings.part(Listener, policy.listener_id)
    if policy.redirect_pool_id:
        check_protocols(listener, siblings.part(Pool, policy.redirect_pool_id))


def _check_rule(rule: L7Rule) -> None:
    keyed = rule.type in ("HEADER", "COOKIE", "SSL_DN_FIELD")
    if keyed and not rule.key:
        raise bad_request(f"A rule of type {rule.type} needs a key.")
    if not keyed and rule.key:
        raise bad_request(f"A rule of type {rule.type} cannot have a key.")
    if rule.type == "FILE_TYPE" and rule.compare_type not in ("EQUAL_TO", "REGEX"):
        raise bad_request("A rule of type FILE_TYPE must have the compare_type EQUAL_TO or REGEX.")
