"""All routes, all kinds of caller: who is let through to the engine, who is refused and learns nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from falcon import testing
from stoker_reference import permissions

from stoker.api.app import make_app
from stoker.api.auth import Credentials, Policy, WSGIApplication
from stoker.api.policies import RULE_SETS
from stoker.api.v1.routes import ROUTES
from stoker.base.config import load_config
from testing.cases import check_each
from tests.api.api_support import PROJECT, FakeEngine, scripted_engine
from tests.api.test_api_routes import CASES, NAMED_CASES, Case, route_of

ELSEWHERE = "ffffffffffffffffffffffffffffffff"
PROJECTS = {permissions.PROJECT: PROJECT, permissions.OTHER: ELSEWHERE, "": ""}

NOT_FOR_READERS = {
    "actions:accept_drift", "actions:action", "actions:cancel_update", "actions:cancel_without_rollback",
    "actions:resume", "actions:retry", "actions:rollback",
    "actions:snapshot", "actions:suspend", "resource:mark_unhealthy", "service:index", "software_configs:create",
    "software_configs:delete", "software_configs:global_index", "software_deployments:create",
    "software_deployments:delete", "software_deployments:update", "stacks:abandon", "stacks:create", "stacks:delete",
    "stacks:delete_snapshot", "stacks:export", "stacks:generate_template", "stacks:global_index",
    "stacks:preview_update", "stacks:preview_update_patch", "stacks:restore_snapshot", "stacks:snapshot",
    "stacks:lock", "stacks:unlock", "stacks:update_settings", "change_requests:judge", "change_requests:break_glass",
    "stacks:update_change_control", "stacks:update_plan_policies",
    "refactors:create", "refactors:create_stacks", "refactors:execute",
    "stacks:update", "stacks:update_no_change", "stacks:update_patch", "stacks:validate_template",
}  # fmt: skip
FOR_STACK_USERS = {"resource:metadata", "resource:signal", "software_deployments:metadata", "stacks:lookup"}
FOR_MANAGERS = {"change_requests:break_glass", "stacks:update_change_control", "stacks:update_plan_policies"}
GLOBAL = {"stacks:global_index", "software_configs:global_index"}
OBSERVED: dict[str, Callable[[str], bool]] = {
    "administrator": lambda rule: rule not in GLOBAL,
    "manager": lambda rule: rule not in {"service:index", *GLOBAL},
    "member": lambda rule: rule not in {"service:index", *FOR_MANAGERS, *GLOBAL},
    "reader": lambda rule: rule not in NOT_FOR_READERS,
    "stack user": lambda rule: rule in FOR_STACK_USERS,
}
"""What Heat was seen to allow (the policies that Heat publishes, observed.new_defaults_only); all others: nothing.

Stoker's own extensions are among them: trying again and going back are for members, histories for readers.
"""


def as_persona(application: WSGIApplication) -> WSGIApplication:
    """Stands in for keystonemiddleware: the token is the name of a kind of caller."""

    def checked(environ: dict[str, Any], start_response: Any) -> Any:
        persona = permissions.PERSONAS.get(environ.get("HTTP_X_AUTH_TOKEN", ""))
        return application(environ if persona is None else environ | headers_of(persona), start_response)

    return checked


def headers_of(persona: Credentials) -> dict[str, str]:
    """What keystonemiddleware says of a caller."""
    scope = {"HTTP_OPENSTACK_SYSTEM_SCOPE": persona.system_scope, "HTTP_X_DOMAIN_ID": persona.domain_id}
    return {
        "HTTP_X_IDENTITY_STATUS": "Confirmed",
        "HTTP_X_USER_ID": persona.user_id,
        "HTTP_X_PROJECT_ID": PROJECTS[persona.project_id],
        "HTTP_X_ROLES": ",".join(persona.roles),
        "HTTP_X_IS_ADMIN_PROJECT": str(persona.is_admin_project),
        **{name: value for name, value in scope.items() if value is not None},
    }


@pytest.fixture(scope="module")
def everything() -> tuple[FakeEngine, testing.TestClient]:
    """One engine and one API for all cases."""
    engine = scripted_engine()
    return engine, testing.TestClient(make_app(load_config([], []), engine, as_persona))


@pytest.fixture
def engine(everything: tuple[FakeEngine, testing.TestClient]) -> FakeEngine:
    """The engine, which has not been asked anything yet."""
    everything[0].calls.clear()
    return everything[0]


def ask(client: testing.TestClient, persona: str, method: str, path: str, body: Any = None) -> testing.Result:
    return client.simulate_request(method, f"/v1/{PROJECT}{path}", headers={"X-Auth-Token": persona}, json=body)


@pytest.fixture
def client(everything: tuple[FakeEngine, testing.TestClient]) -> testing.TestClient:
    return everything[1]


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(load_config([], []))


@pytest.mark.parametrize("persona", permissions.PERSONAS)
def test_routes_and_persona(client: testing.TestClient, engine: FakeEngine, persona: str) -> None:
    def check(case: Case) -> None:
        method, path, body, status, _ = case
        rule = ROUTES[route_of(path)][method].rule(body)
        may = persona in OBSERVED and OBSERVED[persona](rule)
        engine.calls.clear()

        answer = ask(client, persona, method, path, body)

        assert answer.status_code == (status if may else 403), answer.text
        if not may:
            assert engine.calls == []
            assert answer.json["error"]["type"] == "HTTPForbidden"

    check_each(NAMED_CASES, check)


@pytest.mark.parametrize("token", ["", "nobody"])
def test_without_a_valid_token(client: testing.TestClient, engine: FakeEngine, token: str) -> None:
    def check(case: Case) -> None:
        method, path, body, _, _ = case
        answer = ask(client, token, method, path, body)
        assert answer.status_code == 401
        assert engine.calls == []

    check_each(NAMED_CASES, check)


@pytest.mark.parametrize("persona", permissions.PERSONAS)
def test_every_policy_rule_matches_heat(policy: Policy, persona: str) -> None:
    """Also rules that no route asks for."""

    def may(rule: str) -> bool:
        return persona in OBSERVED and OBSERVED[persona](rule)

    names = [name for rules in RULE_SETS for name in rules.names if _of_the_rest_api(name)]
    assert len(names) > 50
    wrong = [name for name in names if permissions.allowed(policy, name, persona) != may(name)]
    assert wrong == []


def _of_the_rest_api(rule: str) -> bool:
    group, colon, _ = rule.partition(":")
    return bool(colon) and group not in ("cloudformation", "resource_types")


def test_the_manual_shows_every_route(policy: Policy) -> None:
    ((name, text),) = permissions.pages()
    assert name == "permissions.md"
    for path, methods in ROUTES.items():
        for method in methods:
            assert f"`{method} {path}`" in text


def test_the_operators_policy_file_decides(tmp_path: Path, engine: FakeEngine) -> None:
    overrides: Mapping[str, str] = {"stacks:index": "role:auditor", "stacks:delete": "!"}
    (tmp_path / "policy.yaml").write_text(json.dumps(overrides))
    settings = tmp_path / "heat.conf"
    settings.write_text(f"[oslo_policy]\npolicy_file = {tmp_path / 'policy.yaml'}\n")
    client = testing.TestClient(make_app(load_config([], [str(settings)]), engine, as_persona))
    delete = next(case for case in CASES if case[4] is not None and case[4][0] == "stack_delete")

    assert ask(client, "member", "GET", "/stacks").status_code == 403
    assert ask(client, "administrator", "DELETE", delete[1]).status_code == 403
    assert engine.calls == []
    assert ask(client, "member", "GET", "/stacks/detail").status_code == 200
    passed = ask(client, "member", "GET", "/permissions").json["permissions"]
    assert not passed["stacks:index"] and not passed["stacks:delete"] and passed["stacks:detail"]
