"""Bad input on the whole way through: a 4xx that says what is wrong and where, and nothing has been made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest

pytestmark = pytest.mark.slow

HEAD = "heat_template_version: 2021-04-16\n"
GOOD = HEAD + "resources:\n  a: {type: OS::Heat::RandomString}\n"


@dataclass
class Place:
    """An API, and tokens of two tenants."""

    url: str
    demo: str
    demo_project: str
    admin: str
    admin_project: str

    def send(self, method: str, path: str, body: Any = None, *, token: str = "", raw: bytes | None = None) -> Any:
        return requests.request(
            method,
            f"{self.url}/v1/{self.demo_project}{path}",
            data=raw if raw is not None else (json.dumps(body) if body is not None else None),
            headers={"X-Auth-Token": token or self.demo, "Content-Type": "application/json"},
            allow_redirects=False,
            timeout=20,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with ServedCloud(new_cloud(clock=SystemClock())) as served:
        running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served)
        server = serve_rest(running, tmp_path_factory.mktemp("api"))
        projects = {}
        for user in ("demo", "admin"):
            answer = served.call("GET", "/identity/v3/auth/projects", token=served.token(user, user))
            projects[user] = next(item["id"] for item in answer.json["projects"] if item["name"] == user)
        yield Place(
            server.url,
            served.token("demo", "demo"),
            projects["demo"],
            served.token("admin", "admin"),
            projects["admin"],
        )
        server.stop()
        running.stop()


def nested(levels: int) -> str:
    return (
        HEAD
        + "resources:\n  a:\n    type: OS::Heat::Value\n    properties: {value: "
        + "[" * levels
        + "]" * levels
        + "}\n"
    )


BOMB = (
    HEAD
    + "x: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
    + "".join(f"x{n}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9))
)

TEMPLATES = {
    "broken YAML": (HEAD + "resources:\n  a: {type: [unclosed\n", "4:"),
    "no version": ("resources: {}\n", "version"),
    "unknown version": ("heat_template_version: 1999-01-01\n", "1999-01-01"),
    "unknown section": (HEAD + "resuorces: {}\n", "resources"),
    "unknown type": (HEAD + "resources:\n  a: {type: OS::Heat::RandomStrin}\n", "OS::Heat::RandomString"),
    "unknown property": (GOOD.replace("String}", "String, properties: {lenght: 3}}"), "length"),
    "wrong type": (GOOD.replace("String}", "String, properties: {length: long}}"), "long"),
    "out of range": (GOOD.replace("String}", "String, properties: {length: 0}}"), "length"),
    "missing required property": (
        HEAD + "resources:\n  a: {type: OS::Heat::TestResource, properties: {value: {}}}\n",
        "",
    ),
    "malformed function": (GOOD.replace("String}", "String, properties: {salt: {str_split: 3}}}"), "str_split"),
    "unknown reference": (GOOD.replace("String}", "String, properties: {salt: {get_resource: b}}}"), "'b'"),
    "unknown attribute": (GOOD + "outputs: {x: {value: {get_attr: [a, valeu]}}}\n", "value"),
    "unknown parameter used": (GOOD.replace("String}", "String, properties: {salt: {get_param: p}}}"), "(p)"),
    "cycle": (
        HEAD + "resources:\n  a: {type: OS::Heat::Value, depends_on: b}\n  b: {type: OS::Heat::Value, depends_on: a}\n",
        "a",
    ),
    "300 levels": (nested(300), "deep"),
    "alias bomb": (BOMB, "alias"),
    "NUL in a name": (GOOD.replace("  a:", '  "a\\0b":'), ""),
    "slash in a name": (GOOD.replace("  a:", "  a/b:"), "a/b"),
    "a list": ("- a\n- b\n", ""),
    "empty": ("", ""),
}


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "missing required property"])
def test_invalid_template_is_refused_with_position(place: Place, name: str) -> None:
    template, message = TEMPLATES[name]
    answer = place.send("POST", "/stacks", {"stack_name": "bad", "template": template})
    refused(answer)
    assert message in answer.json()["error"]["message"], answer.text
    assert place.send("GET", "/stacks").json()["stacks"] == []


BODIES = {
    "unknown parameter": {"stack_name": "bad", "template": GOOD, "parameters": {"nope": 1}},
    "missing parameter": {"stack_name": "bad", "template": GOOD + "parameters: {p: {type: string}}\n"},
    "unfit parameter": {
        "stack_name": "bad",
        "template": GOOD + "parameters: {p: {type: number}}\n",
        "parameters": {"p": "many"},
    },
    "unknown environment section": {"stack_name": "bad", "template": GOOD, "environment": {"resuorce_registry": {}}},
    "NUL in the stack's name": {"stack_name": "b\0d", "template": GOOD},
    "a number for a name": {"stack_name": 5, "template": GOOD},
    "a name with a slash": {"stack_name": "a/b", "template": GOOD},
    "a name too long": {"stack_name": "a" * 256, "template": GOOD},
    "no template": {"stack_name": "bad"},
    "negative timeout": {"stack_name": "bad", "template": GOOD, "timeout_mins": -1},
    "timeout beyond 32 bits": {"stack_name": "bad", "template": GOOD, "timeout_mins": 2**31},
    "timeout beyond 63 bits": {"stack_name": "bad", "template": GOOD, "timeout_mins": 2**63},
    "tags with a comma too long": {"stack_name": "bad", "template": GOOD, "tags": "x" * 81},
    "files that are a list": {"stack_name": "bad", "template": GOOD, "files": []},
    "missing environment file": {"stack_name": "bad", "template": GOOD, "environment_files": ["nope.yaml"]},
}


@pytest.mark.parametrize("name", list(BODIES))
def test_a_bad_request_is_refused(place: Place, name: str) -> None:
    refused(place.send("POST", "/stacks", BODIES[name]))
    assert place.send("GET", "/stacks").json()["stacks"] == []


DEEP = "[" * 5000 + "]" * 5000
BROKEN_URL = "http://[::1"
JSON_PARAMETER = HEAD + "parameters: {p: {type: json}}\n"


def json_template(value: str) -> str:
    return '{"heat_template_version": "2021-04-16", "outputs": {"o": {"value": ' + value + "}}}"


ODD_BODIES: dict[str, dict[str, Any]] = {
    "broken template_url": {"template_url": BROKEN_URL},
    "template_url without a host": {"template_url": "http://"},
    "template_url with an odd port": {"template_url": "http://h:99999999/"},
    "unknown file for a type": {
        "template": GOOD, "environment": {"resource_registry": {"OS::Heat::RandomString": BROKEN_URL}},
    },
    "broken URL of an environment file": {"template": GOOD, "environment_files": [BROKEN_URL], "files": {}},
    "deep JSON in a parameter": {"template": JSON_PARAMETER, "parameters": {"p": DEEP}},
    "lone surrogate in a parameter": {"template": JSON_PARAMETER, "parameters": {"p": '["\\ud800"]'}},
    "infinite number in a parameter": {"template": JSON_PARAMETER, "parameters": {"p": "[1e400]"}},
    "NaN in a parameter": {"template": JSON_PARAMETER, "parameters": {"p": "[NaN]"}},
    "deep JSON template": {"template": json_template(DEEP)},
    "lone surrogate in a JSON template": {"template": json_template('"\\ud800"')},
    "infinite number in a JSON template": {"template": json_template("1e400")},
    "NaN in a JSON template": {"template": json_template("NaN")},
    "deep environment": {"template": GOOD, "environment": "parameters: " + DEEP},
    "deep JSON in a property": {
        "template": GOOD.replace(
            "OS::Heat::RandomString", f"OS::Heat::Stack, properties: {{template: a, parameters: '{DEEP}'}}"
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_BODIES)
def test_odd_values_in_bodies_are_refused(place: Place, name: str) -> None:
    refused(place.send("POST", "/stacks", {"stack_name": "bad", **ODD_BODIES[name]}))
    assert place.send("GET", "/stacks").json()["stacks"] == []


def test_body_of_ten_megabytes_is_refused(place: Place) -> None:
    refused(place.send("POST", "/stacks", {"stack_name": "bad", "template": GOOD + "#" * 10_000_000}))


def test_template_over_size_limit_is_refused(place: Place) -> None:
    answer = place.send("POST", "/stacks", {"stack_name": "bad", "template": GOOD + "#" * 600_000})
    refused(answer)
    assert answer.json()["error"]["type"] == "RequestLimitExceeded"


@pytest.mark.parametrize("raw", [b"{", b"[]", b"\xff\xfe", b'"text"', b"[" * 5000])
def test_a_body_that_is_no_json_object_is_refused(place: Place, raw: bytes) -> None:
    refused(place.send("POST", "/stacks", raw=raw))


def test_a_wrong_token_is_refused(place: Place) -> None:
    assert place.send("GET", "/stacks", token="0" * 32).status_code == 401


def test_stack_of_another_project_is_not_found(place: Place) -> None:
    made = place.send("POST", "/stacks", {"stack_name": "mine", "template": GOOD})
    assert made.status_code == 201, made.text
    stack_id = made.json()["stack"]["id"]
    stranger = Place(place.url, place.admin, place.admin_project, place.admin, place.admin_project)
    foreign = requests.get(
        f"{place.url}/v1/{place.demo_project}/stacks/mine/{stack_id}",
        headers={"X-Auth-Token": place.admin},
        timeout=20,
    )
    assert foreign.status_code == 403
    listed = stranger.send("GET", "/stacks")
    assert listed.json()["stacks"] == []
    place.send("DELETE", f"/stacks/mine/{stack_id}")


def refused(answer: Any) -> None:
    """A 4xx with the error body of the Orchestration API, without a traceback."""
    assert 400 <= answer.status_code < 500, answer.text[:500]
    body = answer.json()
    assert body["error"]["traceback"] is None
    assert "Traceback" not in answer.text
    assert body["code"] == answer.status_code
