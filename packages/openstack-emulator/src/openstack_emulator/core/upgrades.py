"""The form of a state file, and how files of earlier releases are brought up to it.

The form is a number in the file (SQLite's `user_version`); 0 is what release 0.1.0 writes. `STEPS` is append-only: the
step at place n turns form n into form n + 1, and one that was released never changes. A service whose records get a
field that its code relies on adds a step, as `filled("nova", "servers", {"locked_reason": None})`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

Step = Callable[[sqlite3.Connection], None]


class StateUnusable(Exception):
    """The state file cannot be used by this release; the message says why and what to do."""


def _rewrite(
    database: sqlite3.Connection, service: str, collection: str, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Replace the records of a collection by what a function makes of them."""
    where = (service, collection)
    found = database.execute("SELECT id, data FROM record WHERE service = ? AND collection = ?", where).fetchall()
    changed = [(key, after) for key, text in found if (after := change(before := orjson.loads(text))) != before]
    database.executemany(
        "UPDATE record SET data = ? WHERE service = ? AND collection = ? AND id = ?",
        [(orjson.dumps(after), *where, key) for key, after in changed],
    )


def filled(service: str, collection: str, defaults: Mapping[str, object]) -> Step:
    """A step that gives the records of a collection the fields that they lack, with these values."""
    return lambda database: _rewrite(database, service, collection, lambda data: {**defaults, **data})


def numbered(_: sqlite3.Connection) -> None:
    """Form 1 has the records of form 0: from here on files bear their number."""


def trusts_of_subscriptions(database: sqlite3.Connection) -> None:
    """The trust of a Zaqar subscription is no option, which users can set."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        if not data["subscriber"].startswith("trust+") or "_trust_id" in data:
            return data
        options = {name: value for name, value in data["options"].items() if name != "trust_id"}
        return {**data, "options": options, "_trust_id": data["options"].get("trust_id", "")}

    _rewrite(database, "zaqar", "subscriptions", change)


def origins_of_volumes(database: sqlite3.Connection) -> None:
    """Volumes and snapshots of Cinder have all of their fields; the properties of a volume are complete or missing."""
    filled("cinder", "volumes", {"_content": None})(database)
    filled("cinder", "snapshots", {"_previous": None})(database)
    database.execute(
        "UPDATE record SET data = json_set(data, '$.volume_properties', NULL) "
        "WHERE service = 'cinder' AND collection = 'backups' AND json_extract(data, '$.volume_properties') = '{}'"
    )


def whole_shares(database: sqlite3.Connection) -> None:
    """Shares of Manila and what belongs to them have all of their fields."""
    whole = {"is_soft_deleted": False, "scheduled_to_be_deleted_at": None, "_request_id": None}
    filled("manila", "shares", whole)(database)
    filled("manila", "snapshots", {"metadata": {}})(database)
    filled("manila", "subnets", {"metadata": {}})(database)


def whole_messages(database: sqlite3.Connection) -> None:
    """Messages and subscriptions of Zaqar, and its own records, have all of their fields."""
    filled("zaqar", "messages", {"visible": 0.0, "claim_count": 0, "claim": None})(database)
    filled("zaqar", "subscriptions", {"confirmed": True, "_trust_id": ""})(database)
    filled("zaqar", "own", {"number": 0, "key": ""})(database)


def whole_orders(database: sqlite3.Connection) -> None:
    """Orders of Barbican have all of their fields."""
    filled("barbican", "orders", {"error_status_code": None, "error_reason": None})(database)


_OF_ALL_RESOURCES = frozenset({
    "id", "type", "project_id", "user_id", "started_at", "ended_at", "original_resource_id", "created_by_project_id",
    "created_by_user_id", "_server", "_fault",
})  # fmt: skip
"""What a resource of Gnocchi has besides the attributes of its type."""
_ATTRIBUTE = dict.fromkeys(("min_length", "max_length", "min", "max"))


def attributes_of_resources(database: sqlite3.Connection) -> None:
    """Resources of Gnocchi have the attributes of their type in a member, and all descriptions of attributes have the
    same members; the whole numbers in these and in archive policies are no strings."""

    def resource(data: dict[str, Any]) -> dict[str, Any]:
        created = {"created_by_project_id": data["project_id"], "created_by_user_id": data["user_id"]}
        data_of_all = {name: value for name, value in data.items() if name in _OF_ALL_RESOURCES}
        attributes = {name: value for name, value in data.items() if name not in _OF_ALL_RESOURCES}
        return {"_server": False, **created, **data_of_all, "attributes": attributes}

    def attribute(data: dict[str, Any]) -> dict[str, object]:
        lengths: dict[str, object] = {name: int(data[name]) for name in ("min_length", "max_length") if name in data}
        return {**_ATTRIBUTE, **data, **lengths}

    def kind(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "attributes": {name: attribute(values) for name, values in data["attributes"].items()}}

    _rewrite(database, "gnocchi", "resources", resource)
    _rewrite(database, "gnocchi", "resource_types", kind)
    _rewrite(database, "gnocchi", "archive_policies", lambda data: {**data, "back_window": int(data["back_window"])})


def whole_zones(database: sqlite3.Connection) -> None:
    """Zones, record sets and imports of Designate have all of their fields."""
    for collection in ("zones", "abandoned_zones"):
        filled("designate", collection, {"_change": 0})(database)
    for collection in ("recordsets", "abandoned_recordsets"):
        filled("designate", collection, {"_change": 0, "_floating_ip": None})(database)
    filled("designate", "zone_imports", {"_content": None, "_admin": False})(database)


def memory_of_instances(database: sqlite3.Connection) -> None:
    """Pending changes of Trove's instances name the memory as their records do in the source."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        if (data["service"], data["method"]) != ("trove", "finish_instance"):
            return data
        key, status, after = data["arguments"]
        renamed = {"ram" if name == "_ram" else name: value for name, value in after.items()}
        return {**data, "arguments": [key, status, renamed]}

    _rewrite(database, "core", "transitions", change)


def ranges_of_segments(database: sqlite3.Connection) -> None:
    """Segments of Swift's large objects have all of their fields."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        if data["segments"] is None:
            return data
        return {**data, "segments": [{"range": None, **segment} for segment in data["segments"]]}

    _rewrite(database, "swift", "objects", change)


_OF_CONTAINERS: Mapping[str, object] = {
    "privileged": False, "auto_heal": False, "cpu_policy": "shared", "registry_id": None, "entrypoint": [],
    "healthcheck": {}, "_files": {}, "_interfaces": [],
}  # fmt: skip
"""Fields that not all containers of earlier releases have."""


def whole_containers(database: sqlite3.Connection) -> None:
    """Containers of Zun, and the interfaces that they are to get, have all of their fields."""
    filled("zun", "containers", _OF_CONTAINERS)(database)
    whole = {"network": None, "port": None, "fixed_ip": None}
    _rewrite(
        database,
        "zun",
        "containers",
        lambda data: {**data, "_interfaces": [{**whole, **interface} for interface in data["_interfaces"]]},
    )


def whole_networks(database: sqlite3.Connection) -> None:
    """Networks, ports, routers and rules of security groups of Neutron have all of their fields."""
    filled("neutron", "networks", {"qinq": False, "_preset": False, "_agents": None})(database)
    filled("neutron", "security_group_rules", {"belongs_to_default_sg": False})(database)
    filled("neutron", "routers", {"_agents": None})(database)
    filled("neutron", "ports", {"_place": 0})(database)


_OF_RESERVATIONS = (
    "hypervisor_properties", "resource_properties", "min", "max", "before_end", "aggregate_id", "vcpus", "memory_mb",
    "disk_gb", "amount", "affinity", "flavor_id", "server_group_id", "network_id", "required_floatingips",
    "_extra_specs",
)  # fmt: skip
"""Fields that only some types of Blazar's reservations had."""


def whole_workflows(database: sqlite3.Connection) -> None:
    """Environments of Mistral have all of their fields, and what was read of a workbook is what is needed of it."""

    def workbook(data: dict[str, object]) -> dict[str, object]:
        return {**data, "_spec": {name: data[name] for name in ("name", "description", "tags")}}

    filled("mistral", "environments", {"variables": None})(database)
    _rewrite(database, "mistral", "workbooks", workbook)


_OF_SERVERS: Mapping[str, object] = {
    "_creator": None, "_image_properties": {}, "_files": [], "_guest_password": "", "_old": None, "_new": None,
    "_target": None, "_was_stopped": False, "_shelved_image": None,
}  # fmt: skip
"""Fields that not all servers of earlier releases have."""


def whole_servers(database: sqlite3.Connection) -> None:
    """Servers of Nova, what the requests for them named, and aggregates have all of their fields."""

    def server(data: dict[str, Any]) -> dict[str, Any]:
        new = None if data.get("_new") is None else {"vm_state": None, **data["_new"]}
        networks = [{**dict.fromkeys(("uuid", "port", "fixed_ip", "tag")), **network} for network in data["_networks"]]
        devices = [{"volume_id": None, "volume": None, **device} for device in data["_devices"]]
        whole = {**data, "_new": new, "_networks": networks, "_devices": devices, "_files": data.get("_files") or []}
        return {**_OF_SERVERS, **whole, "_old": data.get("_old") or None}

    _rewrite(database, "nova", "servers", server)
    filled("nova", "aggregates", {"_reserved": None})(database)


_OF_KEYSTONE: Mapping[str, frozenset[str]] = {
    "domains": frozenset({"id", "name", "description", "enabled", "options", "tags"}),
    "projects": frozenset({
        "id", "name", "domain_id", "parent_id", "description", "enabled", "is_domain", "options", "tags",
    }),
    "users": frozenset({
        "id", "name", "domain_id", "enabled", "default_project_id", "options", "password_expires_at",
    }),
    "groups": frozenset({"id", "name", "domain_id", "description"}),
    "roles": frozenset({"id", "name", "domain_id", "description", "options"}),
    "regions": frozenset({"id", "description", "parent_region_id"}),
    "services": frozenset({"id", "type", "name", "description", "enabled"}),
    "endpoints": frozenset({"id", "service_id", "interface", "url", "region", "region_id", "enabled"}),
    "policies": frozenset({"id", "blob", "type"}),
    "consumers": frozenset({"id", "description"}),
    "credentials": frozenset({"id", "type", "blob", "user_id", "project_id"}),
    "trusts": frozenset({
        "id", "trustor_user_id", "trustee_user_id", "impersonation", "project_id", "roles", "expires_at",
        "remaining_uses", "redelegation_count", "redelegated_trust_id", "deleted_at",
    }),
}  # fmt: skip
"""The fields of those records of Keystone that requests may give further attributes."""


def attributes_of_identity(database: sqlite3.Connection) -> None:
    """Records of Keystone have all of their fields, and a member with what else requests gave."""

    def with_extra(fields: frozenset[str]) -> Callable[[dict[str, object]], dict[str, object]]:
        def change(data: dict[str, Any]) -> dict[str, Any]:
            data_of_all = {name: value for name, value in data.items() if name in fields or name.startswith("_")}
            extra = {name: value for name, value in data.items() if name not in data_of_all}
            return {**data_of_all, "_extra": extra}

        return change

    for collection, fields in _OF_KEYSTONE.items():
        _rewrite(database, "keystone", collection, with_extra(fields))
    filled("keystone", "domains", {"_config": {}})(database)
    filled("keystone", "users", {"default_project_id": None})(database)
    filled("keystone", "endpoint_filters", {"endpoint_id": None, "endpoint_group_id": None})(database)


_WITH_LIMITS = ("barbican", "cinder", "designate", "manila", "nova", "octavia", "trove", "zun")
"""Services that keep the limits of projects in the same way."""


def limits_of_projects(database: sqlite3.Connection) -> None:
    """The limits of a project are in a member of its record."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        limits = {name: value for name, value in data.items() if name not in ("id", "_fault")}
        return {**{name: data[name] for name in data if name not in limits}, "limits": limits}

    for service in _WITH_LIMITS:
        _rewrite(database, service, "quotas", change)


STEPS: Sequence[Step] = (
    numbered,
    filled("nova", "servers", {"_image_name": ""}),
    trusts_of_subscriptions,
    origins_of_volumes,
    whole_shares,
    whole_messages,
    whole_orders,
    attributes_of_resources,
    filled("aodh", "history", {"severity": None}),
    whole_zones,
    memory_of_instances,
    filled("octavia", "loadbalancers", {"_failovers": 0}),
    ranges_of_segments,
    filled("magnum", "nodegroups", {"_before": None}),
    whole_containers,
    whole_networks,
    filled("blazar", "reservations", dict.fromkeys(_OF_RESERVATIONS)),
    whole_workflows,
    whole_servers,
    filled("keystone", "tokens", {"trust_id": None, "application_credential_id": None}),
    attributes_of_identity,
    limits_of_projects,
)


def upgrade(database: sqlite3.Connection, path: Path, steps: Sequence[Step] = STEPS) -> None:
    """Bring a file up to this release's form, as one transaction. Raises StateUnusable for one of a later release."""
    [form] = database.execute("PRAGMA user_version").fetchone()
    if form > len(steps):
        raise StateUnusable(
            f"The state file {path} has form {form}; this release knows forms up to {len(steps)}. "
            "Use the release that wrote it, or another file."
        )
    if form == len(steps):
        return
    with database:
        database.execute("BEGIN IMMEDIATE")
        for step in steps[form:]:
            step(database)
        database.execute(f"PRAGMA user_version = {len(steps)}")
