"""The console's pages as they are sent: what they show, what their forms do, and live events."""

from __future__ import annotations

import json
import re
from typing import Any

from stoker.console.progress_pages import bars_of
from stoker.console.timeline import Span
from tests.console.support import Browser, create
from tests.harness import ThreadedWorld

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "description": "Two <b>words</b> & more",
    "parameters": {
        "flavor": {"type": "string", "default": "m1.small"},
        "password": {"type": "string", "default": "swordfish", "hidden": True},
    },
    "resources": {
        "word": {"type": "OS::Heat::RandomString"},
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": {"type": "OS::Heat::RandomString"}},
        },
    },
    "outputs": {"place": {"description": "Where", "value": "<script>alert(1)</script>"}},
}


def test_a_stack_is_found_in_the_list_and_on_its_pages(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "web", TEMPLATE)
    assert "web" in browser.get("/stacks").text
    assert stack in browser.get("/stacks?name=web&status=COMPLETE").text
    assert "No stack matches" in browser.get("/stacks?name=web&status=FAILED").text

    tree = browser.get(stack).text
    identifier = stack.rpartition("/")[2]
    assert f'id="r-{identifier}/word"' in tree and f'data-parent="r-{identifier}/group"' in tree
    assert tree.count('data-status="COMPLETE"') == 5  # the stack, two resources and the members of the group
    assert "Two &lt;b&gt;words&lt;/b&gt; &amp; more" in tree

    details = browser.get(f"{stack}/details").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in details and "m1.small" in details and "Create complete" in details
    definition = browser.get(f"{stack}/definition").text
    assert "heat_template_version" in definition and "swordfish" not in details + definition
    assert "Create complete" in browser.get(f"{stack}/events").text
    resource = browser.get(f"{stack}/resources/word").text
    assert "OS::Heat::RandomString" in resource and "Create complete" in resource
    fragment = browser.get(stack, **{"X-Fragment": "1"}).text
    assert 'id="tree"' in fragment and "<html" not in fragment


def test_the_graph_and_the_timeline_show_the_work(browser: Browser, world: ThreadedWorld) -> None:
    word = {"type": "OS::Heat::Value", "properties": {"value": {"get_resource": "word"}}}
    stack = create(world, "drawn", {**TEMPLATE, "resources": {**TEMPLATE["resources"], "copy": word}})
    identifier = stack.rpartition("/")[2]
    picture = browser.get(f"{stack}/graph").text
    for name in ("word", "copy", "group"):
        assert f'<g id="n-{identifier}/{name}" class="node" data-status="COMPLETE">' in picture, name
    assert picture.count('<g id="n-') == 5 and picture.count('<path class=""') == 1  # members too; one dependency
    world.run(world.world.call("stack_update", ref={"name": "drawn", "id": None}, template=TEMPLATE))
    world.settle(identifier)
    latest = browser.get(f"{stack}/timeline").text
    assert f'id="b-{identifier}/copy-DELETE"' in latest
    first = re.findall(r'<option value="([^"]+)"', latest)[-1]
    earlier = browser.get(f"{stack}/timeline?operation={first}").text
    assert f'<option value="{first}" selected>' in earlier and f'id="b-{identifier}/word-CREATE"' in earlier


def test_a_timeline_has_the_actions_of_its_operation_only() -> None:
    def span(began: float, ended: float | None) -> Span:
        return Span("s/r", "r", "s", "CREATE", "CREATE_COMPLETE", began, ended, 0)

    found = [span(90, 95), span(100, 110), span(115, None), span(120, 120), span(130, 131)]
    assert [(bar.span.began, bar.left, bar.width) for bar in bars_of(found, 100, 120)] == [
        (100, 0.0, 500.0), (115, 750.0, 250.0), (120, 996, 4),
    ]  # fmt: skip


def test_actions_ask_first(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "short-lived", TEMPLATE)
    page = browser.get(stack).text
    assert all(f"{stack}/actions/{name}" in page for name in ("check", "suspend", "delete"))
    assert not any(f"{stack}/actions/{name}" in page for name in ("resume", "cancel_update", "retry"))
    question = f"{stack}/actions/delete"
    assert "Delete the stack short-lived?" in browser.get(question).text

    refused = browser.submit(f"{stack}/actions/cancel_update", question)
    assert refused.status_code == 400 and 'role="alert"' in refused.text
    done = browser.submit(question, question)
    assert (done.status_code, done.headers["Location"]) == (303, f"/console{stack}")
    world.settle(stack.rpartition("/")[2])
    assert "short-lived" not in browser.get("/stacks").text


def test_events_reach_the_page_while_it_is_open(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "live", TEMPLATE)
    response = browser.session.get(f"{browser.base}/console{stack}/stream", stream=True, timeout=60)
    assert response.headers["Content-Type"] == "text/event-stream"
    browser.submit(f"{stack}/actions/check", f"{stack}/actions/check")
    for line in response.iter_lines(chunk_size=1):
        if line.startswith(b"data: ") and json.loads(line[6:])["resource_status"] == "CHECK_COMPLETE":
            break
    else:
        raise AssertionError("the stream ended before the check")
    response.close()


def test_what_is_not_there_is_a_page_too(browser: Browser) -> None:
    missing = browser.get("/stacks/none/00000000-0000-0000-0000-000000000000")
    assert missing.status_code == 404 and "<h1>Not Found</h1>" in missing.text and "could not be found" in missing.text
    for path in ("/nowhere", "/static/none.js", "/stacks/a/b/actions/explode"):
        assert browser.get(path).status_code == 404, path
    style = browser.get("/static/console.css")
    assert style.headers["Content-Type"].startswith("text/css")
