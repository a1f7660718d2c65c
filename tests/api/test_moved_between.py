"""Resources that get into another stack: refactorings over HTTP, and entries `moved` between stacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from tests.api.rest_stacks import Stacks, moves, template

NET = {"type": "OS::Neutron::Net"}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
SIZED = {"type": "OS::Cinder::Volume", "properties": {"size": {"get_param": "size"}}}


def entry(source: str, target: str) -> dict[str, Any]:
    places = [dict(zip(("stack", "resource"), each.split("/"), strict=True)) for each in (source, target)]
    return {"from": places[0], "to": places[1]}


def between(source: str, target: str) -> dict[str, Any]:
    return {"moved": [entry(source, target)]}


class Estate(Stacks):
    """Several stacks of one project, and their refactorings."""

    def deploy(self, name: str, definition: Any, environment: Any = None) -> requests.Response:
        found = self.send("GET", f"/{name}")
        body = {"template": definition, "environment": environment or {}}
        if found.ok:
            path = f"/{name}/{found.json()['stack']['id']}"
            answer = self.send("PUT", path, body)
        else:
            answer = self.send("POST", "", {"stack_name": name, **body})
        if answer.ok:
            self.world.settle(self.shown(f"/{name}")["stack"]["id"])
        return answer

    def path_of(self, name: str) -> str:
        return f"/{name}/{self.shown(f'/{name}')['stack']['id']}"

    def of(self, name: str) -> dict[str, str]:
        rows = self.shown(f"/{name}/resources")["resources"]
        return {row["resource_name"]: row["physical_resource_id"] for row in rows}

    def ask(self, method: str, tail: str, body: Any = None, token: str | None = None) -> requests.Response:
        headers = {"X-Auth-Token": token} if token else None
        return self.send(method, f"/../refactors{tail}", body, headers)

    def refactor(self, stacks: dict[str, Any], **more: Any) -> dict[str, Any]:
        made = self.ask("POST", "", {"stacks": stacks, **more})
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()["refactor"]
        return found

    def execute(self, made: dict[str, Any]) -> requests.Response:
        return self.ask("POST", f"/{made['id']}/execute")


@pytest.fixture
def estate(tmp_path: Path, served: ServedCloud) -> Iterator[Estate]:
    estate = Estate(tmp_path, served)
    yield estate
    estate.stop()


def test_an_entry_of_the_environment_moves_a_resource_to_another_stack(estate: Estate) -> None:
    assert estate.deploy("a", template(net=NET, data=VOLUME)).ok
    assert estate.deploy("c", template(other=NET)).ok
    had, before = estate.of("a"), estate.writes()
    left, got = template(data=VOLUME), template(other=NET, front=NET)
    environment = between("a/net", "c/front")

    made = estate.refactor({"a": {"template": left}, "c": {"template": got, "environment": environment}})
    actions = estate.ask("GET", f"/{made['id']}/actions").json()
    done = estate.execute(made)

    assert (made["status"], made["execution_status"]) == ("CREATE_COMPLETE", "AVAILABLE")
    [move] = actions["moves"]
    assert {"from": move["from"], "to": move["to"]} == environment["moved"][0]
    assert (move["physical_resource_id"], move["is_asked"]) == (had["net"], True)
    assert done.ok and done.json()["refactor"]["execution_status"] == "EXECUTE_COMPLETE"
    assert estate.of("a") == {"data": had["data"]} and estate.of("c")["front"] == had["net"]
    assert estate.deploy("c", got, environment).status_code == 202  # an entry that is carried out can stay
    assert estate.deploy("a", left, environment).status_code == 202
    assert estate.of("c")["front"] == had["net"]
    assert estate.writes() == before
    assert [each["id"] for each in estate.ask("GET", "").json()["refactors"]] == [made["id"]]
    again = estate.refactor({"a": {"template": left}, "c": {"template": got, "environment": environment}})
    assert again["status_reason"] == "No resource would be moved."


def test_move_between_stacks_is_combined_with_other_changes(estate: Estate) -> None:
    gone = {"type": "OS::Cinder::Volume", "properties": {"size": 3}}
    assert estate.deploy("a", template(net=NET, data=VOLUME, gone=gone)).ok
    assert estate.deploy("c", template(other=NET)).ok
    had, before = {**estate.of("a"), **estate.of("c")}, len(estate.writes())
    larger = {"type": "OS::Cinder::Volume", "properties": {"size": 2}}
    renamed = {"type": "OS::Neutron::Net", "properties": {"name": "front"}}
    environment = between("a/net", "c/front")
    body = {
        "a": {"template": template(data=larger)},
        "c": {"template": template(other=NET, front=renamed, more=VOLUME), "environment": environment},
    }

    alone = estate.refactor(body)
    assert alone["status"] == "CREATE_FAILED" and "It would create c/more." in alone["status_reason"]
    made = estate.refactor(body, changes=True)
    assert (made["status"], made["status_reason"]) == ("CREATE_COMPLETE", "")
    actions = estate.ask("GET", f"/{made['id']}/actions").json()
    summaries = {name: plan["summary"] for name, plan in actions["changes"].items()}
    assert summaries == {"a": {"update": 1, "delete": 1}, "c": {"keep": 1, "update": 1, "create": 1, "move": 1}}
    assert len(estate.writes()) == before
    assert estate.execute(made).ok
    for name in ("a", "c"):
        estate.world.settle(estate.shown(f"/{name}")["stack"]["id"])
        assert estate.shown(f"/{name}")["stack"]["stack_status"] == "UPDATE_COMPLETE"

    assert estate.of("a") == {"data": had["data"]}
    now = estate.of("c")
    assert now.keys() == {"other", "front", "more"} and (now["other"], now["front"]) == (had["other"], had["net"])
    calls = [call.partition(" ")[0] for call in estate.writes()[before:]]
    assert sorted(calls) == ["DELETE", "POST", "POST", "PUT"]  # a deletion, an extension, a creation, a name
    assert estate.deploy("c", body["c"]["template"], environment).ok and estate.deploy("a", template(data=larger)).ok
    assert len(estate.writes()) == before + 4


def test_changes_beside_moves_obey_the_stack_policy(estate: Estate) -> None:
    assert estate.deploy("a", template(net=NET, data=VOLUME)).ok
    had, before = estate.of("a"), len(estate.writes())
    path = f"/a/{estate.shown('/a')['stack']['id']}"
    everything = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
    denied = {"Effect": "Deny", "Action": "Update:Delete", "Principal": "*", "Resource": "*"}
    assert (
        estate.send("PUT", f"{path}/settings/policy", {"policy": {"Statement": [everything, denied]}}).status_code
        == 204
    )
    body = {"a": {"template": template()}, "b": {"template": template(net=NET)}}
    made = estate.refactor(body, create_stacks=True, changes=True)
    refused = estate.execute(made)
    assert refused.status_code == 403 and "does not allow Update:Delete of data" in refused.text, refused.text
    assert estate.of("a") == had and len(estate.writes()) == before
    only = {"a": {"template": template(data=VOLUME)}, "b": body["b"]}  # what is moved is not deleted
    assert estate.execute(estate.refactor(only, create_stacks=True, changes=True)).ok
    assert estate.of("b") == {"net": had["net"]}


def test_a_new_stack_gets_resources_and_creates_others(estate: Estate) -> None:
    assert estate.deploy("a", template(net=NET)).ok
    had = estate.of("a")
    body = {"a": {"template": template()}, "b": {"template": template(net=NET, data=VOLUME)}}
    made = estate.refactor(body, create_stacks=True, changes=True)
    assert made["status_reason"] == "" and estate.execute(made).ok
    estate.world.settle(estate.shown("/b")["stack"]["id"])
    assert estate.shown("/b")["stack"]["stack_status"] == "UPDATE_COMPLETE"
    now = estate.of("b")
    assert now.keys() == {"net", "data"} and now["net"] == had["net"] and estate.of("a") == {}
    path = f"/b/{estate.shown('/b')['stack']['id']}/operations"
    assert [each["action"] for each in estate.shown(path)["operations"]] == ["UPDATE", "CREATE"]


def test_parameters_files_and_renames_belong_to_a_definition(estate: Estate) -> None:
    assert estate.deploy("a", template(net=NET, old=VOLUME, data={"type": "inner.yaml"}), {}).status_code == 400
    inner = "heat_template_version: 2021-04-16\nresources:\n  v: {type: OS::Cinder::Volume, properties: {size: 2}}\n"
    first = {"template": template(old=VOLUME, data={"type": "inner.yaml"}), "files": {"inner.yaml": inner}}
    made = estate.send("POST", "", {"stack_name": "a", **first})
    assert made.ok, made.text
    estate.world.settle(made.json()["stack"]["id"])
    had, before = estate.of("a"), estate.writes()

    got = {**template(data={"type": "inner.yaml"}, sized=SIZED), "parameters": {"size": {"type": "number"}}}
    body = {"a": {"template": template()}, "c": {"template": got}}
    missing = estate.ask("POST", "", {"stacks": body, "create_stacks": True})
    assert missing.status_code == 400 and "size" in missing.text
    body["c"] |= {"files": {"inner.yaml": inner}, "parameters": {"size": 1}}
    refactor = estate.refactor(body, moved=[entry("a/old", "c/sized")], create_stacks=True)
    assert refactor["status_reason"] == ""
    assert [each["name"] for each in estate.ask("GET", f"/{refactor['id']}/actions").json()["stacks"]] == ["c"]
    assert estate.execute(refactor).ok

    assert estate.of("a") == {} and estate.of("c") == {"data": had["data"], "sized": had["old"]}
    assert estate.shown("/c")["stack"]["parameters"]["size"] == "1"
    renamed = {**template(inner={"type": "inner.yaml"}, sized=SIZED), "parameters": got["parameters"]}
    within = estate.refactor(
        {"a": {"template": template(v=VOLUME)}, "c": {"template": renamed, "environment": moves(data="inner")}},
        moved=[entry("c/sized", "a/v")],
    )
    assert within["status_reason"] == "It would create c/sized."
    assert estate.writes() == before


def test_source_stack_is_deployed_after_target_stack(estate: Estate) -> None:
    assert estate.deploy("a", template(net=NET)).ok
    had, entry_ = estate.of("a"), between("a/net", "c/net")
    for definition in (template(data=VOLUME), template(net=NET)):
        refused = estate.deploy("a", definition, entry_)
        message = refused.json()["error"]["message"]
        assert refused.status_code == 400, refused.text
        assert "a/net has not been moved to c/net yet" in message and "stoker deploy c -t FILE -e FILE" in message
    assert estate.of("a") == had
    foreign = estate.deploy("b", template(data=VOLUME), entry_)
    assert foreign.status_code == 400 and "neither resource is one of this stack, which is b" in foreign.text
    alone = estate.ask("POST", "", {"stacks": {"a": {"template": template(data=VOLUME), "environment": entry_}}})
    assert alone.status_code == 400 and "has not been moved" in alone.text
    assert alone.json()["error"]["diagnostics"][0]["source"] == "a/environment 1"
    assert estate.deploy("d", template(net=NET), between("gone/net", "d/net")).ok  # nothing to move: it is created
    assert estate.deploy("c", template(net=NET), entry_).ok and estate.deploy("a", template(data=VOLUME), entry_).ok
    assert estate.of("c") == had


@pytest.mark.parametrize(
    ("moved", "expected_text"),
    [
        ({"from": {"stack": "a", "resource": "net"}, "to": "net"}, "must be a map like the other side"),
        ({"from": {"stack": "a"}, "to": {"stack": "c", "resource": "net"}}, "the key 'resource' is missing"),
        ({"from": {"stack": "a", "resource": ""}, "to": {"stack": "c", "resource": "n"}}, "the name of a resource"),
        ({"from": {"stack": "a", "resource": "n", "x": 1}, "to": {"stack": "c", "resource": "n"}}, "unknown key 'x'"),
        (entry("a/net", "a/front"), "are resources of one stack"),
    ],
)
def test_the_form_of_entries_is_checked(estate: Estate, moved: dict[str, Any], expected_text: str) -> None:
    refused = estate.deploy("a", template(net=NET), {"moved": [moved]})
    assert refused.status_code == 400 and expected_text in refused.text
    assert "moved" in refused.text


def test_refactorings_of_other_projects_are_hidden(estate: Estate, served: ServedCloud) -> None:
    assert estate.deploy("a", template(net=NET)).ok
    made = estate.refactor({"a": {"template": template()}, "c": {"template": template(net=NET)}}, create_stacks=True)
    other = served.token("admin", "admin")
    shown = served.call("GET", "/identity/v3/auth/tokens", None, other, {"X-Subject-Token": other})
    project = shown.json["token"]["project"]["id"]
    url = estate.url.replace(estate.world.world.context.project_id, project)
    for method, tail in (("GET", ""), ("GET", "/actions"), ("POST", "/execute")):
        answer = requests.request(
            method, f"{url}/../refactors/{made['id']}{tail}", headers={"X-Auth-Token": other}, timeout=60
        )
        assert answer.status_code == 404, answer.text
    body = {"stacks": {"a": {"template": template()}, "c": {"template": template(net=NET)}}}
    theirs = requests.post(f"{url}/../refactors", json=body, headers={"X-Auth-Token": other}, timeout=60)
    assert theirs.status_code == 404
    assert estate.deploy("a", template(net=NET, data=VOLUME)).ok
    stale = estate.execute(made)
    assert stale.status_code == 400 and "OBSOLETE" in stale.text


def test_refactoring_of_nested_resource_names_the_required_deployment(estate: Estate) -> None:
    """Ignored, the entry would lose the object."""
    files = {"tier.yaml": json.dumps(template(net=NET))}
    made = estate.send(
        "POST", "", {"stack_name": "a", "template": template(tier={"type": "tier.yaml"}), "files": files}
    )
    assert made.status_code == 201, made.text
    estate.world.settle(made.json()["stack"]["id"])
    entries = between("a/tier.net", "c/net")
    both = {"a": {"template": template(data=VOLUME), "environment": entries}, "c": {"template": template(net=NET)}}
    asked = estate.ask("POST", "", {"stacks": both, "create_stacks": True, "changes": True})
    assert asked.status_code == 400 and "a/tier.net has not been moved" in asked.text, asked.text
    assert "a deployment of c with this entry moves it: stoker deploy c" in asked.text


def test_deployment_moves_a_resource_from_another_stack(estate: Estate) -> None:
    """Its plan says so; the other stack loses it from its record and its template, and keeps everything else."""
    text = (
        "heat_template_version: 2021-04-16\n# the estate\nresources:\n  net: {type: OS::Neutron::Net}\n"
        "  # its addresses\n  sub:\n    type: OS::Neutron::Subnet\n"
        "    properties: {network: {get_resource: net}, cidr: 10.0.0.0/24}\n"
    )
    assert estate.deploy("a", text).ok
    assert estate.deploy("c", template(other=NET)).ok
    had, before = estate.of("a"), len(estate.writes())
    got, environment = template(other=NET, front=NET, data=VOLUME), between("a/net", "c/front")
    preview = estate.send("PUT", f"{estate.path_of('c')}/preview", {"template": got, "environment": environment})
    assert preview.ok, preview.text
    steps = {step["path"]: step for step in preview.json()["plan"]["steps"]}
    assert steps["front"]["moved_from"] == "a/net" and preview.json()["plan"]["summary"]["move"] == 1
    assert estate.of("a") == had

    assert estate.deploy("c", got, environment).status_code == 202
    assert estate.shown("/c")["stack"]["stack_status"] == "UPDATE_COMPLETE"
    assert estate.of("a") == {"sub": had["sub"]} and estate.of("c")["front"] == had["net"]
    assert [call.partition(" ")[0] for call in estate.writes()[before:]] == ["POST"]  # of the volume
    kept = estate.shown(f"{estate.path_of('a')}/template")
    assert set(kept["resources"]) == {"sub"}
    assert kept["resources"]["sub"]["properties"]["network"] == had["net"]
    actions = [each["action"] for each in estate.shown(f"{estate.path_of('a')}/operations")["operations"]]
    assert actions == ["UPDATE", "CREATE"]
    events = estate.shown(f"{estate.path_of('c')}/resources/front/events")["events"]
    assert events[-1]["resource_status_reason"] == "Moved from a/net" or any(
        each["resource_status_reason"] == "Moved from a/net" for each in events
    )
    before = len(estate.writes())
    assert estate.deploy("c", got, environment).ok  # the entry is carried out, and can stay
    assert estate.deploy("a", kept, environment).ok
    assert estate.of("a") == {"sub": had["sub"]} and len(estate.writes()) == before


def test_creation_moves_resources_from_another_stack(estate: Estate) -> None:
    assert estate.deploy("a", template(net=NET, data=VOLUME)).ok
    had, before = estate.of("a"), estate.writes()
    assert estate.deploy("c", template(net=NET), between("a/net", "c/net")).status_code == 201
    assert estate.shown("/c")["stack"]["stack_status"] == "CREATE_COMPLETE"
    assert (estate.of("a"), estate.of("c")) == ({"data": had["data"]}, {"net": had["net"]})
    assert estate.writes() == before


def test_resource_moves_between_nested_stacks_of_different_stacks(estate: Estate) -> None:
    files = {"tier.yaml": json.dumps(template(net=NET))}
    made = {"template": template(tier={"type": "tier.yaml"}), "files": files}
    first = estate.send("POST", "", {"stack_name": "a", **made})
    estate.world.settle(first.json()["stack"]["id"])
    rows = estate.shown("/a/resources?nested_depth=1")["resources"]
    net = next(row["physical_resource_id"] for row in rows if row["resource_name"] == "net")
    assert estate.deploy("c", template(other=NET)).ok
    before = estate.writes()
    body = {
        "template": template(other=NET, box={"type": "box.yaml"}),
        "files": {"box.yaml": json.dumps(template(n=NET))},
    }
    answer = estate.send("PUT", estate.path_of("c"), {**body, "environment": between("a/tier.net", "c/box.n")})
    assert answer.ok, answer.text
    estate.world.settle(estate.shown("/c")["stack"]["id"])
    assert estate.shown("/c")["stack"]["stack_status"] == "UPDATE_COMPLETE", estate.shown("/c")
    rows = estate.shown("/c/resources?nested_depth=1")["resources"]
    assert net in [row["physical_resource_id"] for row in rows if row["resource_name"] == "n"]
    rows = estate.shown("/a/resources?nested_depth=1")["resources"]
    assert [row["resource_name"] for row in rows] == ["tier"]
    assert estate.writes() == before
    answer = estate.send("PUT", estate.path_of("a"), {"template": template()})
    estate.world.settle(estate.shown("/a")["stack"]["id"])
    assert estate.of("a") == {} and estate.writes() == before
    # and back to the top
    answer = estate.send(
        "POST", "", {"stack_name": "d", "template": template(net=NET), "environment": between("c/box.n", "d/net")}
    )
    assert answer.ok, answer.text
    estate.world.settle(estate.shown("/d")["stack"]["id"])
    assert estate.of("d") == {"net": net} and estate.writes() == before


def test_rollback_keeps_moved_resource(estate: Estate) -> None:
    """The definition before the deployment does not have the resource, and would delete its object."""
    assert estate.deploy("a", template(net=NET)).ok
    assert estate.deploy("c", template(other=NET)).ok
    had, fault = estate.of("a"), Fault(on="POST /volume/*/volumes", do="fail", status=400)
    definition, environment = template(other=NET, net=NET, data=VOLUME), between("a/net", "c/net")
    estate.served.do(lambda: estate.served.cloud.faults.add(fault))
    for name, method, path in (("c", "PUT", estate.path_of("c")), ("d", "POST", "")):
        if name == "d":  # the creation of a stack has nothing else to return to
            environment = between("c/net", "d/net")
            assert estate.deploy("c", template(other=NET, net=NET), between("a/net", "c/net")).ok
        body = {"template": definition, "environment": environment, "disable_rollback": False}
        made = estate.send(method, path, {**body, **({"stack_name": name} if method == "POST" else {})})
        assert made.ok, made.text
        estate.world.settle(estate.shown(f"/{name}")["stack"]["id"])
        assert estate.shown(f"/{name}")["stack"]["stack_status"].startswith("ROLLBACK_")
        assert estate.of(name)["net"] == had["net"]
        estate.served.do(estate.served.cloud.faults.clear)
        assert estate.deploy(name, definition, environment).ok
        assert estate.shown(f"/{name}")["stack"]["stack_status"] == "UPDATE_COMPLETE"
        assert estate.of(name)["net"] == had["net"]
        estate.served.do(lambda: estate.served.cloud.faults.add(fault))
    assert not [call for call in estate.writes() if call.startswith("DELETE") and had["net"] in call]


@pytest.mark.parametrize(
    ("setting", "body", "expected_text"),
    [("lock", {"reason": "audit"}, "is locked by"), ("protection", None, "has termination protection")],
)
def test_moves_from_protected_stacks_are_refused(estate: Estate, setting: str, body: Any, expected_text: str) -> None:
    assert estate.deploy("a", template(net=NET)).ok
    had = estate.of("a")
    assert estate.send("PUT", f"{estate.path_of('a')}/settings/{setting}", body).ok
    refused = estate.deploy("c", template(net=NET), between("a/net", "c/net"))
    assert refused.status_code == 409 and expected_text in refused.text, refused.text
    assert estate.of("a") == had and estate.send("GET", "/c").status_code == 404


def test_a_move_that_breaks_references_is_refused(estate: Estate) -> None:
    named = {"type": "OS::Neutron::Net", "properties": {"name": {"get_attr": ["net", "name"]}}}
    assert estate.deploy("a", template(net=NET, other=named)).ok
    had = estate.of("a")
    for target, expected_text in (
        ("c/net", "the template of a needs a/net"),
        ("c/front", "the template has no resource front"),
    ):
        refused = estate.deploy("c", template(net=NET), between("a/net", target))
        assert refused.status_code == 400 and expected_text in refused.text, refused.text
    shown = {**template(net=NET), "outputs": {"name": {"value": {"get_attr": ["net", "name"]}}}}
    assert estate.deploy("b", shown).ok
    output = estate.deploy("c", template(net=NET), between("b/net", "c/net"))
    assert output.status_code == 400 and "the template of b needs b/net" in output.text, output.text
    other = estate.deploy("c", template(net=VOLUME), between("a/net", "c/net"))
    assert other.status_code == 400 and "OS::Neutron::Net" in other.text, other.text
    assert estate.of("a") == had
