"""The policy service: its records and its table of routes. All requests are for administrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.guards import admin
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.core.versions import ApiVersion, all_versions, one_version, own
from openstack_emulator.policy.policies import Policies
from openstack_emulator.policy.sources import Sources


class PolicyRecords(Records):
    """Policies, rules and data sources."""

    service = "congress"
    not_found_messages: ClassVar = {
        "policies": "policy with id '{}' doesn't exist",
        "rules": "rule with id '{}' doesn't exist",
        "datasources": "Datasource not found {}",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.sources = Sources(self)
        self.policies = Policies(self, self.sources)

    def seed(self) -> None:
        self.sources.seed()
        self.policies.seed()


def _rule_view(rule: Record) -> dict[str, Any]:
    return {name: rule[name] for name in ("id", "rule", "name", "comment")}


def _missing_feature(what: str) -> ApiError:
    return ApiError(501, f"The emulated policy service has no {what}.")


# -- policies --------------------------------------------------------------------------------------------------------


def _policy(policies: Policies, request: Request) -> Record:
    return policies.find(request.vars["policy_id"])


def list_policies(policies: Policies, request: Request) -> Response:
    return Response({"results": list(policies.rows)})


def create_policy(policies: Policies, request: Request) -> Response:
    if request.query.get("library_policy") is not None:
        raise _missing_feature("policy library")
    row = policies.create(request.context, request.json)
    shown: dict[str, Any] = dict(row)
    if rules := policies.rules.select(policy_id=row["id"]):
        shown["rules"] = [_rule_view(rule) for rule in rules]
    return Response(shown, 201, {"Location": f"{request.url}/{row['id']}"})


def show_policy(policies: Policies, request: Request) -> Response:
    return Response(_policy(policies, request))


def act_on_policy(policies: Policies, request: Request) -> Response:
    _policy(policies, request)
    raise _missing_feature("simulation of policies (action=simulate)")


def delete_policy(policies: Policies, request: Request) -> Response:
    row = _policy(policies, request)
    policies.delete(row)
    return Response(row)


def list_rules(policies: Policies, request: Request) -> Response:
    rows = policies.rules.select(policy_id=_policy(policies, request)["id"])
    return Response({"results": [_rule_view(rule) for rule in rows]})


def create_rule(policies: Policies, request: Request) -> Response:
    rule = policies.add_rule(_policy(policies, request), request.json)
    return Response(_rule_view(rule), 201, {"Location": f"{request.url}/{rule['id']}"})


def _rule(policies: Policies, request: Request) -> Record:
    return policies.rule(_policy(policies, request), request.vars["rule_id"])


def show_rule(policies: Policies, request: Request) -> Response:
    return Response(_rule_view(_rule(policies, request)))


def delete_rule(policies: Policies, request: Request) -> Response:
    rule = _rule(policies, request)
    policies.rules.remove(rule)
    return Response(_rule_view(rule))


def list_tables(policies: Policies, request: Request) -> Response:
    return Response({"results": [{"id": name} for name in policies.tables(_policy(policies, request))]})


def _table(policies: Policies, request: Request) -> str:
    name = request.vars["table_id"]
    if name not in policies.tables(_policy(policies, request)):
        raise not_found(f"policy table with id '{name}' doesn't exist")
    return name


def show_table(policies: Policies, request: Request) -> Response:
    return Response({"id": _table(policies, request)})


def list_rows(policies: Policies, request: Request) -> Response:
    name = _table(policies, request)
    if request.query.boolean("trace"):
        raise _missing_feature("explanation of rows (trace)")
    rows = policies.read(request, _policy(policies, request), name)
    return Response({"results": [{"data": row} for row in rows]})


# -- data sources ----------------------------------------------------------------------------------------------------


def _source(sources: Sources, request: Request) -> Record:
    return sources.find(request.vars["source_id"])


def list_sources(sources: Sources, request: Request) -> Response:
    return Response({"results": list(sources.rows)})


def create_source(sources: Sources, request: Request) -> Response:
    return Response(sources.add(request.json), 201)


def delete_source(sources: Sources, request: Request) -> Response:
    row = _source(sources, request)
    sources.rows.remove(row)
    return Response(row)


def show_schema(sources: Sources, request: Request) -> Response:
    tables = sources.tables(_source(sources, request))
    return Response({"tables": [_schema(name, table.columns) for name, table in tables.items()]})


def _schema(name: str, columns: Mapping[str, str]) -> dict[str, Any]:
    return {"table_id": name, "columns": [{"name": column, "description": None} for column in columns]}


def show_status(sources: Sources, request: Request) -> Response:
    row = _source(sources, request)
    shown = {
        "initialized": "True",
        "last_error": "None",
        "last_updated": sources.records.timestamp("%Y-%m-%d %H:%M:%S"),
    }
    return Response(
        {**shown, "number_of_updates": "1", "subscriptions": "[]", "subscribers": "[]", "name": row["name"]}
    )


def list_actions(sources: Sources, request: Request) -> Response:
    _source(sources, request)
    return Response({"results": []})


def list_source_tables(sources: Sources, request: Request) -> Response:
    return Response({"results": [{"id": name} for name in sources.tables(_source(sources, request))]})


def _source_table(sources: Sources, request: Request) -> str:
    name = request.vars["table_id"]
    if name not in sources.tables(_source(sources, request)):
        raise not_found(f"datasource table with id '{name}' doesn't exist")
    return name


def show_source_table(sources: Sources, request: Request) -> Response:
    return Response({"id": _source_table(sources, request)})


def show_source_schema(sources: Sources, request: Request) -> Response:
    name = _source_table(sources, request)
    return Response(_schema(name, sources.tables(_source(sources, request))[name].columns))


def list_source_rows(sources: Sources, request: Request) -> Response:
    name = _source_table(sources, request)
    rows = sources.read(request, _source(sources, request), name)
    return Response({"results": [{"data": row} for row in rows]})


# -- drivers and versions --------------------------------------------------------------------------------------------


def list_drivers(sources: Sources, request: Request) -> Response:
    return Response(
        {"results": [{"id": name, "description": one.description} for name, one in sources.drivers().items()]}
    )


def show_driver(sources: Sources, request: Request) -> Response:
    key = request.vars["driver_id"]
    driver = sources.drivers().get(key)
    if driver is None:
        raise not_found(f"Datasource driver {key} does not exist")
    tables = [_schema(name, table.columns) for name, table in driver.tables.items()]
    return Response({"id": key, "description": driver.description, "tables": tables, "config": {}})


_VERSION = ApiVersion("v1", (own("/v1"),), details={"updated": "2013-08-12T17:42:13Z"})


_POLICY_ROUTES = {
    "/policies": {"GET": list_policies, "POST": create_policy},
    "/policies/{policy_id}": {"GET": show_policy, "POST": act_on_policy, "DELETE": delete_policy},
    "/policies/{policy_id}/rules": {"GET": list_rules, "POST": create_rule},
    "/policies/{policy_id}/rules/{rule_id}": {"GET": show_rule, "DELETE": delete_rule},
    "/policies/{policy_id}/tables": {"GET": list_tables},
    "/policies/{policy_id}/tables/{table_id}": {"GET": show_table},
    "/policies/{policy_id}/tables/{table_id}/rows": {"GET": list_rows},
}
_SOURCE_ROUTES = {
    "/data-sources": {"GET": list_sources, "POST": create_source},
    "/data-sources/{source_id}": {"DELETE": delete_source},
    "/data-sources/{source_id}/schema": {"GET": show_schema},
    "/data-sources/{source_id}/status": {"GET": show_status},
    "/data-sources/{source_id}/actions": {"GET": list_actions},
    "/data-sources/{source_id}/tables": {"GET": list_source_tables},
    "/data-sources/{source_id}/tables/{table_id}": {"GET": show_source_table},
    "/data-sources/{source_id}/tables/{table_id}/spec": {"GET": show_source_schema},
    "/data-sources/{source_id}/tables/{table_id}/rows": {"GET": list_source_rows},
    "/system/drivers": {"GET": list_drivers},
    "/system/drivers/{driver_id}": {"GET": show_driver},
}
ROUTES = merged(
    using(
        Policies, {path: {verb: admin(one) for verb, one in verbs.items()} for path, verbs in _POLICY_ROUTES.items()}
    ),
    using(Sources, {path: {verb: admin(one) for verb, one in verbs.items()} for path, verbs in _SOURCE_ROUTES.items()}),
)

POLICY = Service(
    name="congress",
    mount="/policy",
    records=PolicyRecords,
    endpoints={"policy": "/policy"},
    prefixes=("/v1",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION)}, "/v1": {"GET": one_version(_VERSION)}},
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.congress,
)
