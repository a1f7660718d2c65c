"""The sections `imports`, `moved` and `removed` of templates."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from stoker.template.versions import HOT_2021_04_16, HOT_2026_11_01
from tests.api.rest_stacks import Stacks, moves, template

NET = {"type": "OS::Neutron::Net"}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}


def with_entries(resources: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return {"heat_template_version": HOT_2026_11_01.value, "resources": resources, **sections}


def test_entries_of_templates_are_those_of_environments(stacks: Stacks) -> None:
    stacks.create(template(net=NET, data=VOLUME, old=NET))
    had, before = stacks.objects(), stacks.writes()
    definition = with_entries(
        {"front": NET, "orders": VOLUME},
        moved=[{"from": "net", "to": "front"}],
        removed=[{"from": "old", "destroy": False}],
    )
    environment = moves(data="orders")

    plan = stacks.plan(definition, environment)
    done = stacks.update(definition, environment)

    assert (plan["summary"]["move"], plan["summary"]["forget"]) == (2, 1)
    assert done["stack_status"] == "UPDATE_COMPLETE"
    assert stacks.objects() == {"front": had["net"], "orders": had["data"]}
    again = with_entries({"front": NET, "orders": VOLUME, "back": NET}, imports=[{"to": "back", "id": had["old"]}])
    assert stacks.plan(again)["summary"]["import"] == 1
    stacks.update(again)
    assert stacks.objects()["back"] == had["old"]
    assert stacks.update(again)["stack_status"] == "UPDATE_COMPLETE"  # satisfied entries can stay
    assert stacks.writes() == before
    patched = stacks.send("PATCH", stacks.path, {"tags": "x"})
    assert patched.status_code == 202, patched.text


@pytest.mark.parametrize(
    ("sections", "line", "message"),
    [
        ("moved:\n  - {from: a}\n", 2, "the key 'to' is missing"),
        ("moved:\n  - {from: a, to: b}\n  - {from: a, to: c}\n", 3, "is also moved to b"),
        ("imports:\n  - {to: net, id: 7}\n", 2, "must be the ID of an object"),
        ("removed: {from: a}\n", 1, "must be a list"),
        ("removed:\n  - {from: net, destroy: false}\n", 2, "the template has the resource net"),
    ],
)
def test_mistakes_have_positions(stacks: Stacks, sections: str, line: int, message: str) -> None:
    text = yaml.safe_dump(with_entries({"net": NET}), sort_keys=False)
    refused = stacks.send("POST", "", {"stack_name": "web", "template": text + sections})
    assert refused.status_code == 400, refused.text
    [found] = refused.json()["error"]["diagnostics"]
    assert message in found["message"] and found["position"]["line"] == line + text.count("\n"), found


def test_entries_of_template_and_environment_must_agree(stacks: Stacks) -> None:
    stacks.create(template(a=NET))
    definition = with_entries({"b": NET, "c": NET}, moved=[{"from": "a", "to": "b"}])
    assert "is also moved to" in stacks.refused(definition, moves(a="c"))


def test_other_versions_and_nested_stacks_have_no_entries(stacks: Stacks) -> None:
    entries = [{"from": "a", "to": "net"}]
    earlier = {**with_entries({"net": NET}, moved=entries), "heat_template_version": HOT_2021_04_16.value}
    refused = stacks.send("POST", "", {"stack_name": "web", "template": yaml.safe_dump(earlier, sort_keys=False)})
    [found] = refused.json()["error"]["diagnostics"]
    assert "unknown section 'moved'" in found["message"] and found["position"]["line"] == 5
    assert f"it exists from {HOT_2026_11_01.value} on" in found["hint"]
    inner = yaml.safe_dump(with_entries({"net": NET}, moved=entries), sort_keys=False)
    body = {"stack_name": "web", "template": template(one={"type": "inner.yaml"}), "files": {"inner.yaml": inner}}
    refused = stacks.send("POST", "", body)
    [found] = refused.json()["error"]["diagnostics"]
    assert "a nested stack has no entries of its own" in found["message"] and found["source"] == "inner.yaml"
