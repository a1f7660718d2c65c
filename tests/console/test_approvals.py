"""Pages about changes that wait for approval, and about what changes of a stack need."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from testing.harness import ThreadedWorld
from tests.console.support import Browser, add_user, create

_REQUEST = re.compile(r'href="/console(/approvals/[0-9a-f-]{36})"')
CONTROL = {
    "approvals": [{"number": 1}],
    "freezes": [{"name": "the sale", "start": "2099-11-20T00:00", "end": "2099-12-01T00:00"}],
}
POLICY = (
    "policies: [{name: odd-words, types: [OS::Heat::Value], verdict: warn, expression: 'false', message: it is odd}]"
)


def template(value: str) -> str:
    word = f"{{type: OS::Heat::Value, properties: {{value: {value}}}}}"
    return f"heat_template_version: 2021-04-16\nresources: {{word: {word}}}\n"


@pytest.fixture(scope="module")
def stack(world: ThreadedWorld) -> Iterator[str]:
    path = create(world, "careful", template("first"))
    ref = {"name": "careful", "id": None}
    world.run(world.world.call("change_control_change", ref=ref, control=CONTROL))
    world.run(world.world.call("plan_policies_change", ref=ref, policies=POLICY))
    yield path
    world.run(world.world.call("change_control_change", ref=ref, control=None))


@pytest.fixture(scope="module")
def other(base: str, world: ThreadedWorld) -> Browser:
    add_user(world.served, "second-person", "member", "demo")
    browser = Browser(base)
    answer = browser.log_in("second-person", world.served.cloud.password_of("second-person"), project="demo")
    assert answer.status_code == 303, answer.text
    return browser


def asked(browser: Browser, stack: str, value: str) -> str:
    """Ask for an update, which is refused; return the page of the request."""
    name, identifier = stack.split("/")[2:]
    fields = {"do": "apply", "name": name, "template": template(value)}
    answer = browser.submit(f"{stack}/deploy", f"{stack}/deploy", **fields)
    assert "needs the approval of 1 other person" in answer.text, answer.text
    found = _REQUEST.findall(browser.get("/approvals").text)
    assert found and identifier
    return str(found[0])


def test_the_author_sees_the_plan_and_cannot_approve(browser: Browser, stack: str) -> None:
    page = asked(browser, stack, "second")
    listed = browser.get("/approvals").text
    assert "UPDATE of careful" in listed and "for you" not in listed
    shown = browser.get(page).text
    assert "word" in shown and "second" in shown and "1 person" in shown and "<dd>open</dd>" in shown
    assert "Warning of the policy odd-words: word: it is odd." in shown
    answer = browser.submit(page, page, do="approve", comment="me")
    assert answer.status_code == 403 and "The author of a change cannot approve" in answer.text
    assert 'value="me"' in answer.text, "what was typed is still there"


def test_another_person_rejects_with_a_reason_and_approves(
    world: ThreadedWorld, browser: Browser, other: Browser, stack: str
) -> None:
    page = asked(browser, stack, "third")
    assert "waiting <strong>for you</strong>" in other.get("/approvals").text
    rejected = other.submit(page, page, do="reject", comment="not <b>before</b> the sale")
    assert (rejected.status_code, rejected.headers["Location"]) == (303, f"/console{page}")
    shown = browser.get(page).text
    assert "rejected" in shown and "not &lt;b&gt;before&lt;/b&gt; the sale" in shown
    assert other.submit(page, page, do="approve", comment="now").status_code == 303
    assert "approved" in browser.get(page).text
    name = stack.split("/")[2]
    answer = browser.submit(f"{stack}/deploy", f"{stack}/deploy", do="apply", name=name, template=template("third"))
    assert answer.status_code == 303, answer.text
    world.settle(stack.rpartition("/")[2])
    assert page not in browser.get("/approvals").text
    ended = browser.get("/approvals?all=1").text
    assert page in ended and "used" in ended
    assert '<form method="post" action="/console/approvals' not in browser.get(page).text


def test_emergency_override_is_limited_to_managers(browser: Browser, other: Browser, stack: str) -> None:
    page = asked(browser, stack, "fourth")
    assert "Allow in an emergency (<code>change_requests:break_glass</code>)" in other.get(page).text
    answer = other.submit(page, page, do="break_glass", comment="fire")
    assert answer.status_code == 403


def test_change_control_tab_shows_requirements(browser: Browser, stack: str) -> None:
    shown = browser.get(f"{stack}/control").text
    assert "Changes are allowed now" in shown and "1 other person" in shown
    assert "the sale" in shown and "2099-11-20T00:00" in shown
    assert "odd-words" in shown and "it is odd" in shown


def test_unknown_requests_and_forms_are_refused(browser: Browser, other: Browser, stack: str) -> None:
    assert browser.get("/approvals/nothing").status_code == 404
    page = asked(browser, stack, "fifth")
    assert other.submit(page, page, do="dance").status_code == 400
    assert other.post(page, {"do": "approve"}).status_code == 403, "a form of another site"
