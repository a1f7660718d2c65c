"""Hidden values that have come further: into nested stacks, other forms, reasons, and what types hold secret."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from stoker.base.redaction import REDACTED, redact, redact_values
from testing.harness import World

REF = {"name": "web", "id": None}
HEAD = {"heat_template_version": "2021-04-16"}
SECRET = "Tr0ub4dor-zebra"
HIDDEN = {"type": "string", "hidden": True}
CHILD: dict[str, Any] = {
    **HEAD,
    "parameters": {
        "plain": {"type": "string"},
        "inner": {**HIDDEN, "default": "child-default-9"},
        "given": {**HIDDEN, "default": ""},
    },
    "resources": {
        f"show_{name}": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": name}}}
        for name in ("plain", "inner", "given")
    },
}


def template(**resources: Any) -> dict[str, Any]:
    return {**HEAD, "parameters": {"secret": HIDDEN, "number": {**HIDDEN, "type": "number", "default": 48213377}}} | {
        "resources": resources
    }


def resource(value: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": {"value": value, **properties}}


async def all_reads(world: World, name: str = "web") -> dict[str, Any]:
    """Everything that can be read of a stack and of those nested in it, by what was asked."""
    answers: dict[str, Any] = {}
    names = [name]
    while names:
        ref = {"name": names[0], "id": None}
        for method in ("stack_show", "stack_environment", "stack_files", "stack_template", "event_list"):
            answers[f"{method} {names[0]}"] = await world.call(method, ref=ref)
        for operation in await world.call("operation_list", ref=ref):
            found = await world.call("operation_show", ref=ref, operation_id=operation["id"])
            answers[f"operation {operation['action']} of {names[0]}"] = found
        for event in answers[f"event_list {names[0]}"]:
            asked = {"ref": ref, "resource_name": event["resource_name"], "event_id": event["id"]}
            answers[f"event {event['id']} of {names[0]}"] = await world.call("event_show", **asked)
        resources = await world.listed(ref, with_detail=True)
        answers[f"resources of {names[0]}"] = resources
        names = [*names[1:], *(each["nested_name"] for each in resources if each["nested_name"])]
    return answers


def disclosing(answers: dict[str, Any], *secrets: str) -> list[str]:
    return [name for name, answer in answers.items() if any(secret in json.dumps(answer) for secret in secrets)]


async def test_nested_stacks_disclose_no_values_hidden_by_their_parents(world: World) -> None:
    world.engine.services.settings = replace(world.engine.services.settings, enable_stack_abandon=True)
    group = {"count": 2, "resource_def": resource({"get_param": "secret"}, update_replace=False)}
    whole = template(
        group={"type": "OS::Heat::ResourceGroup", "properties": group},
        child={"type": "child.yaml", "properties": {"plain": {"list_join": ["-", ["x", {"get_param": "secret"}]]}}},
        counted={"type": "child.yaml", "properties": {"plain": {"get_param": "number"}}},
    )
    files = {"child.yaml": json.dumps(CHILD), "notes.txt": f"the key is {SECRET}"}
    environment = {"parameter_defaults": {"given": "given-below-77"}}
    stack = await world.create("web", whole, files=files, parameters={"secret": SECRET}, environment=environment)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    answers = await all_reads(world)
    assert len([name for name in answers if name.startswith("stack_show")]) == 4
    assert disclosing(answers, SECRET, "child-default-9", "given-below-77", "48213377") == []
    assert answers["stack_environment web"]["parameter_defaults"] == {"given": REDACTED}
    exported = await world.call("stack_export", ref=REF)
    assert disclosing({"exported": exported}, SECRET, "child-default-9", "given-below-77") == []


async def test_status_reasons_disclose_no_hidden_values(world: World) -> None:
    whole = template(
        made=resource({"get_param": "secret"}),
        net={
            "type": "OS::Neutron::Net",
            "properties": {"admin_state_up": {"list_join": ["", [{"get_attr": ["made", "output"]}, "x"]]}},
        },
    )
    stack = await world.create("web", whole, parameters={"secret": SECRET})
    assert stack["status"] == "FAILED"
    answers = await all_reads(world)
    assert REDACTED in answers["stack_show web"]["status_reason"]
    assert disclosing(answers, SECRET) == []


async def test_service_messages_disclose_no_hidden_values(world: World) -> None:
    port = {"type": "OS::Neutron::Port", "properties": {"network": {"get_attr": ["made", "output"]}}}
    whole = template(made=resource({"get_param": "secret"}), port=port)
    stack = await world.create("web", whole, parameters={"secret": SECRET})
    assert stack["status"] == "FAILED"
    assert "there is no network '******'" in stack["status_reason"]
    assert disclosing(await all_reads(world), SECRET) == []


async def test_events_disclose_no_secret_or_generated_values(world: World) -> None:
    whole = {
        **HEAD,
        "resources": {
            "word": {"type": "OS::Heat::RandomString", "properties": {"length": 20}},
            "child": {"type": "child.yaml", "properties": {"plain": "x", "given": {"get_attr": ["word", "value"]}}},
            "user": resource({"get_attr": ["word", "value"]}),
        },
        "outputs": {"word": {"value": {"get_attr": ["word", "value"]}}},
    }
    stack = await world.create("web", whole, files={"child.yaml": json.dumps(CHILD)})
    word = world.outputs(await world.call("stack_show", ref=REF))["word"]
    assert stack["status"] == "COMPLETE"
    events = {name: answer for name, answer in (await all_reads(world)).items() if name.startswith("event ")}
    assert disclosing(events, word) == []


async def test_secrets_that_a_service_shows_are_redacted_where_they_are_read(world: World) -> None:
    pair = {"type": "asymmetric", "algorithm": "rsa", "bit_length": 2048}
    whole = {
        **HEAD,
        "resources": {
            "key": {"type": "OS::Barbican::Secret", "properties": {"payload": SECRET}},
            "pair": {"type": "OS::Barbican::Order", "properties": pair},
            "user": resource({"get_attr": ["key", "decrypted_payload"]}),
            "other": resource({"get_attr": ["pair", "private_key"]}),
        },
        "outputs": {
            "payload": {"value": {"get_attr": ["key", "decrypted_payload"]}},
            "private": {"value": {"get_attr": ["pair", "private_key"]}},
        },
    }
    assert (await world.create("web", whole))["status"] == "COMPLETE"
    outputs = world.outputs(await world.call("stack_show", ref=REF))
    assert outputs["payload"] == SECRET and "PRIVATE KEY" in outputs["private"]
    answers = {name: answer for name, answer in (await all_reads(world)).items() if "event " in name}
    assert disclosing(answers, SECRET, "PRIVATE KEY") == []


async def test_events_disclose_no_values_derived_from_hidden_ones(world: World) -> None:
    upper = {"yaql": {"expression": "$.data.p.toUpper()", "data": {"p": {"get_param": "secret"}}}}
    parts = {"list_join": ["+", {"str_split": ["-", {"get_param": "secret"}]}]}
    await world.create("web", template(upper=resource(upper), parts=resource(parts)), parameters={"secret": SECRET})
    events = {name: answer for name, answer in (await all_reads(world)).items() if name.startswith("event ")}
    assert disclosing(events, SECRET.upper(), "Tr0ub4dor") == []


async def test_former_hidden_values_are_not_shown(world: World) -> None:
    await world.create("web", template(user=resource({"get_param": "secret"})), parameters={"secret": "first-value-1"})
    for number in range(22):
        await world.call("stack_patch", ref=REF, parameters={"secret": f"{number}-later-value"})
        await world.settle((await world.call("stack_show", ref=REF))["id"])
    assert disclosing(await all_reads(world), "first-value-1") == []


@pytest.mark.parametrize(
    "text",
    [
        "long-secret-and-more",
        json.dumps({"k": 'line1"\nline2'}),
        json.dumps(json.dumps({"k": 'line1"\nline2'})),
        base64.b64encode(b"long-secret").decode(),
        "http://x/?q=a%20b%2Fc",
        f"'{'secret' * 9}...' is not a number",
    ],
)
def test_secret_encodings_are_redacted(text: str) -> None:
    secrets = {"long", "long-secret", 'line1"\nline2', "a b/c", "secret" * 20}
    shown = redact({"x": [text]}, secrets)["x"][0]
    assert REDACTED in shown
    assert not any(part in shown for part in ("secret", "line1", "line2", "bG9uZy", "a%20b"))


def test_short_secrets_are_redacted_only_as_a_whole() -> None:
    assert redact_values({"a": "7", "b": 7, "c": "17", "d": True}, {"7", "True"}) == {
        "a": REDACTED, "b": REDACTED, "c": "17", "d": True,
    }  # fmt: skip
    assert redact({"depth": 7, "pin": 48213377, "key 48213377": 1}, {"7", "48213377"}) == {
        "depth": 7, "pin": REDACTED, f"key {REDACTED}": 1,
    }  # fmt: skip
