"""Users whom policy does not allow everything: pages disable what the API would refuse, and the API refuses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.console.actions import RESOURCE, SNAPSHOT, STACK
from testing.harness import ThreadedWorld
from tests.console.support import Browser, add_user, create, logged_in, served_console
from tests.console.test_pages import TEMPLATE

_DISABLED = re.compile(r'<span[^>]* aria-disabled="true"[^>]*title="Policy does not allow (\S+) to you"[^>]*>([^<]+)<')
_LINK = re.compile(r'<a[^>]* href="[^"]*(/actions/\w+|/deploy|/adopt|/export)"')


@pytest.fixture(scope="module")
def stack(world: ThreadedWorld) -> str:
    path = create(world, "guarded", TEMPLATE)
    world.run(world.world.call("snapshot_create", ref={"name": "guarded", "id": None}, name="before"))
    world.settle(path.rpartition("/")[2])
    return path


@pytest.fixture(scope="module")
def reader(base: str, world: ThreadedWorld) -> Browser:
    add_user(world.served, "auditor", "reader", "demo")
    browser = Browser(base)
    answer = browser.log_in("auditor", world.served.cloud.password_of("auditor"), project="demo")
    assert answer.status_code == 303, answer.text
    return browser


@pytest.fixture(scope="module")
def undeletable(world: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A member of the project, in a service whose policy lets nobody delete stacks."""
    with served_console(world, tmp_path_factory.mktemp("policy"), policy={"stacks:delete": "!"}) as base:
        yield logged_in(base, world.served)


def _disabled(browser: Browser, path: str) -> dict[str, str]:
    return {label: rule for rule, label in _DISABLED.findall(browser.get(path).text)}


def test_a_reader_sees_what_is_disabled_and_why(reader: Browser, stack: str) -> None:
    assert _disabled(reader, "/stacks") == {"New stack": "stacks:create", "Adopt a stack": "stacks:create"}
    actions = {
        "Update": "stacks:update_patch", "Suspend…": "actions:suspend", "Delete…": "stacks:delete",
        "Snapshot…": "stacks:snapshot", "Abandon…": "stacks:abandon", "Lock…": "stacks:lock",
    }  # fmt: skip
    assert _disabled(reader, stack) == actions
    page = reader.get(stack).text
    assert "Policy does not allow you: Update (<code>stacks:update_patch</code>)" in page
    assert "An administrator of the cloud can give you a role" in page
    assert _LINK.findall(page) == ["/deploy", "/actions/check"]  # New stack at the top; checks are for readers
    of_resource = _disabled(reader, f"{stack}/resources/word")
    assert of_resource == {**actions, "Mark unhealthy…": "resource:mark_unhealthy"}
    of_snapshots = _disabled(reader, f"{stack}/snapshots")
    assert (
        of_snapshots["Restore…"] == "stacks:restore_snapshot" and of_snapshots["Take a snapshot…"] == "stacks:snapshot"
    )
    assert _disabled(reader, f"{stack}/definition")["Export all data"] == "stacks:export"
    drift = reader.get(f"{stack}/drift").text
    assert 'value="compare">' in drift and 'value="watch" disabled' in drift


@pytest.mark.parametrize(
    "tail", ["/deploy", "/actions/delete", "/actions/suspend", "/resources/word/actions/unhealthy"]
)
def test_a_page_for_what_is_not_allowed_is_refused_at_once(reader: Browser, stack: str, tail: str) -> None:
    answer = reader.get(f"{stack}{tail}")
    assert answer.status_code == 403 and "An administrator of the cloud can give you a role" in answer.text
    assert "<form" not in answer.text.partition("<main")[2]


def test_api_enforces_console_permissions(reader: Browser, stack: str) -> None:
    """A form that is sent anyway is refused by the API, not by the page."""
    for page, path in ((stack, f"{stack}/actions/delete"), (stack, f"{stack}/deploy"), ("/stacks", "/adopt")):
        fields = {"do": "apply", "template": "heat_template_version: 2021-04-16", "data": "{}"}
        answer = reader.submit(path, page, **fields)
        assert answer.status_code in (400, 403) and "Policy does not allow stacks:" in answer.text, path
    assert reader.get(stack).status_code == 200


def test_members_see_all_actions_enabled(browser: Browser, stack: str) -> None:
    for path in ("/stacks", stack, f"{stack}/resources/word", f"{stack}/snapshots", f"{stack}/definition"):
        page = browser.get(path).text
        assert "aria-disabled" not in page and "Policy does not allow" not in page, path
    assert " disabled>" not in browser.get(f"{stack}/drift").text


def test_the_operators_policy_is_shown(undeletable: Browser, stack: str) -> None:
    assert _disabled(undeletable, stack) == {"Delete…": "stacks:delete"}
    assert undeletable.get(f"{stack}/actions/delete").status_code == 403
    assert undeletable.submit(f"{stack}/actions/delete", stack).status_code == 403


def test_a_policy_that_hides_permissions_leaves_everything_to_the_api(
    world: ThreadedWorld, stack: str, tmp_path: Path
) -> None:
    policy = {"permissions:index": "!", "stacks:delete": "!"}
    with served_console(world, tmp_path, policy=policy) as base:
        browser = logged_in(base, world.served)
        assert _disabled(browser, stack) == {}
        assert browser.submit(f"{stack}/actions/delete", stack).status_code == 403


def test_each_action_needs_the_rule_of_its_request() -> None:
    rules = {name: subject.rule(action) for subject in (STACK, RESOURCE) for name, action in subject.actions.items()}
    assert rules == {
        **{
            name: f"actions:{name}"
            for name in STACK.actions
            if name not in ("snapshot", "abandon", "delete", "lock", "unlock", "protect", "unprotect", "force_delete")
        },
        "snapshot": "stacks:snapshot", "abandon": "stacks:abandon", "delete": "stacks:delete",
        "force_delete": "stacks:delete", "lock": "stacks:lock", "unlock": "stacks:unlock",
        "protect": "stacks:update_settings", "unprotect": "stacks:update_settings",
        "signal": "resource:signal", "unhealthy": "resource:mark_unhealthy", "healthy": "resource:mark_unhealthy",
    }  # fmt: skip
    assert {SNAPSHOT.rule(action) for action in SNAPSHOT.actions.values()} == {
        "stacks:restore_snapshot", "stacks:delete_snapshot",
    }  # fmt: skip
