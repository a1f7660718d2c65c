"""Previews in both forms, plans that are applied exactly or not at all, and the values that they hide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.base.errors import BadValue, PlanOutdated, StackExists
from stoker.engine.planning.plan import read_plan
from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.store import queries
from testing.harness import World

HEADER = {"heat_template_version": "2021-04-16"}
WEB: dict[str, Any] = {"name": "web", "id": None}
SECRET = "very-secret-word"


def template(parameters: dict[str, Any] | None = None, **resources: Any) -> dict[str, Any]:
    return {**HEADER, "parameters": parameters or {}, "resources": resources}


def resource(value: Any = "one", **more: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": {"value": value, **more}}


MEMBER = json.dumps(
    {
        **template({"text": {"type": "string"}}, inner=resource({"get_param": "text"})),
        "outputs": {"inner": {"value": {"get_attr": ["inner", "output"]}}},
    }
)
FILES = {"member.yaml": MEMBER}


def group(count: int, text: Any = "one") -> dict[str, Any]:
    definition = {"type": "member.yaml", "properties": {"text": text}}
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": definition}}


async def update_plan(world: World, definition: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await world.call("stack_update_preview", ref=WEB, template=definition, **more)
    plan: dict[str, Any] = answer["plan"]
    return plan


def actions_of(plan: dict[str, Any]) -> dict[str, str]:
    return {step["path"]: step["kind"] for step in plan["steps"] if step["kind"] != "keep"}


# -- Heat's shape -------------------------------------------------------------------------------------------------


async def test_a_new_stack_is_previewed_with_its_nested_stacks_as_lists(world: World) -> None:
    definition = template(group=group(2), after=resource({"get_attr": ["group", "refs"]}))
    preview = await world.call("stack_preview", name="web", template=definition, files=FILES)
    members, after = preview["resources"]
    assert [[row["name"] for row in member] for member in members] == [["inner"], ["inner"]]
    inner = members[1][0]
    assert (inner["properties"]["value"], inner["properties"]["fail"]) == ("one", False)
    assert (inner["parent_resource"], inner["stack_name"], inner["stack_id"]) == ("1", "web-group-1", "None")
    assert (after["name"], after["properties"]["value"], after["attributes"]) == ("after", None, {"output": None})
    assert (await world.call("stack_list"))["stacks"] == []


async def test_changes_of_nested_stacks_are_listed_on_request(world: World) -> None:
    await world.create("web", template(group=group(2), same=resource()), files=FILES)
    definition = template(group=group(1, "two"), same=resource())
    for show_nested, updated, deleted in (
        (False, ["group"], []),
        (True, ["group", "0", "inner"], ["1", "inner"]),
    ):
        answer = await world.call(
            "stack_update_preview", ref=WEB, template=definition, files=FILES, show_nested=show_nested
        )
        buckets = {name: [row["name"] for row in rows] for name, rows in answer["resource_changes"].items()}
        assert buckets == {"unchanged": ["same"], "updated": updated, "replaced": [], "added": [], "deleted": deleted}
    present = answer["resource_changes"]["updated"][0]
    assert (present["action"], present["status"]) == ("CREATE", "COMPLETE")
    assert present["physical_id"]


async def test_objects_left_in_nested_stacks_are_listed(world: World) -> None:
    await world.create("web", template(group=group(1)), files=FILES)
    body = {"ref": WEB, "template": template(group=group(1)), "files": FILES, "show_nested": True}
    changes = (await world.call("stack_update_preview", **body))["resource_changes"]
    assert [row["name"] for row in changes["unchanged"]] == ["group", "0", "inner"]


async def test_patch_preview_uses_the_current_definition(world: World) -> None:
    declared = {"text": {"type": "string", "default": "one"}, "other": {"type": "string", "default": "x"}}
    definition = template(declared, a=resource({"get_param": "text"}), b=resource({"get_param": "other"}))
    await world.create("web", definition, parameters={"other": "y"})
    answer = await world.call("stack_patch_preview", ref=WEB, parameters={"text": "two"})
    assert actions_of(answer["plan"]) == {"a": "update"}


# -- in full --------------------------------------------------------------------------------------------------------


async def test_the_chain_that_leads_to_a_replacement_is_reported(world: World) -> None:
    def chain(value: str) -> dict[str, Any]:
        first = resource(update_replace_value=value)
        return template(first=first, second=resource(update_replace_value={"get_attr": ["first", "output"]}))

    await world.create("web", chain("one"))
    plan = await update_plan(world, chain("two"))
    second = next(step for step in plan["steps"] if step["path"] == "second")
    assert second["reasons"] == [
        {
            "code": "may-change",
            "subject": "update_replace_value",
            "message": "update_replace_value may change with first, which is replaced because the value of "
            "update_replace_value changes",
        }
    ]
    assert second["causes"] == [{"property": "update_replace_value", "path": "first", "kind": "replace"}]
    (change,) = second["changes"]
    assert (change["known"], change["effect"], change["after"]) == (False, "replace", "(known after apply)")


async def test_identity_of_new_stack_is_known_after_apply(world: World) -> None:
    definition = template(a=resource({"get_param": "OS::stack_id"}), b=resource({"get_param": "OS::stack_name"}))
    plan = (await world.call("stack_preview", name="web", template=definition))["plan"]
    assert {step["path"]: step["changes"][0]["after"] for step in plan["steps"]} == {
        "a": "(known after apply)",
        "b": "web",
    }
    made = await world.call("stack_create", name="web", template=definition, plan_digest=plan["digest"])
    assert (await world.settle(made["id"]))["status"] == "COMPLETE"


async def test_a_plan_names_every_nested_resource_once(world: World) -> None:
    definition = template(group=group(3))
    plan = (await world.call("stack_preview", name="web", template=definition, files=FILES))["plan"]
    paths = ["group", *(path for index in "012" for path in (f"group.{index}", f"group.{index}.inner"))]
    assert [step["path"] for step in plan["steps"]] == paths
    assert len({step["key"] for step in plan["steps"]}) == len(paths)
    assert plan["summary"] == {"create": 7}


# -- hidden ---------------------------------------------------------------------------------------------------------


def hidden(**resources: Any) -> dict[str, Any]:
    return template({"password": {"type": "string", "hidden": True}}, **resources)


@pytest.mark.parametrize(
    "value",
    [
        {"get_param": "password"},
        {"str_replace": {"template": "user:X@host", "params": {"X": {"get_param": "password"}}}},
        {"digest": ["sha256", {"get_param": "password"}]},
        {"list_join": ["-", {"str_split": ["-", {"get_param": "password"}]}]},
    ],
    ids=["itself", "within", "digest", "parts"],
)
@pytest.mark.parametrize("nested", [False, True])
async def test_values_from_hidden_parameters_are_hidden(world: World, value: Any, nested: bool) -> None:
    definition = hidden(a=group(1, value) if nested else resource(value))
    preview = await world.call(
        "stack_preview", name="web", template=definition, files=FILES, parameters={"password": SECRET}
    )
    assert SECRET not in json.dumps(preview)
    made = await world.create("web", definition, files=FILES, parameters={"password": SECRET})
    assert made["status"] == "COMPLETE"
    answer = await world.call(
        "stack_update_preview", ref=WEB, template=definition, files=FILES, parameters={"password": "another-secret"}
    )
    changes = [change for step in answer["plan"]["steps"] for change in step["changes"]]
    assert changes and all(change["hidden"] for change in changes)
    assert {(change["before"], change["after"]) for change in changes} == {("******", "******")}


async def test_hidden_parameter_of_nested_template_hides_its_value(world: World) -> None:
    member = json.loads(MEMBER)
    member["parameters"]["text"]["hidden"] = True
    definition = template(part={"type": "member.yaml", "properties": {"text": SECRET}})
    files = {"member.yaml": json.dumps(member)}
    preview = await world.call("stack_preview", name="web", template=definition, files=files)
    assert SECRET not in json.dumps(preview)


async def test_a_generated_secret_is_hidden_where_it_is_used(world: World) -> None:
    random = {"type": "OS::Heat::RandomString"}
    await world.create("web", template(word=random, a=resource({"get_attr": ["word", "value"]})))
    for reference in ({"get_attr": ["word", "value"]}, {"get_resource": "word"}):
        joined = {"list_join": ["", [reference, "!"]]}
        (change,) = (await update_plan(world, template(word=random, a=resource(joined))))["steps"][1]["changes"]
        assert (change["before"], change["after"], change["hidden"]) == ("******", "******", True)


async def test_stored_plan_hides_values(world: World) -> None:
    definition = hidden(a=resource({"get_param": "password"}), part=group(1, {"get_param": "password"}))
    await world.create("web", definition, files=FILES, parameters={"password": SECRET})
    await world.update("web", definition, files=FILES, parameters={"password": "another-secret"})
    shown = []
    for stack in (await world.call("stack_list", show_nested=True))["stacks"]:
        ref = {"name": None, "id": stack["id"]}
        for entry in await world.call("operation_list", ref=ref):
            shown.append(await world.call("operation_show", ref=ref, operation_id=entry["id"]))
    assert len(shown) == 6
    assert SECRET not in json.dumps(shown) and "another-secret" not in json.dumps(shown)


# -- applied exactly ----------------------------------------------------------------------------------------------


async def test_stored_plan_equals_preview_and_grows_with_resources(world: World) -> None:
    sizes: dict[int, int] = {}
    for count in (30, 60):
        first, second = (
            template(
                **{f"r{number}": resource(update_replace_value=word) for number in range(count)},
                user=resource({"get_attr": ["r0", "output"]}, update_replace_value=word),
            )
            for word in ("one", "two")
        )
        name = f"many{count}"
        ref = {"name": name, "id": None}
        await world.create(name, first)
        preview = await world.call("stack_update_preview", ref=ref, template=second)
        await world.update(name, second)
        operation = (await world.call("operation_list", ref=ref))[0]
        shown = await world.call("operation_show", ref=ref, operation_id=operation["id"])
        waits = {step["key"]: step["after"] for step in shown["plan"]["steps"]}
        assert waits == {step["key"]: step["after"] for step in preview["plan"]["steps"]}
        made = {key for key in waits if key.startswith("make ")}
        removals = [after for key, after in waits.items() if key not in made]
        assert len(removals) == count + 1
        assert all(made < set(after) or made == set(after) for after in removals)
        assert sorted(map(len, removals))[-1] == len(made) + 1, "the first one is removed after its user"
        row = await world.database.read(queries.operation_by_id, operation["id"])
        assert row is not None
        sizes[count] = len(row.plan or "")
    assert sizes[60] < 2.1 * sizes[30]


async def test_plan_is_applied_to_unchanged_stack(world: World) -> None:
    await world.create("web", template(a=resource()))
    definition = template(a=resource("two"))
    plan = await update_plan(world, definition)
    updated = await world.update("web", definition, plan_digest=plan["digest"])
    assert (updated["action"], updated["status"]) == ("UPDATE", "COMPLETE")
    with pytest.raises(PlanOutdated, match="has changed since the plan was made"):
        await world.call("stack_update", ref=WEB, template=definition, plan_digest=plan["digest"])


async def test_a_plan_is_refused_for_other_inputs(world: World) -> None:
    await world.create("web", template(a=resource()))
    plan = await update_plan(world, template(a=resource("two")))
    with pytest.raises(PlanOutdated, match="differ from those of the plan"):
        await world.call("stack_update", ref=WEB, template=template(a=resource("three")), plan_digest=plan["digest"])
    assert (await world.resources("web"))["a"]["action"] == "CREATE"


async def test_plan_is_refused_after_nested_stack_change(world: World) -> None:
    await world.create("web", template(group=group(1)), files=FILES)
    definition = template(group=group(2))
    plan = await update_plan(world, definition, files=FILES)
    nested = (await world.resources("web"))["group"]["nested_id"]
    await world.call("resource_mark_unhealthy", ref={"name": None, "id": nested}, name="0", mark_unhealthy=True)
    with pytest.raises(PlanOutdated, match="has changed since the plan was made"):
        await world.call("stack_update", ref=WEB, template=definition, files=FILES, plan_digest=plan["digest"])


async def test_a_change_between_check_and_commit_is_detected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record is looked at once more in the transaction that begins the operation."""
    made = await world.create("web", template(a=resource()))
    definition = template(a=resource("two"))
    plan = await update_plan(world, definition)
    submit = world.engine.submissions.submit

    async def late(*arguments: Any, **named: Any) -> None:
        monkeypatch.undo()
        await world.call("resource_mark_unhealthy", ref=WEB, name="a", mark_unhealthy=True)
        await submit(*arguments, **named)

    monkeypatch.setattr(world.engine.submissions, "submit", late)
    with pytest.raises(PlanOutdated):
        await world.call("stack_update", ref=WEB, template=definition, plan_digest=plan["digest"])
    after = await world.settle(made["id"])
    assert (after["action"], after["status"]) == ("CREATE", "COMPLETE")
    assert (await world.resources("web"))["a"]["action"] == "CHECK"


async def test_a_plan_for_a_new_stack_needs_the_name_to_be_free(world: World) -> None:
    definition = template(a=resource())
    plan = (await world.call("stack_preview", name="web", template=definition))["plan"]
    await world.create("web", definition)
    with pytest.raises(StackExists):
        await world.call("stack_create", name="web", template=definition, plan_digest=plan["digest"])
    with pytest.raises(PlanOutdated):
        await world.call("stack_create", name="other", template=definition, plan_digest=plan["digest"])


async def test_a_plan_for_a_busy_stack_has_no_digest(world: World) -> None:
    slow = {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 60}}
    made = await world.call("stack_create", name="web", template=template(a=slow))
    plan = await update_plan(world, template(a=resource()))
    assert plan["digest"] is None
    await world.settle(made["id"])


async def test_an_invalid_digest_is_refused(world: World) -> None:
    with pytest.raises(BadValue, match="plan_digest"):
        await world.call("stack_create", name="web", template=template(a=resource()), plan_digest="nonsense")


# -- reasons --------------------------------------------------------------------------------------------------------


def test_every_reason_has_a_sentence() -> None:
    for code in ReasonCode:
        sentence = Reason(code, "flavor", "the service's words").sentence()
        assert sentence and "{" not in sentence


async def test_rewording_a_reason_changes_nothing_but_the_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.create("web", template(thing=resource()))
    refused = template(thing={"type": "OS::Heat::TestResource", "external_id": "other"})
    before = await update_plan(world, refused)

    reworded = {code: f"because of {code.value}" for code in ReasonCode}
    monkeypatch.setattr("stoker.engine.planning.reasons._SENTENCES", reworded)
    after = await update_plan(world, refused)

    assert [step["kind"] for step in before["steps"]] == ["refuse"] == [step["kind"] for step in after["steps"]]
    assert before["digest"] == after["digest"]
    assert after["steps"][0]["reasons"][0]["message"] == "because of immutable"
    assert (await world.update("web", refused))["status"] == "FAILED"


def test_plans_that_were_stored_with_sentences_for_reasons_are_read() -> None:
    stored = {"action": "UPDATE", "summary": {}, "steps": [{"key": "make a", "reasons": ["it is new"]}]}
    assert read_plan(stored)["steps"][0]["reasons"] == [
        {"code": "unclassified", "subject": None, "message": "it is new"}
    ]
