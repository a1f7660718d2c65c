"""Roles: where they are given, what they imply, and what `role_assignments` tells."""

from __future__ import annotations

from typing import Any

import pytest


def assignments(identity: Any, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = identity.ok("GET", f"/role_assignments?{query}")["role_assignments"]
    return found


@pytest.mark.parametrize("actor", ["user", "group"])
@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [
        ("/projects/{project}", ""),
        ("/domains/{domain}", ""),
        ("/system", ""),
        ("/OS-INHERIT/projects/{project}", "/inherited_to_projects"),
        ("/OS-INHERIT/domains/{domain}", "/inherited_to_projects"),
    ],
)
def test_role_is_assigned_listed_and_revoked(identity: Any, actor: str, prefix: str, suffix: str) -> None:
    project, held_by = identity.make("projects", name="lab"), identity.make(f"{actor}s", name="it")
    role = identity.make("roles", name="watcher")
    base = f"{prefix.format(project=project['id'], domain='default')}/{actor}s/{held_by['id']}/roles"
    one = f"{base}/{role['id']}{suffix}"
    assert identity.call("HEAD", one).status == 404
    assert identity.call("DELETE", one).status == 404
    assert identity.call("PUT", one).status == 204
    assert identity.call("PUT", one).status == 204
    assert identity.call("HEAD", one).status == 204
    assert [each["name"] for each in identity.ok("GET", base + suffix)["roles"]] == ["watcher"]
    [row] = assignments(identity, f"role.id={role['id']}")
    assert row[actor] == {"id": held_by["id"]}
    assert row["links"]["assignment"].endswith(one)
    assert (row["scope"].get("OS-INHERIT:inherited_to") == "projects") == bool(suffix)
    assert identity.call("PUT", f"{base}/unknown{suffix}").status == 404
    assert identity.call("DELETE", one).status == 204
    assert assignments(identity, f"role.id={role['id']}") == []


def test_inherited_roles_reach_the_projects_below_and_group_members(identity: Any) -> None:
    top = identity.make("projects", name="top")
    below = identity.make("projects", name="below", parent_id=top["id"])
    user, group = identity.make("users", name="ann", password="secret"), identity.make("groups", name="staff")
    identity.ok("PUT", f"/groups/{group['id']}/users/{user['id']}")
    member = identity.find("roles", "member")
    identity.ok("PUT", f"/OS-INHERIT/projects/{top['id']}/groups/{group['id']}/roles/{member}/inherited_to_projects")
    reached = identity.ok("GET", f"/users/{user['id']}/projects")["projects"]
    assert [each["id"] for each in reached] == [below["id"]]
    identity.token(user, {"project": {"id": below["id"]}})
    rows = assignments(identity, f"user.id={user['id']}&effective&include_names")
    assert {(row["role"]["name"], row["scope"]["project"]["name"]) for row in rows} == {
        ("member", "below"),
        ("reader", "below"),
    }
    assert all(row["links"]["membership"].endswith(f"/users/{user['id']}") for row in rows)
    assert [("prior_role" in row["links"]) for row in rows] == [row["role"]["name"] == "reader" for row in rows]
    tree = assignments(identity, f"scope.project.id={top['id']}&include_subtree&effective")
    assert {row["scope"]["project"]["id"] for row in tree} == {below["id"]}
    inherited = assignments(identity, "scope.OS-INHERIT:inherited_to=projects")
    assert [row["group"]["id"] for row in inherited] == [group["id"]]


@pytest.mark.parametrize(
    "query",
    [
        "user.id=a&group.id=b",
        "scope.project.id=a&scope.domain.id=b",
        "scope.system=all&scope.domain.id=b",
        "effective&group.id=a",
        "include_subtree",
        "effective=perhaps",
    ],
)
def test_contradictory_queries_are_refused(identity: Any, query: str) -> None:
    assert identity.call("GET", f"/role_assignments?{query}").status == 400


def test_one_role_implies_another(identity: Any) -> None:
    watcher, reader = identity.make("roles", name="watcher")["id"], identity.find("roles", "reader")
    path = f"/roles/{watcher}/implies"
    assert identity.call("GET", f"{path}/{reader}").status == 404
    made = identity.call("PUT", f"{path}/{reader}")
    assert made.status == 201
    assert made.json["role_inference"]["prior_role"]["id"] == watcher
    assert made.json["role_inference"]["implies"]["name"] == "reader"
    assert [each["id"] for each in identity.ok("GET", path)["role_inference"]["implies"]] == [reader]
    assert len(identity.ok("GET", "/role_inferences")["role_inferences"]) == 4
    assert identity.call("PUT", f"{path}/{identity.find('roles', 'admin')}").status == 403
    assert identity.call("DELETE", f"{path}/{reader}").status == 204
    assert identity.call("DELETE", f"{path}/{reader}").status == 404


def test_domain_specific_role_grants_implied_roles(identity: Any) -> None:
    domain = identity.make("domains", name="corp")["id"]
    project = identity.make("projects", name="lab", domain_id=domain)["id"]
    elsewhere = identity.find("projects", "demo")
    user = identity.make("users", name="ann", password="secret")
    local, reader = identity.make("roles", name="local", domain_id=domain)["id"], identity.find("roles", "reader")
    assert identity.call("PUT", f"/roles/{reader}/implies/{local}").status == 403
    foreign = identity.make("roles", name="foreign", domain_id="heat")["id"]
    assert identity.call("PUT", f"/roles/{local}/implies/{foreign}").status == 201
    assert identity.call("HEAD", f"/roles/{local}/implies/{foreign}").status == 204
    assert identity.call("PUT", f"/projects/{elsewhere}/users/{user['id']}/roles/{local}").status == 403
    identity.ok("PUT", f"/projects/{project}/users/{user['id']}/roles/{local}")
    login = {"password": {"user": {"id": user["id"], "password": "secret"}}}
    assert identity.log_in(login, {"project": {"id": project}}).status == 401
    identity.ok("PUT", f"/roles/{local}/implies/{reader}")
    token = identity.log_in(login, {"project": {"id": project}}).json["token"]
    assert [role["name"] for role in token["roles"]] == ["reader"]
    [row] = assignments(identity, f"user.id={user['id']}&effective")
    assert row["role"]["id"] == reader
    names = [role["name"] for role in identity.ok("GET", "/roles")["roles"]]
    assert "local" not in names
    assert [role["id"] for role in identity.ok("GET", f"/roles?domain_id={domain}")["roles"]] == [local]
