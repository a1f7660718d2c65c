"""Values that functions make of hidden parameters and generated secrets, in everything that the API returns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest

REDACTED = "******"
SECRET = "Tr0ub4dor-zebra"
FORMER = "F0rmerly-giraffe"
HEAD = {"heat_template_version": "2021-04-16"}
HIDDEN: dict[str, Any] = {"parameters": {"secret": {"type": "string", "hidden": True}}}
READ = {"get_param": "secret"}


def yaql(expression: str, source: Any = READ) -> dict[str, Any]:
    return {"yaql": {"expression": expression, "data": {"s": source}}}


PIECES = {"str_split": ["-", READ]}
DERIVED: dict[str, tuple[Any, list[str]]] = {
    "str_split": (PIECES, ["Tr0ub4dor", "zebra"]),
    "an item of str_split": ({"str_split": ["-", READ, 0]}, ["Tr0ub4dor"]),
    "list_join": ({"list_join": ["+", PIECES]}, ["Tr0ub4dor+zebra"]),
    "str_replace": ({"str_replace": {"template": READ, "params": {"-": "/"}}}, ["Tr0ub4dor/zebra"]),
    "upper case": (yaql("$.data.s.toUpper()"), [SECRET.upper()]),
    "a part": (yaql("$.data.s.substring(2, 6)"), ["0ub4do"]),
    "the reverse": (yaql("$.data.s.toCharArray().reverse().join('')"), [SECRET[::-1]]),
    "a digest": ({"digest": ["sha256", READ]}, [hashlib.sha256(SECRET.encode()).hexdigest()]),
    "upper case of a part": (yaql("$.data.s.toUpper()", {"str_split": ["-", READ, 1]}), ["ZEBRA"]),
    "a map": ({"map_merge": [{"shown": "public-word"}, {"key": {"str_split": ["-", READ, 0]}}]}, ["Tr0ub4dor"]),
    "a loop": ({"repeat": {"template": "<%p%>", "for_each": {"%p%": PIECES}}}, ["Tr0ub4dor", "zebra"]),
    "a key": ({"map_replace": [{"name": "v"}, {"keys": {"name": {"str_split": ["-", READ, 0]}}}]}, ["Tr0ub4dor"]),
    "a condition": ({"if": ["always", {"str_split": ["-", READ, 1]}, "other"]}, ["zebra"]),
}
CHILD = {
    **HEAD,
    "parameters": {"plain": {"type": "string"}},
    "resources": {
        "lower": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": yaql("$.data.s.toLower()", {"get_param": "plain"})},
        },
        "same": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "plain"}}},
    },
}
IN_CHILD = [SECRET.upper(), "Tr0ub4dor", "tr0ub4dor", "zebra", "x:Tr0ub4dor"]


@dataclass(frozen=True)
class Api:
    """The API over a running engine, as the user demo."""

    url: str
    token: str
    running: ThreadedWorld

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = requests.request(
            method, f"{self.url}{path}", json=body, headers={"X-Auth-Token": self.token}, timeout=60
        )
        assert answer.ok, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    def create(self, name: str, template: Any, **body: Any) -> dict[str, Any]:
        made = self.call("POST", "/stacks", {"stack_name": name, "template": template, **body})["stack"]["id"]
        self.running.settle(made)
        found: dict[str, Any] = self.call("GET", f"/stacks/{name}/{made}")["stack"]
        return found

    def update(self, stack: dict[str, Any], template: Any, **body: Any) -> None:
        self.call("PUT", f"/stacks/{stack['stack_name']}/{stack['id']}", {"template": template, **body})
        self.running.settle(stack["id"])

    def read(self, stack: dict[str, Any]) -> dict[str, Any]:
        """Everything that can be read of a stack and of those nested in it, by path."""
        base = f"/stacks/{stack['stack_name']}/{stack['id']}"
        paths = [base, *(f"{base}/{part}" for part in ("template", "environment", "files", "events", "operations"))]
        answers = {path: self.call("GET", path) for path in paths}
        for operation in answers[f"{base}/operations"]["operations"]:
            path = f"{base}/operations/{operation['id']}"
            answers[path] = self.call("GET", path)
        for event in answers[f"{base}/events"]["events"]:
            path = f"{base}/resources/{event['resource_name']}/events/{event['id']}"
            if event["resource_name"] != stack["stack_name"]:
                answers[path] = self.call("GET", path)
        for resource in self.call("GET", f"{base}/resources?with_detail=true")["resources"]:
            path = f"{base}/resources/{resource['resource_name']}"
            answers[path] = self.call("GET", path)
            answers[f"{path}/metadata"] = self.call("GET", f"{path}/metadata")
            for link in answers[path]["resource"]["links"]:
                if link["rel"] == "nested":
                    name, identifier = link["href"].rsplit("/", 2)[1:]
                    answers |= self.read({"stack_name": name, "id": identifier})
        return answers


def showing(answers: dict[str, Any], values: list[str]) -> list[str]:
    return [path for path, answer in answers.items() if any(value in json.dumps(answer) for value in values)]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    directory = tmp_path_factory.mktemp("derived")
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        running = ThreadedWorld(directory, served, EngineSettings())
        server = serve_rest(running, directory)
        token = served.token("demo", "demo")
        try:
            yield Api(f"http://127.0.0.1:{server.port}/v1/{_project(served, token)}", token, running)
        finally:
            server.stop()
            running.stop()


def _project(served: ServedCloud, token: str) -> str:
    headers = {"X-Auth-Token": token, "X-Subject-Token": token}
    answer = requests.get(f"{served.url}/identity/v3/auth/tokens", headers=headers, timeout=60)
    answer.raise_for_status()
    return str(answer.json()["token"]["project"]["id"])


def _whole() -> dict[str, Any]:
    resources: dict[str, Any] = {
        f"r{number}": {
            "type": "OS::Heat::Value",
            "properties": {"value": expression},
            "metadata": {"kept": expression, "public": "public-word"},
        }
        for number, (expression, _) in enumerate(DERIVED.values())
    }
    resources |= {
        name: {"type": "child.yaml", "properties": {"plain": value}}
        for name, value in {
            "upper_child": yaql("$.data.s.toUpper()"),
            "part_child": {"list_join": [":", ["x", {"str_split": ["-", READ, 0]}]]},
        }.items()
    }
    conditions = {"always": {"equals": [1, 1]}}
    return {**HEAD, **HIDDEN, "conditions": conditions, "resources": resources}


@pytest.fixture(scope="module")
def answers(api: Api) -> dict[str, Any]:
    """Everything that can be read of a stack with all functions, after an update of the hidden parameter."""
    files = {"child.yaml": json.dumps(CHILD)}
    stack = api.create("functions", _whole(), files=files, parameters={"secret": FORMER})
    assert stack["stack_status"] == "CREATE_COMPLETE", stack["stack_status_reason"]
    api.update(stack, _whole(), files=files, parameters={"secret": SECRET})
    return api.read(api.call("GET", f"/stacks/functions/{stack['id']}")["stack"])


@pytest.mark.parametrize("function", DERIVED)
def test_value_that_a_function_derives_is_redacted(answers: dict[str, Any], function: str) -> None:
    """A user reads what a function makes of a hidden parameter in attributes, metadata, events and plans."""
    number = list(DERIVED).index(function)
    shown = {path: answer for path, answer in answers.items() if "child" not in path}
    assert showing(shown, DERIVED[function][1]) == []
    resource = next(answer for path, answer in answers.items() if path.endswith(f"/resources/r{number}"))
    assert REDACTED in json.dumps(resource["resource"]["attributes"]["value"])


def test_former_values_are_derived_too(answers: dict[str, Any]) -> None:
    """A user reads what functions made of the former value of a hidden parameter."""
    assert showing(answers, ["F0rmerly", "giraffe", FORMER.upper(), FORMER.lower(), FORMER[::-1]]) == []


def test_nested_stacks_derive_from_what_they_are_given(answers: dict[str, Any]) -> None:
    """A user reads in a nested stack, its plans and events what functions above and inside it make of a secret."""
    below = {path: answer for path, answer in answers.items() if "_child-" in path}
    assert len([path for path in below if "/operations/" in path]) >= 2
    assert showing(below, IN_CHILD) == []
    assert any(REDACTED in json.dumps(answer) for path, answer in below.items() if "/operations/" in path)


def test_values_in_the_template_are_not_redacted(answers: dict[str, Any]) -> None:
    """Redaction spreads to values that no secret is in, and a user cannot read the stack any more."""
    metadata = [
        answer["metadata"] for path, answer in answers.items() if path.endswith("/metadata") and "_child-" not in path
    ]
    assert {each.get("public") for each in metadata if each} == {"public-word"}


def test_short_pieces_are_redacted_as_whole_values(api: Api) -> None:
    """A user reads a short piece of a secret where it is a whole value."""
    properties = {"value": {"str_split": [",", READ]}}
    resources = {
        "list": {"type": "OS::Heat::Value", "properties": properties},
        "word": {"type": "OS::Heat::Value", "properties": {"value": "proxy"}},
    }
    stack = api.create("short", {**HEAD, **HIDDEN, "resources": resources}, parameters={"secret": "xy,ab7"})
    answers = api.read(stack)
    attributes = {
        name: next(
            a["resource"]["attributes"]["value"] for path, a in answers.items() if path.endswith(f"resources/{name}")
        )
        for name in resources
    }
    assert attributes == {"list": [REDACTED, REDACTED], "word": "proxy"}


def test_functions_of_cloudformation_templates(api: Api) -> None:
    """A user reads what the functions of a CloudFormation template make of a parameter with NoEcho."""
    split = {"Fn::Split": ["-", {"Ref": "secret"}]}
    values: dict[str, Any] = {
        "encoded": {"Fn::Base64": {"Fn::Select": ["0", split]}},
        "picked": {"Fn::Select": ["1", split]},
        "joined": {"Fn::Join": ["+", split]},
        "replaced": {"Fn::Sub": ["<${it}>", {"it": {"Fn::Select": ["1", split]}}]},
        "listed": {"Fn::ToJsonString": {"pieces": split}},
    }
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Transform": "AWS::LanguageExtensions",
        "Parameters": {"secret": {"Type": "String", "NoEcho": "true"}},
        "Resources": {
            name: {"Type": "OS::Heat::TestResource", "Properties": {"value": value}} for name, value in values.items()
        },
    }
    stack = api.create("cloudformation", template, parameters={"secret": SECRET})
    assert stack["stack_status"] == "CREATE_COMPLETE", stack["stack_status_reason"]
    answers = api.read(stack)
    assert showing(answers, ["Tr0ub4dor", "zebra"]) == []
    for name in values:
        resource = next(answer for path, answer in answers.items() if path.endswith(f"resources/{name}"))
        assert REDACTED in resource["resource"]["attributes"]["output"]


@pytest.mark.parametrize("source", ["parameter", "attribute"])
def test_errors_that_name_derived_values(api: Api, source: str) -> None:
    """A user reads a derived value in the reason of a failure: a service, or a check, repeats what it was given."""
    made = {"type": "OS::Heat::RandomString", "properties": {"length": 24, "salt": "s"}}
    value = READ if source == "parameter" else {"get_attr": ["made", "value"]}
    port = {"type": "OS::Neutron::Port", "properties": {"network": yaql("$.data.s.toLower()", value)}}
    show = {"shown": {"value": {"get_attr": ["made", "value"]}}}
    whole = {**HEAD, **HIDDEN, "resources": {"made": made, "port": port}, "outputs": show}
    body: dict[str, Any] = {"stack_name": f"errors-{source}", "template": whole, "parameters": {"secret": SECRET}}
    answer = requests.post(f"{api.url}/stacks", json=body, headers={"X-Auth-Token": api.token}, timeout=60)
    if source == "parameter":  # the network is looked up when the request is checked
        assert answer.status_code == 400
        assert REDACTED in answer.text and SECRET.lower() not in answer.text
        return
    identifier = answer.json()["stack"]["id"]
    api.running.settle(identifier)
    stack = api.call("GET", f"/stacks/errors-{source}/{identifier}")["stack"]
    assert stack["stack_status"] == "CREATE_FAILED"
    word = next(output["output_value"] for output in stack["outputs"])
    assert len(word) == 24
    assert REDACTED in stack["stack_status_reason"]
    shown = {path: value for path, value in api.read(stack).items() if "/events" in path or "/operations" in path}
    assert showing({**shown, "reason": stack["stack_status_reason"]}, [word.lower()]) == []


def test_generated_secrets_in_nested_stacks(api: Api) -> None:
    """A user reads a generated secret, and what functions make of it, in a nested stack that is given it."""
    resources = {
        "made": {"type": "OS::Heat::RandomString", "properties": {"length": 24}},
        "child": {"type": "child.yaml", "properties": {"plain": {"get_attr": ["made", "value"]}}},
    }
    outputs = {"shown": {"value": {"get_attr": ["made", "value"]}}}
    whole = {**HEAD, "resources": resources, "outputs": outputs}
    stack = api.create("generated", whole, files={"child.yaml": json.dumps(CHILD)})
    assert stack["stack_status"] == "CREATE_COMPLETE", stack["stack_status_reason"]
    word = next(output["output_value"] for output in stack["outputs"])
    below = {
        path: answer
        for path, answer in api.read(stack).items()
        if "-child-" in path and ("/operations" in path or "/events" in path)
    }
    assert len(below) > 4
    assert showing(below, [word, word.lower()]) == []
