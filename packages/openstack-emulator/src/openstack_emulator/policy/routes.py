"""The policy service over HTTP. All requests are for administrators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.versions import ApiVersion, all_versions, one_version, own
from openstack_emulator.policy.records import DataSource, Policy, PolicyRule
from openstack_emulator.policy.rules.composition import PolicyEngine
from openstack_emulator.policy.rules.inputs import NewPolicy, NewRule
from openstack_emulator.policy.rules.policies import KINDS
from openstack_emulator.policy.views import policy_view, rule_view, schema_view, source_view

POLICY = {
    "name": fields.anything,
    "abbreviation": fields.nullable(fields.text(0, 5)),
    "description": fields.nullable(fields.text(0, 65_535)),
    "kind": fields.nullable(fields.one_of(*KINDS)),
    "rules": fields.anything,
}
RULE = {
    "rule": fields.anything,
    "name": fields.nullable(fields.text(0, 255)),
    "comment": fields.nullable(fields.text(0, 65_535)),
}
_VERSION = ApiVersion("v1", (own("/v1"),), details={"updated": "2013-08-12T17:42:13Z"})


def _missing_feature(what: str) -> ApiError:
    return ApiError(501, f"The emulated policy service has no {what}.")


def _policy(engine: PolicyEngine, request: Request) -> Policy:
    return engine.policies.find(request.vars["policy_id"])


def list_policies(engine: PolicyEngine, request: Request) -> Response:
    return Response({"results": [policy_view(row) for row in engine.policies.rows]})


def create_policy(engine: PolicyEngine, request: Request) -> Response:
    if request.query.get("library_policy") is not None:
        raise _missing_feature("policy library")
    body = request.json
    check_fields(body, POLICY, ("name",))
    name, rules = body["name"], body.get("rules") or []
    if not isinstance(name, str):
        raise bad_request(f"Policy name {name!r} must consist of letters, digits and underscores")
    if not isinstance(rules, list):
        raise bad_request("The rules of a policy must be a JSON array")
    new = NewPolicy(
        name=name,
        abbreviation=body.get("abbreviation"),
        description=body.get("description"),
        kind=body.get("kind"),
    )
    row = engine.policies.create(request.context, new, map(_new_rule, rules))
    shown = policy_view(row, engine.policies.rules.select(policy_id=row.id))
    return Response(shown, 201, {"Location": f"{request.url}/{row.id}"})


def _new_rule(body: Any) -> NewRule:
    """The rule in a request. Raises ApiError 400."""
    check_fields(body, RULE, ("rule",))
    return NewRule(rule=body["rule"], name=body.get("name"), comment=body.get("comment"))


def show_policy(engine: PolicyEngine, request: Request) -> Response:
    return Response(policy_view(_policy(engine, request)))


def act_on_policy(engine: PolicyEngine, request: Request) -> Response:
    _policy(engine, request)
    raise _missing_feature("simulation of policies (action=simulate)")


def delete_policy(engine: PolicyEngine, request: Request) -> Response:
    row = _policy(engine, request)
    engine.policies.delete(row)
    return Response(policy_view(row))


def list_rules(engine: PolicyEngine, request: Request) -> Response:
    rows = engine.policies.rules.select(policy_id=_policy(engine, request).id)
    return Response({"results": [rule_view(rule) for rule in rows]})


def create_rule(engine: PolicyEngine, request: Request) -> Response:
    rule = engine.policies.add_rule(_policy(engine, request), _new_rule(request.json))
    return Response(rule_view(rule), 201, {"Location": f"{request.url}/{rule.id}"})


def _rule(engine: PolicyEngine, request: Request) -> PolicyRule:
    return engine.policies.rule(_policy(engine, request), request.vars["rule_id"])


def show_rule(engine: PolicyEngine, request: Request) -> Response:
    return Response(rule_view(_rule(engine, request)))


def delete_rule(engine: PolicyEngine, request: Request) -> Response:
    rule = _rule(engine, request)
    engine.policies.rules.remove(rule)
    return Response(rule_view(rule))


def list_tables(engine: PolicyEngine, request: Request) -> Response:
    return Response({"results": [{"id": name} for name in engine.policies.tables(_policy(engine, request))]})


def _table(engine: PolicyEngine, request: Request) -> str:
    name = request.vars["table_id"]
    if name not in engine.policies.tables(_policy(engine, request)):
        raise not_found(f"policy table with id '{name}' doesn't exist")
    return name


def show_table(engine: PolicyEngine, request: Request) -> Response:
    return Response({"id": _table(engine, request)})


def list_rows(engine: PolicyEngine, request: Request) -> Response:
    name = _table(engine, request)
    if request.query.boolean("trace"):
        raise _missing_feature("explanation of rows (trace)")
    rows = engine.policies.read(request, _policy(engine, request), name)
    return Response({"results": [{"data": row} for row in rows]})


def _source(engine: PolicyEngine, request: Request) -> DataSource:
    return engine.sources.find(request.vars["source_id"])


def list_sources(engine: PolicyEngine, request: Request) -> Response:
    return Response({"results": [source_view(row) for row in engine.sources.rows]})


def create_source(engine: PolicyEngine, request: Request) -> Response:
    body = request.json
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(name, str) or not name.isidentifier():
        raise bad_request("The name of a data source must consist of letters, digits and underscores")
    if not isinstance(body.get("config") or {}, dict):
        raise bad_request("The config of a data source must be a JSON object")
    source = engine.sources.add(name, body.get("driver"), str(body.get("description") or ""))
    return Response(source_view(source), 201)


def delete_source(engine: PolicyEngine, request: Request) -> Response:
    row = _source(engine, request)
    engine.sources.rows.remove(row)
    return Response(source_view(row))


def show_schema(engine: PolicyEngine, request: Request) -> Response:
    tables = engine.sources.tables(_source(engine, request))
    return Response({"tables": [schema_view(name, table.columns) for name, table in tables.items()]})


def show_status(engine: PolicyEngine, request: Request) -> Response:
    row = _source(engine, request)
    shown = {
        "initialized": "True",
        "last_error": "None",
        "last_updated": engine.sources.records.timestamp("%Y-%m-%d %H:%M:%S"),
    }
    return Response({**shown, "number_of_updates": "1", "subscriptions": "[]", "subscribers": "[]", "name": row.name})


def list_actions(engine: PolicyEngine, request: Request) -> Response:
    _source(engine, request)
    return Response({"results": []})


def list_source_tables(engine: PolicyEngine, request: Request) -> Response:
    return Response({"results": [{"id": name} for name in engine.sources.tables(_source(engine, request))]})


def _source_table(engine: PolicyEngine, request: Request) -> str:
    name = request.vars["table_id"]
    if name not in engine.sources.tables(_source(engine, request)):
        raise not_found(f"datasource table with id '{name}' doesn't exist")
    return name


def show_source_table(engine: PolicyEngine, request: Request) -> Response:
    return Response({"id": _source_table(engine, request)})


def show_source_schema(engine: PolicyEngine, request: Request) -> Response:
    name = _source_table(engine, request)
    return Response(schema_view(name, engine.sources.tables(_source(engine, request))[name].columns))


def list_source_rows(engine: PolicyEngine, request: Request) -> Response:
    name = _source_table(engine, request)
    rows = engine.sources.read(request, _source(engine, request), name)
    return Response({"results": [{"data": row} for row in rows]})


def list_drivers(engine: PolicyEngine, request: Request) -> Response:
    return Response(
        {
            "results": [
                {"id": name, "description": driver.description} for name, driver in engine.sources.drivers().items()
            ]
        }
    )


def show_driver(engine: PolicyEngine, request: Request) -> Response:
    key = request.vars["driver_id"]
    driver = engine.sources.drivers().get(key)
    if driver is None:
        raise not_found(f"Datasource driver {key} does not exist")
    tables = [schema_view(name, table.columns) for name, table in driver.tables.items()]
    return Response({"id": key, "description": driver.description, "tables": tables, "config": {}})


Routes = Mapping[str, Mapping[str, Callable[[PolicyEngine, Request], Response]]]

ROUTES: Routes = {
    "/data-sources": {"GET": list_sources, "POST": create_source},
    "/data-sources/{source_id}": {"DELETE": delete_source},
    "/data-sources/{source_id}/actions": {"GET": list_actions},
    "/data-sources/{source_id}/schema": {"GET": show_schema},
    "/data-sources/{source_id}/status": {"GET": show_status},
    "/data-sources/{source_id}/tables": {"GET": list_source_tables},
    "/data-sources/{source_id}/tables/{table_id}": {"GET": show_source_table},
    "/data-sources/{source_id}/tables/{table_id}/rows": {"GET": list_source_rows},
    "/data-sources/{source_id}/tables/{table_id}/spec": {"GET": show_source_schema},
    "/policies": {"GET": list_policies, "POST": create_policy},
    "/policies/{policy_id}": {"GET": show_policy, "POST": act_on_policy, "DELETE": delete_policy},
    "/policies/{policy_id}/rules": {"GET": list_rules, "POST": create_rule},
    "/policies/{policy_id}/rules/{rule_id}": {"GET": show_rule, "DELETE": delete_rule},
    "/policies/{policy_id}/tables": {"GET": list_tables},
    "/policies/{policy_id}/tables/{table_id}": {"GET": show_table},
    "/policies/{policy_id}/tables/{table_id}/rows": {"GET": list_rows},
    "/system/drivers": {"GET": list_drivers},
    "/system/drivers/{driver_id}": {"GET": show_driver},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": all_versions(_VERSION)},
    "/v1": {"GET": one_version(_VERSION)},
}
"""What is directly below the mount: the versions."""
