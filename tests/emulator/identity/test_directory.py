"""Domains, projects, users, groups and roles: their rules, and who may touch them."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud


@pytest.mark.parametrize(
    ("plural", "fields"),
    [
        ("domains", {}),
        ("projects", {}),
        ("users", {}),
        ("groups", {}),
        ("roles", {}),
    ],
)
def test_names_are_unique_required_and_changeable(identity: Any, plural: str, fields: dict[str, Any]) -> None:
    singular = plural.removesuffix("s")
    made = identity.make(plural, name="one", **fields)
    assert identity.ok("GET", f"/{plural}/{made['id']}")[singular] == made
    assert made["links"]["self"].endswith(f"/v3/{plural}/{made['id']}")
    identity.make(plural, name="two", **fields)
    for body, status in (
        ({"name": "one", **fields}, 409),
        (fields, 400),
        ({"name": "", **fields}, 400),
        ({"name": 5, **fields}, 400),
        ({"name": "x" * 256, **fields}, 400),
        ({"name": "three", "_private": 1, **fields}, 400),
    ):
        assert identity.call("POST", f"/{plural}", {singular: body}).status == status
    change = identity.call("PATCH", f"/{plural}/{made['id']}", {singular: {"name": "two"}})
    assert change.status == 409
    changed = identity.ok("PATCH", f"/{plural}/{made['id']}", {singular: {"name": "renamed", "cost": 7}})[singular]
    assert (changed["name"], changed["cost"]) == ("renamed", 7)
    assert identity.call("PATCH", f"/{plural}/nothing", {singular: {"name": "x"}}).status == 404
    assert identity.call("HEAD", f"/{plural}/{made['id']}").status == 200


@pytest.mark.parametrize("plural", ["domains", "projects", "users", "groups"])
def test_unprivileged_users_have_no_directory_access(identity: Any, served: ServedCloud, plural: str) -> None:
    demo = served.token("demo", "demo")
    other = identity.make(plural, name="one")
    answers = [
        identity.call("GET", f"/{plural}", token=demo),
        identity.call("POST", f"/{plural}", {plural.removesuffix("s"): {"name": "x"}}, demo),
        identity.call("GET", f"/{plural}/{other['id']}", token=demo),
        identity.call("GET", f"/{plural}/nothing", token=demo),
        identity.call("DELETE", f"/{plural}/{other['id']}", token=demo),
    ]
    assert [answer.status for answer in answers] == [403] * 5
    message = f"You are not authorized to perform the requested action: identity:list_{plural}."
    assert answers[0].json["error"]["message"] == message


def test_users_see_themselves_their_project_and_domain(identity: Any, served: ServedCloud) -> None:
    demo = served.token("demo", "demo")
    user, project = identity.find("users", "demo"), identity.find("projects", "demo")
    paths = (f"/users/{user}", f"/projects/{project}", "/domains/default", f"/users/{user}/projects", "/regions")
    assert [identity.call("GET", path, token=demo).status for path in paths] == [200] * len(paths)


def test_domain_managers_and_readers_are_limited_to_their_domain(identity: Any) -> None:
    domain = identity.make("domains", name="corp")
    people = {role: identity.make("users", name=role, password="secret") for role in ("manager", "reader")}
    for role, user in people.items():
        identity.grant(f"/domains/{domain['id']}/users/{user['id']}", role)
    scope = {"domain": {"id": domain["id"]}}
    manager, reader = (identity.token(people[role], scope) for role in ("manager", "reader"))
    project = identity.make("projects", token=manager, name="inside")
    user = identity.make("users", token=manager, name="ann")
    assert project["domain_id"] == user["domain_id"] == domain["id"]
    outside = {"project": {"name": "outside", "domain_id": "default"}}
    assert identity.call("POST", "/projects", outside, manager).status == 403
    assert identity.call("POST", "/projects", {"project": {"name": "x"}}, reader).status == 403
    assert [each["name"] for each in identity.ok("GET", "/users", token=reader)["users"]] == ["ann"]
    place = f"/projects/{project['id']}/users/{user['id']}/roles"
    roles = {name: identity.find("roles", name) for name in ("member", "admin")}
    assert identity.call("PUT", f"{place}/{roles['member']}", token=manager).status == 204
    assert identity.call("PUT", f"{place}/{roles['admin']}", token=manager).status == 403
    seen = identity.ok("GET", "/role_assignments", token=reader)["role_assignments"]
    assert {row["scope"].get("domain", row["scope"].get("project"))["id"] for row in seen} == {
        domain["id"],
        project["id"],
    }


def test_disabled_domain_is_deleted_with_its_content(identity: Any) -> None:
    domain = identity.make("domains", name="corp")
    top = identity.make("projects", name="top", domain_id=domain["id"])
    identity.make("projects", name="below", parent_id=top["id"])
    made = [("users", "ann"), ("groups", "staff"), ("roles", "local")]
    made = [(plural, identity.make(plural, name=name, domain_id=domain["id"])["id"]) for plural, name in made]
    assert identity.call("DELETE", f"/domains/{domain['id']}").status == 403
    identity.ok("PATCH", f"/domains/{domain['id']}", {"domain": {"enabled": False}})
    assert identity.call("DELETE", f"/domains/{domain['id']}").status == 204
    for plural, key in [("domains", domain["id"]), ("projects", top["id"]), *made]:
        assert identity.call("GET", f"/{plural}/{key}").status == 404


def test_project_hierarchy(identity: Any) -> None:
    top = identity.make("projects", name="top")
    middle = identity.make("projects", name="middle", parent_id=top["id"])
    low = identity.make("projects", name="low", parent_id=middle["id"])
    query = "parents_as_ids&subtree_as_list"
    shown = identity.ok("GET", f"/projects/{middle['id']}?{query}")["project"]
    assert shown["parents"] == {top["id"]: {"default": None}}
    assert [each["project"]["id"] for each in shown["subtree"]] == [low["id"]]
    both = identity.ok("GET", f"/projects/{middle['id']}?parents_as_list&subtree_as_ids")["project"]
    assert [each["project"]["id"] for each in both["parents"]] == [top["id"]]
    assert both["subtree"] == {low["id"]: None}
    listed = identity.ok("GET", f"/projects?parent_id={top['id']}")["projects"]
    assert [each["id"] for each in listed] == [middle["id"]]
    refused = [
        identity.call("DELETE", f"/projects/{top['id']}"),
        identity.call("PATCH", f"/projects/{top['id']}", {"project": {"enabled": False}}),
        identity.call("PATCH", f"/projects/{low['id']}", {"project": {"parent_id": top["id"]}}),
    ]
    assert [answer.status for answer in refused] == [403, 403, 403]
    assert identity.call("PATCH", f"/projects/{low['id']}", {"project": {"domain_id": "heat"}}).status == 400
    four = identity.make("projects", name="four", parent_id=low["id"])
    five = identity.make("projects", name="five", parent_id=four["id"])
    deeper = {"project": {"name": "six", "parent_id": five["id"]}}
    assert identity.call("POST", "/projects", deeper).status == 403


def test_tags(identity: Any) -> None:
    project = identity.make("projects", name="tagged", tags=["red"])
    tags = f"/projects/{project['id']}/tags"
    assert identity.call("PUT", f"{tags}/blue").status == 201
    assert identity.call("HEAD", f"{tags}/blue").status == 204
    assert identity.ok("GET", tags)["tags"] == ["red", "blue"]
    for query, found in (("tags=red,blue", 1), ("tags=red,green", 0), ("tags-any=red,green", 1), ("not-tags=red", 0)):
        listed = identity.ok("GET", f"/projects?name=tagged&{query}")["projects"]
        assert len(listed) == found, query
    assert identity.ok("PUT", tags, {"tags": ["green"]})["tags"] == ["green"]
    assert identity.call("PUT", tags, {"tags": ["a,b"]}).status == 400
    assert identity.call("PUT", tags, {"tags": ["a", "a"]}).status == 400
    assert identity.call("PUT", tags, []).status == 400
    assert identity.call("GET", f"{tags}/red").status == 404
    assert identity.call("DELETE", f"{tags}/green").status == 204
    assert identity.call("DELETE", f"{tags}/green").status == 404
    assert identity.call("DELETE", tags).status == 204


def test_immutable_project_cannot_be_changed(identity: Any) -> None:
    project = identity.make("projects", name="stone", options={"immutable": True})
    path = f"/projects/{project['id']}"
    assert identity.call("DELETE", path).status == 403
    assert identity.call("PATCH", path, {"project": {"name": "x"}}).status == 403
    identity.ok("PATCH", path, {"project": {"options": {"immutable": None}}})
    assert identity.call("DELETE", path).status == 204
    assert identity.call("POST", "/projects", {"project": {"name": "x", "options": {"odd": 1}}}).status == 400


def test_filters_and_pages(identity: Any) -> None:
    for name in ("apple", "Apricot", "banana"):
        identity.make("users", name=name, enabled=name != "banana", email=f"{name}@x")
    for query, names in (
        ("name__startswith=ap", ["apple"]),
        ("name__istartswith=ap", ["apple", "Apricot"]),
        ("name__contains=an", ["banana"]),
        ("name__iendswith=COT", ["Apricot"]),
        ("enabled=false", ["banana"]),
        ("email=apple@x", ["apple"]),
    ):
        assert [user["name"] for user in identity.ok("GET", f"/users?{query}")["users"]] == names
    first = identity.ok("GET", "/users?name__icontains=ap&limit=1")
    assert [user["name"] for user in first["users"]] == ["apple"]
    assert first["truncated"]
    second = identity.ok("GET", first["links"]["next"].partition("/identity/v3")[2])
    assert [user["name"] for user in second["users"]] == ["Apricot"]
    assert second["links"]["next"] is None
    assert identity.call("GET", "/users?name__like=x").status == 400
    assert identity.call("GET", "/users?enabled=perhaps").status == 400


def test_password_changes_and_disabling_revoke_tokens(identity: Any) -> None:
    user = identity.make("users", name="ann", password="secret", email="a@x")
    assert user["email"] == "a@x"
    assert user["password_expires_at"] is None
    assert not {"password", "_password"} & set(user)
    token = identity.token(user)
    path = f"/users/{user['id']}/password"
    wrong = {"user": {"original_password": "no", "password": "new"}}
    served = identity.served
    assert served.call("POST", f"/identity/v3{path}", wrong).status == 401
    right = {"user": {"original_password": "secret", "password": "new"}}
    assert served.call("POST", f"/identity/v3{path}", right).status == 204
    assert identity.call("GET", "/auth/projects", token=token).status == 401
    token = identity.token(user, password="new")
    identity.ok("PATCH", f"/users/{user['id']}", {"user": {"enabled": False}})
    assert identity.log_in({"password": {"user": {"id": user["id"], "password": "new"}}}).status == 401
    identity.ok("PATCH", f"/users/{user['id']}", {"user": {"enabled": True, "password": "third"}})
    assert identity.call("GET", "/auth/projects", token=token).status == 401
    identity.token(user, password="third")


def test_user_options_are_enforced(identity: Any) -> None:
    locked = identity.make("users", name="ann", password="secret", options={"lock_password": True})
    change = {"user": {"original_password": "secret", "password": "new"}}
    assert identity.call("POST", f"/users/{locked['id']}/password", change).status == 403
    options = {"multi_factor_auth_enabled": True, "multi_factor_auth_rules": [["password", "totp"]]}
    strict = identity.make("users", name="bob", password="secret", options=options)
    assert identity.log_in({"password": {"user": {"id": strict["id"], "password": "secret"}}}).status == 401


def test_a_default_project_is_the_scope_when_none_is_named(identity: Any) -> None:
    project = identity.make("projects", name="home")
    user = identity.make("users", name="ann", password="secret", default_project_id=project["id"])
    login = {"password": {"user": {"id": user["id"], "password": "secret"}}}
    assert "project" not in identity.log_in(login).json["token"]
    identity.grant(f"/projects/{project['id']}/users/{user['id']}", "member")
    assert identity.log_in(login).json["token"]["project"]["id"] == project["id"]


def test_groups_and_their_members(identity: Any) -> None:
    group, user = identity.make("groups", name="staff"), identity.make("users", name="ann", password="secret")
    member = f"/groups/{group['id']}/users/{user['id']}"
    assert identity.call("HEAD", member).status == 404
    assert identity.call("PUT", member).status == 204
    assert identity.call("PUT", member).status == 204
    assert identity.call("HEAD", member, token=identity.token(user)).status == 204
    assert [each["id"] for each in identity.ok("GET", f"/groups/{group['id']}/users")["users"]] == [user["id"]]
    mine = identity.ok("GET", f"/users/{user['id']}/groups", token=identity.token(user))["groups"]
    assert [each["id"] for each in mine] == [group["id"]]
    assert identity.call("DELETE", member).status == 204
    assert identity.call("DELETE", member).status == 404
    assert identity.call("PUT", f"/groups/{group['id']}/users/nobody").status == 404


def test_extra_attributes_may_have_any_name(identity: Any) -> None:
    words = {"self": 1, "extra": [2], "fault": "none", "rows": {}}
    made = identity.ok("POST", "/users", {"user": {"name": "zoe", **words}})["user"]
    shown = identity.ok("GET", f"/users/{made['id']}")["user"]
    assert words.items() <= shown.items()
    changed = identity.ok("PATCH", f"/users/{made['id']}", {"user": {"extra": "new", "default_project_id": None}})
    assert changed["user"]["extra"] == {**words, "extra": "new"}
    assert "default_project_id" not in changed["user"]


def test_a_domain_that_is_changed_as_a_project_is_no_project_after_that(identity: Any) -> None:
    domain = identity.make("projects", name="acting", is_domain=True)
    user = identity.make("users", name="ann", domain_id=domain["id"], password="secret")
    change = {"project": {"domain_id": None, "parent_id": None, "description": "x"}}
    assert identity.ok("PATCH", f"/projects/{domain['id']}", change)["project"]["description"] == "x"
    assert "parent_id" not in identity.ok("GET", f"/domains/{domain['id']}")["domain"]
    identity.grant(f"/domains/{domain['id']}/users/{user['id']}", "reader")
    assert identity.token(user, {"domain": {"id": domain["id"]}})
    odd = identity.call("POST", "/projects", {"project": {"name": "x", "is_domain": True, "explicit_domain_id": []}})
    assert odd.status == 400
