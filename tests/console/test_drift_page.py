"""The page about drift: comparing in the background, bringing objects back, accepting them, and the looks."""

from __future__ import annotations

import re
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from testing.harness import ThreadedWorld
from tests.console.support import Browser, add_user, create, followed, hidden_fields


def compared(browser: Browser, stack: str) -> str:
    """Return the page with the result of a comparison."""
    return followed(browser, browser.submit(f"{stack}/drift", f"{stack}/drift", do="compare"))


@pytest.fixture
def stack(world: ThreadedWorld, request: pytest.FixtureRequest) -> str:
    resources = {
        "net": {"type": "OS::Neutron::Net", "properties": {"name": "calm"}},
        "other": {"type": "OS::Neutron::Net", "properties": {"name": "quiet"}},
        "user": {"type": "AWS::IAM::User"},
    }
    name = f"drifting-{abs(hash(request.node.name))}"
    return create(world, name, {"heat_template_version": "2021-04-16", "resources": resources})


def rename(world: ThreadedWorld, served: ServedCloud, stack: str, resource: str, name: str) -> None:
    found: Any = world.run(world.world.resources(stack.split("/")[2]))[resource]
    path = f"/network/v2.0/networks/{found['physical_id']}"
    changed = served.call("PUT", path, {"network": {"name": name}}, served.token("demo", "demo"))
    assert changed.status == 200, changed.content


def test_drift_is_shown_and_corrected(browser: Browser, world: ThreadedWorld, served: ServedCloud, stack: str) -> None:
    assert "Compare with the cloud" in browser.get(f"{stack}/drift").text
    page = compared(browser, stack)
    assert re.search(r"Compared with the cloud at \S+Z: 2 in sync, 1 not comparable\.", page)
    assert "Not comparable: user (AWS::IAM::User): objects of this type cannot be compared." in page
    assert "No differences" in page and "Compare again" in page
    assert re.search(r"Last checked .* ago", page)

    rename(world, served, stack, "net", "<wild>")
    found = compared(browser, stack)
    assert "<del><pre>&lt;wild&gt;</pre></del>" in found and "<ins><pre>calm</pre></ins>" in found
    assert '<th scope="col">In the cloud</th><th scope="col">In the template</th>' in found
    done = browser.post(f"{stack}/drift", {**hidden_fields(found), "do": "correct"})
    assert done.status_code == 303, done.text
    world.settle(stack.rpartition("/")[2])
    assert "No differences" in compared(browser, stack)


def test_selected_drift_is_accepted(browser: Browser, world: ThreadedWorld, served: ServedCloud, stack: str) -> None:
    rename(world, served, stack, "net", "theirs")
    rename(world, served, stack, "other", "wrong")
    found = compared(browser, stack)
    assert re.findall(r'name="resource" value="(\w+)"', found) == ["net", "other"]
    refused = browser.post(f"{stack}/drift", {**hidden_fields(found), "do": "accept"})
    assert refused.status_code == 400 and "mark the resources" in refused.text
    page = browser.post(f"{stack}/drift", {**hidden_fields(found), "do": "accept", "resource": "net"}).text
    assert "Accepted the values of 1 resource: net." in page and "name: theirs" in page and "wrong" not in page


def test_drift_detection_runs_on_request(browser: Browser, stack: str) -> None:
    page = f"{stack}/drift"
    assert browser.submit(page, page, do="watch", mode="detect").status_code == 303
    assert '<option value="detect" selected>' in browser.get(page).text
    refused = browser.submit(page, page, do="watch", mode="wrong")
    assert refused.status_code == 400 and 'role="alert"' in refused.text


def test_reader_sees_drift_without_actions(base: str, world: ThreadedWorld, stack: str) -> None:
    add_user(world.served, "looker", "reader", "demo")
    reader = Browser(base)
    assert reader.log_in("looker", world.served.cloud.password_of("looker"), project="demo").status_code == 303
    assert "No differences" in compared(reader, stack)
    for do, rule in (
        ("correct", "stacks:update_patch"),
        ("accept", "actions:accept_drift"),
        ("watch", "stacks:update_patch"),
    ):
        refused = reader.submit(f"{stack}/drift", f"{stack}/drift", do=do, resource="net", mode="off")
        assert refused.status_code == 403 and rule in refused.text, do


def test_an_unknown_detection_is_not_found(browser: Browser, stack: str) -> None:
    assert browser.get(f"{stack}/drift?detection=00000000-0000-4000-8000-000000000000").status_code == 404
    assert browser.submit(f"{stack}/drift", f"{stack}/drift", do="nothing").status_code == 400


def test_a_nested_stack_is_compared_by_itself(browser: Browser, world: ThreadedWorld, served: ServedCloud) -> None:
    net = {"type": "OS::Neutron::Net", "properties": {"name": "inner"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": net}}
    stack = create(world, "outer", {"heat_template_version": "2021-04-16", "resources": {"group": group}})
    (nested,) = set(
        re.findall(r'href="/console(/stacks/outer-group-[^/"]+/[^/"]+)/resources/0"', browser.get(stack).text)
    )
    rename(world, served, nested, "0", "moved")
    page = compared(browser, nested)
    assert "<del><pre>moved</pre></del>" in page and 'name="mode"' not in page
