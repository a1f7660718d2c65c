"""Domains as projects, and the configuration they may have of their own."""

from __future__ import annotations

from typing import Any

import pytest

CONFIG = {"identity": {"driver": "ldap"}, "ldap": {"url": "ldap://directory.example.org", "password": "hidden"}}
SHOWN = {"identity": {"driver": "ldap"}, "ldap": {"url": "ldap://directory.example.org"}}


def test_project_acting_as_domain(identity: Any) -> None:
    made = identity.make("projects", name="acting", is_domain=True)
    assert (made["is_domain"], made["domain_id"], made["parent_id"]) == (True, None, None)
    assert made["id"] in [domain["id"] for domain in identity.ok("GET", "/domains")["domains"]]
    acting = [project["id"] for project in identity.ok("GET", "/projects?is_domain=true")["projects"]]
    assert "default" in acting and made["id"] in acting
    assert made["id"] not in [project["id"] for project in identity.ok("GET", "/projects")["projects"]]
    below = identity.make("projects", name="below", domain_id=made["id"])
    shown = identity.ok("GET", f"/projects/{made['id']}?subtree_as_ids")["project"]
    assert shown["subtree"] == {below["id"]: None}
    assert identity.call("DELETE", f"/projects/{made['id']}").status == 403
    identity.ok("PATCH", f"/projects/{made['id']}", {"project": {"enabled": False}})
    identity.ok("DELETE", f"/projects/{made['id']}")
    assert identity.call("GET", f"/domains/{made['id']}").status == 404
    refused = identity.call("POST", "/projects", {"project": {"name": "x", "is_domain": True, "domain_id": "default"}})
    assert refused.status == 400


@pytest.mark.parametrize("plural", ["domains", "projects"])
def test_names_of_domains_and_projects_have_64_characters_at_most(identity: Any, plural: str) -> None:
    singular = plural.removesuffix("s")
    assert identity.call("POST", f"/{plural}", {singular: {"name": "a" * 64}}).status == 201
    assert identity.call("POST", f"/{plural}", {singular: {"name": "b" * 65}}).status == 400


def test_a_domain_has_options_of_its_own(identity: Any) -> None:
    path = f"/domains/{identity.make('domains', name='configured')['id']}/config"
    assert identity.call("GET", path).status == 404
    assert identity.call("PUT", path, {"config": CONFIG}).status == 201
    assert identity.ok("GET", path)["config"] == SHOWN
    assert identity.ok("GET", f"{path}/identity")["config"] == {"identity": {"driver": "ldap"}}
    assert identity.ok("GET", f"{path}/ldap/url")["config"] == {"url": "ldap://directory.example.org"}
    changed = identity.ok("PATCH", f"{path}/identity", {"config": {"identity": {"list_limit": 5}}})["config"]
    assert changed["identity"] == {"driver": "ldap", "list_limit": 5}
    changed = identity.ok("PATCH", f"{path}/identity/driver", {"config": {"driver": "sql"}})["config"]
    assert changed["identity"]["driver"] == "sql"
    identity.ok("DELETE", f"{path}/identity/driver")
    assert identity.call("GET", f"{path}/identity/driver").status == 404
    identity.ok("DELETE", f"{path}/identity")
    assert identity.ok("GET", path)["config"] == {"ldap": SHOWN["ldap"]}
    identity.ok("DELETE", path)
    assert identity.call("GET", path).status == 404


@pytest.mark.parametrize(
    ("method", "suffix", "config", "status"),
    [
        ("PUT", "", {"unknown": {"a": 1}}, 403),
        ("PUT", "", {"ldap": {"unknown": 1}}, 403),
        ("PUT", "", {}, 403),
        ("PATCH", "/ldap", {"identity": {"driver": "sql"}}, 403),
        ("PATCH", "/ldap/url", {"user": "x"}, 403),
        ("PATCH", "/ldap/suffix", {"suffix": "x"}, 404),
    ],
)
def test_refused_options(identity: Any, method: str, suffix: str, config: dict[str, Any], status: int) -> None:
    path = "/domains/default/config"
    identity.ok("PUT", path, {"config": CONFIG})
    assert identity.call(method, path + suffix, {"config": config}).status == status
    assert identity.ok("GET", path)["config"] == SHOWN


def test_defaults_of_the_options(identity: Any) -> None:
    everything = identity.ok("GET", "/domains/config/default")["config"]
    assert identity.ok("GET", "/domains/config/identity/default")["config"] == {"identity": everything["identity"]}
    assert identity.ok("GET", "/domains/config/ldap/url/default")["config"] == {"url": everything["ldap"]["url"]}
    assert identity.call("GET", "/domains/config/unknown/default").status == 403
