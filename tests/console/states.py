"""States of the console that a walk through its pages does not reach: deep, long, ended, deleted, unreachable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.console.browser import Walk

_LONG = "a_name_that_is_longer_than_any_column_of_a_table_and_has_no_place_where_it_could_be_broken"
_GROUP = "type: OS::Heat::ResourceGroup"
DEEP = f"""
heat_template_version: 2021-04-16
parameter_groups: [{{label: First, parameters: [even, p_{_LONG}]}}]
parameters:
  p_{_LONG}: {{type: string, default: {_LONG}}}
  even: {{type: number, default: 4, constraints: [{{modulo: {{step: 2, offset: 0}}}}]}}
  flavor: {{type: string, default: m1.small, constraints: [{{custom_constraint: nova.flavor}}]}}
  choice: {{type: string, hidden: true, default: x, constraints: [{{allowed_values: [x, y]}}]}}
  items: {{type: comma_delimited_list, default: "a,b"}}
  data: {{type: json, default: {{a: 1}}}}
  flag: {{type: boolean, default: true}}
resources:
  {_LONG}:
    {_GROUP}
    properties: {{count: 1, resource_def: {{{_GROUP}, properties: {{count: 2, resource_def: {{type: OS::Heat::RandomString}}}}}}}}
  word: {{type: OS::Heat::RandomString}}
outputs:
  long: {{value: {{str_replace: {{template: "{"x" * 3000}", params: {{y: z}}}}}}}}
"""  # fmt: skip  # noqa: E501
_DROP = """files => {
  const data = new DataTransfer();
  files.forEach(([name, text]) => data.items.add(new File([text], name)));
  const text = document.querySelector("#documents textarea");
  ["dragover", "drop"].forEach(kind => {
    text.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data }));
  });
}"""
_FOCUS = "document.activeElement.id"


def check_states(walk: Walk, stacks: dict[str, str], base: str, act: Callable[..., Any], empty: str) -> None:
    """Look at all states; `stacks` are the paths of the stacks, `empty` is the file of a small template."""
    deep(walk, stacks["deep"], base, act)
    session_ends(walk, base)
    files(walk, base)
    changes_elsewhere(walk, stacks["deep"], base, act)
    deletion(walk, base, act, empty)
    no_answer(walk, stacks["deep"], base, act)


def deep(walk: Walk, path: str, base: str, act: Callable[..., Any]) -> None:
    """Look at nested stacks, long names and a long reason at every width."""
    reason = f"<script>alert(1)</script> {'x' * 180} and words that wrap"
    with walk.page(1280, "light") as page:
        page.goto(f"{base}{path}/resources/word/actions/unhealthy")
        page.get_by_label("Reason").fill(reason)
        page.get_by_role("button", name="Mark unhealthy").click()
        page.get_by_role("button", name="Copy the reason of the resource").wait_for()
    for width, scheme in ((390, "dark"), (834, "light"), (1280, "dark")):
        with walk.page(width, scheme) as page:
            page.goto(f"{base}/stacks")
            walk.check_page(page, "stacks-with-long-names")
            for tail in ("graph", "timeline", "details", "events", "deploy", "resources/word"):
                page.goto(f"{base}{path}/{tail}")
                walk.check_page(page, f"deep-{tail.replace('/', '-')}")
            page.goto(f"{base}{path}")
            walk.check_page(page, "deep")
            if width > 390:  # in columns
                indented(walk, page)
            row = page.locator("#tree tbody tr").last
            walk.require(row.evaluate("e => e.offsetHeight") < 300, "a long reason fills the page")
            for name in (_LONG, "0"):
                page.locator("#tree a").get_by_text(name, exact=True).first.click()
                page.locator("dl a", has_text="deep-").first.click()
            page.locator(".crumbs a").nth(2).wait_for()
            walk.check_page(page, "deepest")
            walk.require(page.locator(".crumbs a").nth(1).inner_text() == "deep", "the outermost stack is not linked")


def indented(walk: Walk, page: Page) -> None:
    """Check that the names of resources stand at the place of their level, with and without a button."""
    edges = page.locator("#tree tbody th > a").evaluate_all("all => all.map(e => e.getBoundingClientRect().x)")
    walk.require(edges[0] < edges[1] < edges[2] == edges[3] > edges[4] == edges[0], f"not indented: {edges}")


def session_ends(walk: Walk, base: str) -> None:
    """Lose the session while a form is filled in, and continue with it after the log-in."""
    with walk.page(1280, "light", expect="401 (Unauthorized)") as page:
        page.goto(f"{base}/deploy")
        stored = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
        walk.require(stored == [0, 0, ""], f"a page stores {stored}")
        page.get_by_label("Name", exact=True).fill("typed")
        page.context.clear_cookies()
        page.locator("textarea[name=template]").press("Control+End")
        page.keyboard.type("# these words")
        page.get_by_text("The session of this page has ended").wait_for()
        walk.check_page(page, "session-ended")
        page.get_by_role("button", name="Plan…").click()
        page.get_by_text("what you have entered is kept").wait_for()
        walk.check_page(page, "login-with-form")
        walk.log_in(page)
        page.get_by_role("button", name="Continue with the form").wait_for()
        walk.check_page(page, "continue")
        page.keyboard.press("Enter")
        template = page.locator("textarea[name=template]")
        template.wait_for()
        kept = (page.get_by_label("Name", exact=True).input_value(), "# these words" in template.input_value())
        walk.require(kept == ("typed", True), f"what was typed is lost: {kept}")


def files(walk: Walk, base: str) -> None:
    """Drop files, also ones that are refused, and look at a description on a phone."""
    with walk.page(390, "dark") as page:
        page.goto(f"{base}/deploy")
        page.get_by_label("Name", exact=True).fill("dropped")
        small = [[f"a-file-with-a-rather-long-name-{number}.yaml", "a: b"] for number in range(12)]
        page.evaluate(_DROP, [["<img src=x>.sh", "#"], *small, ["large", "ö" * 200_000]])
        page.locator("p.help", has_text="Not added: large (too large)").wait_for()
        page.get_by_role("tab", name="<img src=x>.sh").wait_for()
        walk.check_page(page, "many-files")
        seen = "e => e.getBoundingClientRect().bottom <= e.parentElement.getBoundingClientRect().bottom"
        walk.require(page.locator("[role=tab][aria-selected=true]").evaluate(seen), "the chosen tab is out of sight")
        template = page.locator("textarea[name=template]")
        page.get_by_role("tab", name="Template").click()
        template.fill("heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Nova::Server")
        page.mouse.move(1, 1)
        template.press("F1")
        tip = page.get_by_role("tooltip")
        tip.wait_for()
        box = tip.bounding_box() or {"x": -1, "width": 0}
        walk.require(box["x"] >= 0 and box["x"] + box["width"] <= 390, f"a description is outside the window: {box}")
        template.evaluate("e => { e.value = 'a: ' + 'ö'.repeat(200000) }")
        page.get_by_role("button", name="Plan…").click()
        page.get_by_text("too large to be sent").wait_for()


def changes_elsewhere(walk: Walk, path: str, base: str, act: Callable[..., Any]) -> None:
    """Keep the focus and what is typed while an operation that was begun elsewhere changes the page."""
    with walk.page(1280, "light", zone="Asia/Kolkata") as page:
        page.goto(f"{base}{path}")
        page.get_by_label("Filter").fill("word")
        act("stack", "check", "deep").wait(120)
        page.locator("#stack-state", has_text="Check complete").wait_for(timeout=60_000)
        kept = (page.evaluate(_FOCUS), page.get_by_label("Filter").input_value())
        walk.require(kept == ("tree-filter", "word"), f"the focus is lost by a change: {kept}")
        page.evaluate("document.querySelector('#more').open = true")
        page.locator("#more a", has_text="Snapshot").click()
        page.get_by_role("dialog").get_by_label("Name").fill("before")
        act("stack", "suspend", "deep").wait(120)
        page.locator("#stack-state", has_text="Suspend complete").wait_for(timeout=60_000)
        typed = page.get_by_role("dialog").get_by_label("Name").input_value()
        walk.require(typed == "before", "a dialog is lost by a change")
        page.goto(f"{base}{path}/events")
        title = page.locator("time").first.get_attribute("title") or ""
        walk.require("GMT+5:30" in title, f"a time has no local time: {title}")


def deletion(walk: Walk, base: str, act: Callable[..., Any], empty: str) -> None:
    """Delete a stack with the keyboard, and look at what remains of it."""
    act("deploy", "gone", "-t", empty, "--yes").wait(120)
    with walk.page(1280, "light", expect="410 (Gone)") as page:
        page.get_by_role("link", name="gone", exact=True).click()
        page.wait_for_url("**/gone/*", wait_until="load")
        page.get_by_role("link", name="Delete…").press("Enter")
        page.get_by_role("dialog").wait_for()
        walk.require(page.evaluate("document.activeElement.textContent") == "Keep as it is", "deletion has the focus")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        page.get_by_text("The stack is deleted.").wait_for(timeout=60_000)
        walk.check_page(page, "deleted")
        for link in page.locator(".tabs a").all():
            href = link.get_attribute("href") or ""
            answer = page.request.get(f"{base.removesuffix('/console')}{href}")
            walk.require(answer.ok, f"a tab of a deleted stack leads to {answer.status}: {href}")
        shown = page.goto(f"{page.url}/deploy")
        walk.require(shown is not None and shown.status == 410, "a deleted stack can be updated")
        walk.check_page(page, "gone")
        page.go_back()
        page.get_by_text("The stack is deleted.").wait_for()


def no_answer(walk: Walk, path: str, base: str, act: Callable[..., Any]) -> None:
    """Stop the service while pages are open; it is not started again."""
    silent = "net::ERR"
    with walk.page(1280, "light", expect=silent) as tree, walk.page(1280, "light", expect=silent) as stacks:
        tree.goto(f"{base}{path}")
        act("down").wait(120)
        stacks.get_by_text("The service does not answer: the list may be out of date.").wait_for()
        tree.get_by_text("The service does not answer: trying again.").wait_for()
        walk.check_page(stacks, "no-answer")
