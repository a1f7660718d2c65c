"""Policies, rules and tables over HTTP: rules are checked, and evaluated over the objects of the cloud."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud


class Client:
    """Sends requests as an administrator."""

    def __init__(self, served: ServedCloud) -> None:
        self.served, self.token = served, served.token()

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        base = "" if path.startswith(("/network", "/compute")) else "/policy/v1"
        return self.served.call(method, base + path, body, self.token)

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.call(method, path, body)
        assert answer.status in (200, 201), answer.content
        return answer.json

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        answer = self.call(method, path, body)
        assert answer.status >= 400
        error = answer.json["error"]
        assert error["error_code"] == answer.status
        return answer.status, error["message"]

    def rows(self, policy: str, table: str) -> list[Any]:
        return [row["data"] for row in self.ok("GET", f"/policies/{policy}/tables/{table}/rows")["results"]]


@pytest.fixture
def congress(served: ServedCloud) -> Client:
    return Client(served)


def test_policy_lifecycle(congress: Client, served: ServedCloud) -> None:
    made = congress.ok("POST", "/policies", {"name": "security", "description": "d"})
    assert (made["kind"], made["abbreviation"], made["description"]) == ("nonrecursive", "secur", "d")
    assert congress.ok("GET", "/policies/security") == made
    assert [row["name"] for row in congress.ok("GET", "/policies")["results"]] == [
        "classification",
        "action",
        "security",
    ]
    assert congress.refused("POST", "/policies", {"name": "security"})[0] == 409
    assert congress.refused("POST", "/policies", {"name": "nova"})[0] == 409
    for wrong in ({"name": "a-b"}, {"name": "x", "kind": "y"}, {}, {"name": "x", "rules": [{"rule": "p("}]}):
        assert congress.refused("POST", "/policies", wrong)[0] == 400
    assert len(congress.ok("GET", "/policies")["results"]) == 3
    assert congress.refused("DELETE", "/policies/classification")[0] == 403
    rule = congress.ok("POST", "/policies/security/rules", {"rule": "p( x ):-q(x,  'a')", "name": "n", "comment": "c"})
    assert rule == {"id": rule["id"], "rule": 'p(x) :- q(x, "a")', "name": "n", "comment": "c"}
    assert congress.refused("POST", "/policies/security/rules", {"rule": 'p(x) :- q(x, "a")'})[0] == 409
    assert [one["id"] for one in congress.ok("GET", f"/policies/{made['id']}/tables")["results"]] == ["p", "q"]
    assert congress.refused("GET", f"/policies/action/rules/{rule['id']}")[0] == 404
    assert congress.ok("DELETE", f"/policies/security/rules/{rule['id']}")["id"] == rule["id"]
    assert congress.ok("DELETE", "/policies/security")["name"] == "security"
    assert congress.refused("GET", "/policies/security") == (404, "policy with id 'security' doesn't exist")
    assert served.call("GET", "/policy/v1/policies", token=served.token("demo", "demo")).status == 403


def test_rules_are_evaluated_over_the_objects_of_the_cloud(congress: Client) -> None:
    nets = [
        congress.call("POST", "/network/v2.0/networks", {"network": {"name": name, "admin_state_up": up}}).json[
            "network"
        ]
        for name, up in (("one", True), ("two", False))
    ]
    rules = [
        'down(id, name) :- neutronv2:networks(id=id, name=name, admin_state_up="False")',
        "allowed(name) :- names:exempt(name)",
        "error(id) :- down(id, name), not allowed(name)",
        "long(x, n) :- neutronv2:networks(name=x), builtin:len(x, n), builtin:gt(n, 3), not equal(x, 'two')",
        "sum(z) :- builtin:plus(1, 2, y), builtin:mul(y, y, z)",
    ]
    congress.ok("POST", "/policies", {"name": "names", "kind": "database"})
    congress.ok("POST", "/policies", {"name": "nets", "rules": [{"rule": rule} for rule in rules]})
    assert congress.rows("nets", "error") == [[nets[1]["id"]]]
    assert congress.rows("nets", "sum") == [[9]]
    assert [row for row in congress.rows("nets", "long") if row[0] in ("one", "two")] == []
    fact = congress.ok("POST", "/policies/names/rules", {"rule": 'exempt("two")'})
    assert congress.rows("names", "exempt") == [["two"]]
    assert congress.rows("nets", "error") == []
    congress.ok("DELETE", f"/policies/names/rules/{fact['id']}")
    congress.call("DELETE", f"/network/v2.0/networks/{nets[1]['id']}")
    assert congress.rows("nets", "down") == []


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("p(x) :- q(y)", "the variable x"),
        ("p(x) :- q(x), not r(y)", "the variable y"),
        ("p(x) :- q(x), builtin:lt(x, y)", "the variable y"),
        ("p(x) :- q(x), p(x)", "recursive"),
        ("top(x) :- low:bottom(x)", "recursive"),
        ("nova:p(x) :- q(x)", "head"),
        ("p(x) :- nova:servers(id=x, colour=y)", "no column colour"),
        ("p(x) :- nova:servers(x)", "has 10 columns"),
        ("p(x) :- nova:nothing(x)", "has no table nothing"),
        ("p(x) :- q(id=x)", "data sources only"),
        ("p(x) :- builtin:now(x)", "no built-in table now"),
        ("p(x)", "must not have variables"),
        ("p(x) :- ", "expected the name of a table"),
        ("p(1) q(2)", "expected the end"),
        ("p(x) :- q(x) &", "Syntax error"),
        (f"p({'1' * 99})", "digits"),
        ("", "not empty"),
    ],
)
def test_invalid_rules_are_refused(congress: Client, rule: str, message: str) -> None:
    congress.ok("POST", "/policies", {"name": "low", "rules": [{"rule": "bottom(x) :- high:top(x)"}]})
    congress.ok("POST", "/policies", {"name": "high"})
    status, words = congress.refused("POST", "/policies/high/rules", {"rule": rule})
    assert status == 400
    assert message in words
    assert congress.ok("GET", "/policies/high/rules") == {"results": []}


def test_unsupported_features_are_refused_with_a_message(congress: Client) -> None:
    congress.ok("POST", "/policies/action/rules", {"rule": "p+(x) :- q(x)"})
    congress.ok("POST", "/policies", {"name": "deep", "kind": "z3", "rules": [{"rule": "p(x) :- p(x)"}]})
    for method, path, words in (
        ("POST", "/policies/action?action=simulate", "simulation"),
        ("POST", "/policies?library_policy=x", "policy library"),
        ("GET", "/policies/deep/tables/p/rows", "of the kind z3"),
        ("GET", "/policies/deep/tables/p/rows?trace=true", "trace"),
    ):
        status, message = congress.refused(method, path, {})
        assert status == 501
        assert words in message


def test_an_evaluation_has_a_limit(congress: Client) -> None:
    facts = [{"rule": f"d({n})"} for n in range(40)]
    body = ", ".join(f"d(x{n})" for n in range(5))
    congress.ok("POST", "/policies", {"name": "bomb", "rules": [*facts, {"rule": f"p(x0) :- {body}"}]})
    assert "rows" in congress.refused("GET", "/policies/bomb/tables/p/rows")[1]


def test_data_sources(congress: Client) -> None:
    names = [row["name"] for row in congress.ok("GET", "/data-sources")["results"]]
    assert names == ["nova", "neutronv2", "cinder", "glancev2", "keystonev3"]
    for name in names:
        for table in congress.ok("GET", f"/data-sources/{name}/schema")["tables"]:
            path = f"/data-sources/{name}/tables/{table['table_id']}"
            rows = congress.ok("GET", f"{path}/rows")["results"]
            assert all(len(row["data"]) == len(table["columns"]) for row in rows)
            assert congress.ok("GET", f"{path}/spec") == table
    images = congress.ok("GET", "/data-sources/glancev2/tables/images/rows")["results"]
    assert "cirros" in {row["data"][2] for row in images}
    assert congress.refused("POST", "/data-sources", {"name": "x", "driver": "y"})[0] == 400
    congress.ok("POST", "/data-sources", {"name": "mine", "driver": "nova"})
    assert congress.refused("POST", "/data-sources", {"name": "mine", "driver": "nova"})[0] == 409
    congress.ok("DELETE", "/data-sources/mine")
    assert len(congress.ok("GET", "/system/drivers")["results"]) == 5
    assert congress.served.call("GET", "/policy/").json["versions"][0]["id"] == "v1"


def test_internal_fields_are_not_shown(congress: Client) -> None:
    rule = {"on": "POST /policy/v1/policies", "do": "error_state", "times": 1}
    assert congress.served.call("POST", "/control/faults", rule, congress.token).status in (200, 201)
    made = congress.ok("POST", "/policies", {"name": "marked"})
    assert made.keys() == {"id", "name", "abbreviation", "description", "owner_id", "kind"}
    assert congress.ok("GET", "/policies/marked") == made


@pytest.mark.parametrize("driver", [None, "x", ["nova"], {}])
def test_a_data_source_needs_a_driver_that_exists(congress: Client, driver: Any) -> None:
    assert congress.refused("POST", "/data-sources", {"name": "more", "driver": driver})[0] == 400
