"""Hidden parameters: on no way that leads out of the engine does a value or a default of theirs appear."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from stoker.engine.inspection.export import export
from stoker.store import queries
from testing.harness import World

GIVEN, DEFAULT, IN_FILE, FORMER = "given-s3cret", "default-s3cret", "file-s3cret", "former-s3cret"
SECRETS = (GIVEN, DEFAULT, IN_FILE, FORMER)
REDACTED = "******"

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "parameters": {
        "given": {"type": "string", "hidden": True},
        "defaulted": {"type": "string", "hidden": True, "default": DEFAULT},
        "filed": {"type": "string", "hidden": True},
        "open": {"type": "string", "default": "open-value"},
    },
    "resources": {
        "user": {
            "type": "OS::Heat::TestResource",
            "properties": {
                "value": {"list_join": ["-", [{"get_param": name} for name in ("given", "defaulted", "filed", "open")]]}
            },
        },
        "queue": {"type": "OS::Zaqar::Queue", "properties": {"name": {"get_param": "given"}}},
        "container": {
            "type": "My::Container",
            "properties": {"name": {"list_join": ["-", ["a", {"get_param": "given"}]]}},
        },
        "key": {"type": "OS::Nova::KeyPair", "properties": {"name": {"get_param": "defaulted"}}},
    },
}
CFN_TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {"Given": {"Type": "String", "NoEcho": "true", "Default": DEFAULT}},
    "Resources": {"user": {"Type": "OS::Heat::TestResource", "Properties": {"value": {"Ref": "Given"}}}},
}
TYPES = "resource_registry: {'My::Container': 'OS::Swift::Container'}\n"
FILES = {"secrets.yaml": f"parameters:\n  filed: {IN_FILE}\n{TYPES}"}
REQUEST: dict[str, Any] = {"files": FILES, "environment_files": ["secrets.yaml"]}
REF = {"name": "web", "id": None}


async def everything_read(world: World, stack_id: str) -> dict[str, Any]:
    """What each operation that only looks answers about the stack."""
    answers = {
        name: await world.call(name, ref=REF)
        for name in (
            "stack_identify", "stack_show", "stack_environment", "stack_files", "stack_template", "output_list",
            "resource_list", "event_list", "operation_list",
        )
    }  # fmt: skip
    answers["stack_list"] = await world.call("stack_list")
    answers["resource_list in detail"] = await world.listed(REF, with_detail=True, nested_depth=2)
    answers["resource_show"] = await world.call("resource_show", ref=REF, name="user", with_attr=["output", "show"])
    for item in answers["operation_list"]:
        shown = await world.call("operation_show", ref=REF, operation_id=item["id"])
        answers[f"operation {item['id']}"] = shown
    for name in ("queue", "container", "key"):
        answers[f"resource {name}"] = await world.call("resource_show", ref=REF, name=name)
        answers[f"description of {name}"] = await world.call("resource_describe", ref=REF, name=name)
    answers["events of the Query API"] = await world.call("event_page", ref=REF, limit=100)
    answers["drift"] = await world.call("drift_detect_resource", ref=REF, name="queue")
    answers["resource_metadata"] = await world.call("resource_metadata", ref=REF, name="user")
    for event in answers["event_list"]:
        ref = {"ref": REF, "resource_name": event["resource_name"], "event_id": event["id"]}
        answers[f"event {event['id']}"] = await world.call("event_show", **ref)
    changed = {"template": TEMPLATE, "parameters": {"given": FORMER, "open": "other"}, **REQUEST}
    answers["stack_update_preview"] = await world.call("stack_update_preview", ref=REF, **changed)
    answers["stack_patch_preview"] = await world.call("stack_patch_preview", ref=REF, parameters={"given": FORMER})
    answers["stack_preview"] = await world.call(
        "stack_preview", name="other", **{**changed, "parameters": {"given": GIVEN}}
    )
    return answers


def leaks(answers: dict[str, Any]) -> list[str]:
    return [name for name, answer in answers.items() if any(secret in json.dumps(answer) for secret in SECRETS)]


async def test_reads_disclose_no_hidden_values(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    parameters = {"given": FORMER}
    stack = await world.create("web", TEMPLATE, parameters=parameters, **REQUEST)
    assert stack["status"] == "COMPLETE"
    await world.update("web", TEMPLATE, parameters={"given": GIVEN}, **REQUEST)

    answers = await everything_read(world, stack["id"])

    assert leaks(answers) == []
    shown = answers["stack_show"]["parameters"]
    assert (shown["given"], shown["defaulted"], shown["filed"], shown["open"]) == (
        REDACTED,
        REDACTED,
        REDACTED,
        "open-value",
    )
    assert answers["stack_template"]["parameters"]["defaulted"]["default"] == REDACTED
    assert answers["stack_template"]["parameters"]["open"]["default"] == "open-value"
    assert answers["stack_files"]["secrets.yaml"] == f"parameters:\n  filed: {REDACTED}\n{TYPES}"
    assert not [
        record.getMessage() for record in caplog.records if any(text in record.getMessage() for text in SECRETS)
    ]


async def test_documents_disclose_no_hidden_values_of_templates(world: World) -> None:
    world.engine.services.settings = replace(world.engine.services.settings, enable_stack_abandon=True)
    stack = await world.create("web", TEMPLATE, parameters={"given": GIVEN}, **REQUEST)
    taken = await world.call("snapshot_create", ref=REF, name="one")
    await world.settle(stack["id"])
    answers = {
        "snapshot_show": await world.call("snapshot_show", ref=REF, snapshot_id=taken["id"]),
        "snapshot_list": await world.call("snapshot_list", ref=REF),
        "stack_export": await world.call("stack_export", ref=REF),
    }
    assert leaks(answers) == []
    document = answers["snapshot_show"]["data"]
    assert document["template"]["parameters"]["defaulted"]["default"] == REDACTED
    assert document["template"]["parameters"]["open"]["default"] == "open-value"
    assert document["files"]["secrets.yaml"] == f"parameters:\n  filed: {REDACTED}\n{TYPES}"

    found = await world.engine.services.database.read(queries.stack_by_name, world.context.project_id, "web")
    assert found is not None
    whole = (await export(world.engine.services, found)).whole()
    assert whole["template"]["parameters"]["defaulted"]["default"] == DEFAULT
    assert whole["files"] == FILES


async def test_no_echo_of_cloudformation_templates(world: World) -> None:
    await world.create("web", CFN_TEMPLATE)
    template = await world.call("stack_template", ref=REF)
    assert template["Parameters"]["Given"]["Default"] == REDACTED
    assert (await world.call("stack_show", ref=REF))["parameters"]["Given"] == REDACTED


async def test_a_template_that_was_shown_does_not_make_its_redacted_defaults_the_values(world: World) -> None:
    given = {"given": GIVEN, "filed": IN_FILE}
    outputs = {"joined": {"value": {"get_attr": ["user", "output"]}}}
    await world.create("web", {**TEMPLATE, "outputs": outputs}, parameters=given, **REQUEST)
    shown = await world.call("stack_template", ref=REF)
    assert shown["parameters"]["defaulted"]["default"] == REDACTED
    for verb in ({"name": "other"}, {"ref": REF}):
        method = "stack_create" if "name" in verb else "stack_update"
        with pytest.raises(TemplateInvalid, match=r"parameters\.defaulted") as refused:
            await world.call(method, **verb, template=shown, parameters=given, **REQUEST)
        assert [found.path for found in refused.value.diagnostics] == [("parameters", "defaulted")]
    with pytest.raises(TemplateInvalid, match=r"parameters\.defaulted"):
        await world.call("stack_patch", ref=REF, template=shown, clear_parameters=["defaulted"])
    await world.call("stack_patch", ref=REF, template=shown, parameters={"open": "changed"})
    kept = await world.settle((await world.call("stack_identify", ref=REF))["id"])
    assert world.outputs(kept) == {"joined": f"{GIVEN}-{DEFAULT}-{IN_FILE}-changed"}


@pytest.mark.parametrize(
    ("constraints", "properties", "words"),
    [
        ([{"custom_constraint": "ip_addr"}], {}, r"parameters\.given: \*{6} does not meet ip_addr"),
        ([{"custom_constraint": "nova.flavor"}], {}, r"parameters\.given: \*{6} does not meet nova\.flavor"),
        ([{"custom_constraint": "ip_addr", "description": "an address"}], {}, r"parameters\.given: an address"),
        ([], {"wait_secs": {"get_param": "given"}}, r"wait_secs: .*\*{6}"),
    ],
)
async def test_value_errors_disclose_no_hidden_values(
    world: World, constraints: list[Any], properties: dict[str, Any], words: str
) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"given": {"type": "string", "hidden": True, "constraints": constraints}},
        "resources": {"user": {"type": "OS::Heat::TestResource", "properties": properties}},
    }
    with pytest.raises(TemplateInvalid, match=words) as refused:
        await world.call("stack_create", name="web", template=template, parameters={"given": GIVEN})
    assert GIVEN not in str(refused.value.to_dict())


@pytest.mark.parametrize("place", ["properties", "metadata", "outputs", "deletion_policy"])
async def test_invalid_calls_disclose_no_hidden_values(
    world: World, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    unfit = {"if": [{"get_param": "given"}, 1, 2]}
    parts: dict[str, dict[str, Any]] = {
        "properties": {"properties": {"value": unfit}},
        "metadata": {"metadata": {"key": unfit}},
        "deletion_policy": {"deletion_policy": {"get_param": "given"}},
    }
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"given": {"type": "string", "hidden": True}},
        "resources": {"user": {"type": "OS::Heat::TestResource", **parts.get(place, {})}},
        "outputs": {"out": {"value": unfit}} if place == "outputs" else {},
    }
    with pytest.raises(TemplateInvalid, match=place) as refused:
        await world.call("stack_create", name="web", template=template, parameters={"given": GIVEN})
    assert GIVEN not in str(refused.value.to_dict()) + caplog.text


async def test_failure_reasons_disclose_no_hidden_values(world: World) -> None:
    """The address that nobody answers at has the hidden value in it."""
    location = {"list_join": ["", ["http://127.0.0.1:1/", {"get_param": "given"}]]}
    properties = {"name": "x", "location": location, "container_format": "bare", "disk_format": "raw"}
    image = {"type": "OS::Glance::WebImage", "properties": properties}
    stack = await world.create(
        "web", {**TEMPLATE, "resources": {"image": image}}, parameters={"given": GIVEN}, **REQUEST
    )
    assert leaks({"stack": stack, "events": await world.call("event_list", ref=REF)}) == []
