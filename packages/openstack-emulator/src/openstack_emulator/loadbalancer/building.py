"""Creation of load balancers and their parts, one at a time or all in one request, and the rules for their fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from typing import Any

from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.loadbalancer.checks import failure
from openstack_emulator.loadbalancer.kinds import (
    HEALTH_MONITOR,
    L7_POLICY,
    L7_RULE,
    LISTENER,
    LOAD_BALANCER,
    MEMBER,
    POOL,
    SEPARATE_PROTOCOLS,
    Kind,
)
from openstack_emulator.loadbalancer.records import (
    SECONDS_TO_BUILD,
    SECONDS_TO_CHANGE,
    Found,
    LoadBalancerRecords,
)

NOT_KEPT = frozenset(
    {
        "default_pool", "healthmonitor", "l7policies", "listeners", "loadbalancer_id", "members", "pools",
        "redirect_pool", "rules", "tenant_id",
    }
)  # fmt: skip
"""Fields of requests that are not fields of records: contained objects, and second names."""
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
HTTP_DEFAULTS = {"http_method": "GET", "url_path": "/", "expected_codes": "200"}
PROVIDERS = {"amphora": "The Octavia Amphora driver.", "octavia": "Deprecated alias of the Octavia Amphora driver."}
TARGETS = {
    "REDIRECT_TO_POOL": "redirect_pool_id",
    "REDIRECT_TO_URL": "redirect_url",
    "REDIRECT_PREFIX": "redirect_prefix",
}
"""Where each action of an L7 policy redirects to; REJECT redirects nowhere."""
CONTAINED = {"redirect_pool_id": "redirect_pool"}
"""The field with a new object instead of the ID of one."""


class Draft:
    """Objects of one load balancer that a request creates: checked one after the other, and stored together."""

    def __init__(self, records: LoadBalancerRecords, caller: Context, balancer: Record) -> None:
        self.records = records
        self.caller = caller
        self.balancer = balancer
        self.made: list[Found] = []

    def siblings(self, kind: Kind, record: Record, **equals: Any) -> list[Record]:
        """The other objects of a kind in this load balancer, those of the draft included, with these values."""
        stored = self.records.rows[kind].select(load_balancer_id=self.balancer["id"])
        drafted = [row for one, row in self.made if one is kind]
        fitting = equals.items()
        return [
            row
            for row in (*stored, *drafted)
            if row["id"] != record.get("id") and all(row[name] == value for name, value in fitting)
        ]

    def part(self, kind: Kind, key: str) -> Record:
        """An object of this load balancer, of the draft or stored. Raises ApiError 404, or 400 for another's."""
        drafted = next((row for one, row in self.made if one is kind and row["id"] == key), None)
        found = drafted or self.records.part(self.caller, kind, key)
        if found["load_balancer_id"] != self.balancer["id"]:
            raise bad_request(f"{kind.title} {key} belongs to another load balancer than {self.balancer['id']}.")
        return found

    def add(self, kind: Kind, given: Any, **parents: str) -> Record:
        """Draft an object and those that it contains. Raises ApiError 400, 404 and 409."""
        return self.place(kind, wanted(kind, given), **parents)

    def place(self, kind: Kind, values: Record, **parents: str) -> Record:
        """Draft an object with the fields that `wanted` returns. Raises ApiError 400, 404 and 409."""
        kept = {name: value for name, value in values.items() if name not in NOT_KEPT}
        kept.pop("project_id", None)
        record = self.records.new(kind, kept, self.balancer["project_id"], self.balancer["id"])
        record.update(parents)
        BEFORE.get(kind, _nothing)(self, record, values)
        check(self, kind, record)
        self.made.append((kind, record))
        AFTER.get(kind, _nothing)(self, record, values)
        return record

    def named_pool(self, given: Any) -> str:
        """The ID of a contained pool: a new one, or one of this request by its name alone."""
        if isinstance(given, dict) and given.keys() == {"name"}:
            found = [row for kind, row in self.made if kind is POOL and row["name"] == given["name"]]
            if not found:
                raise bad_request(f"The request contains no pool with the name {given['name']!r}.")
            return str(found[0]["id"])
        return str(self.add(POOL, given)["id"])

    def create(self) -> None:
        """Store the draft; everything is pending for a while. Raises ApiError 403 for a quota that is used up."""
        self.store()
        new = any(row is self.balancer for _, row in self.made)
        seconds = SECONDS_TO_BUILD if new else SECONDS_TO_CHANGE
        self.records.begin(self.balancer, {"PENDING_CREATE": self.made}, seconds)

    def store(self) -> None:
        """Store the draft, as far as quotas permit. Raises ApiError 403."""
        records = self.records
        records.check_quota(self.balancer["project_id"], Counter(kind for kind, _ in self.made))
        if any(row is self.balancer for _, row in self.made):
            records.addresses.take(self.balancer)
        for kind, record in self.made:
            listener_id = record.pop("listener_id", None) if kind is POOL else None
            records.rows[kind].add(record)
            if listener_id is not None:
                records.rows[LISTENER].update(records.rows[LISTENER].require(listener_id), default_pool_id=record["id"])
            if kind is L7_POLICY:
                records.arrange(record["listener_id"], record)


def create_balancer(records: LoadBalancerRecords, caller: Context, given: Any) -> Record:
    """Create a load balancer, with the listeners and pools that the request contains. Raises ApiError 400, 403, 409."""
    values = LOAD_BALANCER.values(given)
    project_id = values["project_id"] or values["tenant_id"] or caller.project
    if project_id != caller.project_id and not caller.is_admin:
        caller.require()
    provider = values["provider"] or "amphora"
    if provider not in PROVIDERS:
        raise bad_request(f"Provider '{provider}' is not enabled.")
    if values["flavor_id"] and not (records.flavors.get(values["flavor_id"]) or {}).get("enabled"):
        raise bad_request(f"Invalid flavor_id: {values['flavor_id']}. It does not exist, or is disabled.")
    zone = values["availability_zone"]
    if zone and not (records.zones.get(zone) or {}).get("enabled"):
        raise bad_request(f"Invalid availability_zone: {zone}. It does not exist, or is disabled.")
    kept = {name: value for name, value in values.items() if name not in NOT_KEPT}
    kept |= {"provider": provider, "vip_vnic_type": "normal", "_owns_port": not values["vip_port_id"]}
    kept.pop("project_id")
    balancer = records.new(LOAD_BALANCER, kept, project_id, None)
    records.addresses.place(caller, balancer)
    draft = Draft(records, caller, balancer)
    draft.made.append((LOAD_BALANCER, balancer))
    for pool in values["pools"]:
        draft.add(POOL, pool)
    for listener in values["listeners"]:
        draft.add(LISTENER, listener)
    draft.create()
    return balancer


def wanted(kind: Kind, given: Any) -> Record:
    """The fields of a new object, checked without regard to other objects. Raises ApiError 400."""
    values = kind.values(given)
    if kind in OWN_CHECKS:
        OWN_CHECKS[kind](values)
    return values


def check(draft: Draft, kind: Kind, record: Record) -> None:
    """Check the fields of an object with each other and with those of its siblings. Raises ApiError 400 and 409."""
    if kind in OWN_CHECKS:
        OWN_CHECKS[kind](record)
    CHECKS.get(kind, _unchecked)(draft, record)


def _nothing(draft: Draft, record: Record, values: Record) -> None:
    pass


def _unchecked(draft: Draft, record: Record) -> None:
    pass


# -- listeners and pools -------------------------------------------------------------------------------------------


def _before_listener(draft: Draft, record: Record, values: Record) -> None:
    if values["default_pool"] is not None:
        if record["default_pool_id"]:
            raise bad_request("default_pool and default_pool_id exclude each other.")
        record["default_pool_id"] = draft.named_pool(values["default_pool"])


def _after_listener(draft: Draft, record: Record, values: Record) -> None:
    for policy in values["l7policies"]:
        draft.add(L7_POLICY, policy, listener_id=record["id"])


def _check_listener(draft: Draft, record: Record) -> None:
    protocol, port = record["protocol"], record["protocol_port"]
    transport = SEPARATE_PROTOCOLS.get(protocol, "TCP")
    for other in draft.siblings(LISTENER, record, protocol_port=port):
        if SEPARATE_PROTOCOLS.get(other["protocol"], "TCP") == transport:
            raise conflict(
                f"Another Listener on this Load Balancer is already using protocol {protocol} and protocol_port {port}"
            )
    if protocol == "TERMINATED_HTTPS" and not (record["default_tls_container_ref"] or record["sni_container_refs"]):
        raise failure(
            f"An SNI or default certificate container reference must be provided for {protocol} protocol listeners."
        )
    _check_allowed(draft, record)
    if record["hsts_max_age"] is None and (record["hsts_include_subdomains"] or record["hsts_preload"]):
        raise failure("HSTS configuration options hsts_include_subdomains and hsts_preload require hsts_max_age.")
    if record["hsts_max_age"] is not None and protocol != "TERMINATED_HTTPS":
        raise failure("The HSTS feature can only be used for TERMINATED_HTTPS listeners.")
    if record["default_pool_id"]:
        _check_protocols(record, draft.part(POOL, record["default_pool_id"]))


def _check_allowed(draft: Draft, record: Record) -> None:
    """Refuse networks of another IP version than the load balancer's address. Raises ApiError 400."""
    if not record["allowed_cidrs"]:
        return
    version = draft.records.addresses.version(draft.balancer)
    if any(ip_network(cidr, strict=False).version != version for cidr in record["allowed_cidrs"]):
        raise failure("The allowed_cidrs IP version must match the VIP address IP version.")


def _check_protocols(listener: Record, pool: Record) -> None:
    if pool["protocol"] not in POOL_PROTOCOLS[listener["protocol"]]:
        raise failure(
            f"The pool protocol '{pool['protocol']}' is invalid while the listener protocol is "
            f"'{listener['protocol']}'."
        )


def _after_pool(draft: Draft, record: Record, values: Record) -> None:
    for member in values["members"]:
        draft.add(MEMBER, member, pool_id=record["id"])
    if values["healthmonitor"] is not None:
        draft.add(HEALTH_MONITOR, values["healthmonitor"], pool_id=record["id"])


def _check_pool(draft: Draft, record: Record) -> None:
    if (listener_id := record.get("listener_id")) is None:
        return
    listener = draft.part(LISTENER, listener_id)
    _check_protocols(listener, record)
    if listener["default_pool_id"]:
        raise conflict("This listener already has a default pool")


def _check_session(values: Record) -> None:
    session = values["session_persistence"] or {"type": None}
    by_application = session["type"] == "APP_COOKIE"
    if by_application and not session.get("cookie_name"):
        raise failure('Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence type.')
    if not by_application and session.get("cookie_name"):
        raise failure('Field "cookie_name" can only be specified with session persistence of type "APP_COOKIE".')


# -- members and health monitors -----------------------------------------------------------------------------------


def _check_member(draft: Draft, record: Record) -> None:
    draft.records.addresses.check_subnet(draft.caller, record["subnet_id"])
    place = {name: record[name] for name in ("pool_id", "address", "protocol_port")}
    if draft.siblings(MEMBER, record, **place):
        raise conflict(
            f"Another member on this pool is already using ip {record['address']} on protocol_port "
            f"{record['protocol_port']}"
        )


def _check_monitor(draft: Draft, record: Record) -> None:
    if record["type"] in ("HTTP", "HTTPS"):
        record.update({name: record[name] or default for name, default in HTTP_DEFAULTS.items()})
    if draft.siblings(HEALTH_MONITOR, record, pool_id=record["pool_id"]):
        raise conflict("This pool already has a health monitor")
    if record["type"] not in ("HTTP", "HTTPS") and (given := [name for name in HTTP_DEFAULTS if record[name]]):
        raise bad_request(f"A health monitor of type {record['type']} cannot have {', '.join(given)}.")
    datagrams = draft.part(POOL, record["pool_id"])["protocol"] == "UDP"
    if record["type"] == "UDP-CONNECT" and not datagrams:
        raise bad_request("A health monitor of type UDP-CONNECT needs a pool with the protocol UDP.")


# -- policies and rules of layer 7 ---------------------------------------------------------------------------------


def _before_policy(draft: Draft, record: Record, values: Record) -> None:
    if values["redirect_pool"] is not None:
        record["redirect_pool_id"] = draft.named_pool(values["redirect_pool"])


def _after_policy(draft: Draft, record: Record, values: Record) -> None:
    for rule in values["rules"]:
        draft.add(L7_RULE, rule, l7policy_id=record["id"])


def _check_target(values: Record) -> None:
    needed = TARGETS.get(values["action"])
    if needed is not None and not values[needed] and not (needed in CONTAINED and values.get(CONTAINED[needed])):
        raise bad_request(f"Invalid L7 Policy arguments: {needed} must not be None")


def _check_policy(draft: Draft, record: Record) -> None:
    needed = TARGETS.get(record["action"])
    record.update(dict.fromkeys((name for name in TARGETS.values() if name != needed), None))
    redirects = record["action"] in ("REDIRECT_TO_URL", "REDIRECT_PREFIX")
    record["redirect_http_code"] = (record["redirect_http_code"] or 302) if redirects else None
    listener = draft.part(LISTENER, record["listener_id"])
    if record["redirect_pool_id"]:
        _check_protocols(listener, draft.part(POOL, record["redirect_pool_id"]))


def _check_rule(draft: Draft, record: Record) -> None:
    keyed = record["type"] in ("HEADER", "COOKIE", "SSL_DN_FIELD")
    if keyed and not record["key"]:
        raise bad_request(f"A rule of type {record['type']} needs a key.")
    if not keyed and record["key"]:
        raise bad_request(f"A rule of type {record['type']} cannot have a key.")
    if record["type"] == "FILE_TYPE" and record["compare_type"] not in ("EQUAL_TO", "REGEX"):
        raise bad_request("A rule of type FILE_TYPE must have the compare_type EQUAL_TO or REGEX.")


Step = Callable[[Draft, Record, Record], None]
BEFORE: Mapping[Kind, Step] = {LISTENER: _before_listener, L7_POLICY: _before_policy}
AFTER: Mapping[Kind, Step] = {LISTENER: _after_listener, POOL: _after_pool, L7_POLICY: _after_policy}
OWN_CHECKS: Mapping[Kind, Callable[[Record], None]] = {POOL: _check_session, L7_POLICY: _check_target}
"""Checks that do not depend on other objects; the service makes them before all others."""
CHECKS: Mapping[Kind, Callable[[Draft, Record], None]] = {
    LISTENER: _check_listener,
    POOL: _check_pool,
    MEMBER: _check_member,
    HEALTH_MONITOR: _check_monitor,
    L7_POLICY: _check_policy,
    L7_RULE: _check_rule,
}
