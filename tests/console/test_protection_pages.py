"""Pages on which a lock, protection from deletion, policies, windows and freezes are set."""

from __future__ import annotations

import re
from typing import Any

import pytest

from testing.harness import ThreadedWorld
from tests.console.support import Browser, add_user, create, hidden_fields

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "word": {"type": "OS::Heat::RandomString"},
        "data": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
        "more": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
    },
}
REF = {"name": "stuck", "id": None}
POLICY = 'Statement:\n- {Effect: Deny, Action: "Update:*", Principal: "*", Resource: "*"}\n'
FREEZE = "freezes:\n- {name: the sale, start: 2099-11-20T00:00, end: 2099-12-01T00:00}\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture(scope="module")
def stack(world: ThreadedWorld) -> str:
    return create(world, "settled", TEMPLATE)


@pytest.fixture(scope="module")
def reader(base: str, world: ThreadedWorld) -> Browser:
    return joined(base, world, "onlooker", "reader")


@pytest.fixture(scope="module")
def manager(base: str, world: ThreadedWorld) -> Browser:
    return joined(base, world, "head", "manager")


def joined(base: str, world: ThreadedWorld, name: str, role: str) -> Browser:
    """Return the browser of a new user with a role in the project demo."""
    add_user(world.served, name, role, "demo")
    browser = Browser(base)
    assert browser.log_in(name, world.served.cloud.password_of(name), project="demo").status_code == 303
    return browser


def test_a_lock_and_protection_are_set_and_removed(browser: Browser, stack: str) -> None:
    page = f"{stack}/protection"
    assert "Not locked" in browser.get(page).text
    done = browser.submit(f"{stack}/actions/protect", f"{stack}/actions/protect")
    assert done.headers["Location"] == f"/console{page}"
    shown = browser.get(page).text
    assert "<strong>Protected</strong>" in shown and f"{stack}/actions/unprotect" in shown
    question = browser.get(f"{stack}/actions/delete").text
    refused = browser.post(f"{stack}/actions/delete", hidden_fields(question))
    assert refused.status_code >= 400 and "termination protection" in refused.text
    assert browser.submit(f"{stack}/actions/unprotect", page.replace("protection", "actions/unprotect")).ok
    assert browser.submit(f"{stack}/actions/lock", f"{stack}/actions/lock", entered="the <release>").ok
    locked = browser.get(page).text
    assert re.search(r"<strong>Locked</strong> by demo since <time.*: the &lt;release&gt;", locked)
    assert browser.submit(f"{stack}/actions/unlock", f"{stack}/actions/unlock").ok
    assert "Not locked" in browser.get(page).text


def test_a_stack_policy_is_set_and_removed(browser: Browser, stack: str) -> None:
    page = f"{stack}/protection"
    assert browser.submit(page, page, setting="policy", do="set", entered=POLICY).status_code == 303
    assert "Deny" in browser.get(page).text
    wrong = browser.submit(page, page, setting="policy", do="set", entered="Statement: [")
    assert (
        wrong.status_code == 400
        and re.search(r"line:\d+:\d+: ", wrong.text)
        and "Statement: [</textarea>" in wrong.text
    )
    assert browser.submit(page, page, setting="policy", do="remove").status_code == 303
    assert "None: all updates are allowed" in browser.get(page).text


@pytest.mark.parametrize("entered", [BOMB, "[1, 2]", "", "x" * 10, "a: !!python/object:os.system {}"])
def test_an_invalid_policy_is_refused(browser: Browser, stack: str, entered: str) -> None:
    refused = browser.submit(f"{stack}/protection", f"{stack}/protection", setting="policy", do="set", entered=entered)
    assert refused.status_code == 400 and 'role="alert"' in refused.text


@pytest.mark.parametrize("page", ["/control", "STACK/control"])
def test_windows_and_freezes_are_set_and_removed(manager: Browser, stack: str, page: str) -> None:
    page = page.replace("STACK", stack)
    assert manager.submit(page, page, setting="change_control", do="set", entered=FREEZE).status_code == 303
    shown = manager.get(page).text
    assert "the sale" in shown and "2099-11-20T00:00" in shown
    wrong = manager.submit(page, page, setting="change_control", do="set", entered="freezes: [{name: x}]")
    assert wrong.status_code == 400 and 'role="alert"' in wrong.text
    assert manager.submit(page, page, setting="change_control", do="remove").status_code == 303
    assert "the sale" not in manager.get(page).text


def test_policies_on_plans_are_set_and_removed(manager: Browser) -> None:
    policy = (
        "policies: [{name: odd, types: [OS::Heat::Value], verdict: warn, expression: 'false', message: it is odd}]\n"
    )
    assert manager.submit("/control", "/control", setting="plan_policies", do="set", entered=policy).status_code == 303
    assert "it is odd" in manager.get("/control").text
    assert manager.submit("/control", "/control", setting="plan_policies", do="remove").status_code == 303
    assert "it is odd" not in manager.get("/control").text


def test_a_reader_sees_settings_and_changes_none(reader: Browser, stack: str) -> None:
    for page, setting, rule in (
        (f"{stack}/protection", "policy", "stacks:update_settings"),
        (f"{stack}/control", "change_control", "stacks:update_change_control"),
        ("/control", "plan_policies", "stacks:update_plan_policies"),
    ):
        shown = reader.get(page).text
        assert f"(<code>{rule}</code>)" in shown and 'value="set"' not in shown, page
        refused = reader.submit(page, page, setting=setting, do="set", entered="a: b")
        assert refused.status_code == 403 and rule in refused.text, page


def test_resources_selected_in_deletion_plan_are_retained(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "parting", TEMPLATE)
    question = f"{stack}/actions/delete"
    page = browser.get(question).text
    assert re.findall(r'name="marked" value="(\w+)"', page) and "Data is lost with:" in page
    again = browser.post(question, {**hidden_fields(page), "marked": "data", "entered": ""})
    assert again.status_code == 200 and "Retained in the cloud: data." in again.text
    assert re.search(r'value="data" checked', again.text)
    done = browser.post(question, {**hidden_fields(again.text), "marked": "data", "entered": ""})
    assert done.status_code == 303, done.text
    world.settle(stack.rpartition("/")[2])
    events = browser.get(f"{stack}/events?name=data").text
    assert "retained" in events


def test_undeletable_objects_are_skipped_on_request(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "stuck", {**TEMPLATE, "resources": {"data": TEMPLATE["resources"]["data"]}})
    assert "force_delete" not in browser.get(stack).text
    volume = world.run(world.world.resources("stuck"))["data"]["physical_id"]
    token, project = (
        world.served.token("demo", "demo"),
        world.run(world.world.call("stack_show", ref=REF))["project_id"],
    )
    snapshot = {"snapshot": {"volume_id": volume, "name": "in the way"}}
    made = world.served.call("POST", f"/volume/v3/{project}/snapshots", snapshot, token)
    assert made.status < 300, made.content
    question = f"{stack}/actions/delete"
    browser.post(question, {**hidden_fields(browser.get(question).text), "entered": ""})
    world.settle(stack.rpartition("/")[2])
    page = browser.get(stack).text
    assert "Delete failed" in page and "force_delete" in page
    force = f"{stack}/actions/force_delete"
    plan = browser.get(force).text
    assert "1 to remove" in plan and "leaves behind" in plan
    assert browser.post(force, hidden_fields(plan)).status_code == 303
    world.settle(stack.rpartition("/")[2])
    assert "left behind: data" in browser.get(stack).text
