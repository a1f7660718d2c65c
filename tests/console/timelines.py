"""The timeline of an operation on a thousand resources: painted quickly, readable at every width, smooth while live."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.console.browser import Walk

TIMED = """
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 490, resource_def: {type: OS::Heat::TestResource, properties: {value: x}}}
  more:
    type: OS::Heat::ResourceGroup
    properties: {count: 490, resource_def: {type: OS::Heat::TestResource, properties: {value: x}}}
"""
"""The service keeps 1000 events of a stack: two for each member of a group."""

PAINT = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0]"
WATCH_FRAMES = """() => {
  window.longestPause = 0;
  let last = performance.now();
  const step = (now) => {
    window.longestPause = Math.max(window.longestPause, now - last);
    last = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}"""
_AXIS = "document.querySelector('.axis svg').getBoundingClientRect()"
_BAR = "[...document.querySelectorAll('.bars svg')].find(item => item.checkVisibility()).getBoundingClientRect()"
_ROWS = "#tree tbody tr:visible"


def check_timeline(walk: Walk, path: str, base: str, act: Callable[..., Any]) -> None:
    """Look at the timeline of a large stack at all widths, use it by the keyboard, and watch it at work."""
    for width, scheme in ((400, "light"), (900, "dark"), (1400, "light")):
        with walk.page(width, scheme) as page:
            paints = []
            for _ in range(5):  # the machine may be busy
                page.goto(f"{base}{path}/timeline")
                page.wait_for_function(PAINT)
                paints.append(page.evaluate(PAINT))
            print(f"timeline of 982 resources at {width}: first paint after {min(paints):.0f} ms")
            walk.require(min(paints) < 1000, f"a timeline at {width} is painted after {min(paints):.0f} ms")
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
            page.wait_for_function(f"{_AXIS}.top >= 0 && {_AXIS}.bottom < 60")  # it stays in sight
            edges = page.evaluate(f"[{_AXIS}.left, {_BAR}.left, {_AXIS}.right, {_BAR}.right].map(Math.round)")
            walk.require(edges[0] == edges[1] and edges[2] == edges[3], f"bars are not below their axis: {edges}")
            walk.check_page(page, "timeline-large")
    with walk.page(1280, "light") as page:
        page.goto(f"{base}{path}/timeline")
        _by_keyboard(walk, page)
        _at_work(walk, page, path.split("/")[2], act)


def _by_keyboard(walk: Walk, page: Page) -> None:
    page.get_by_role("button", name="490 resources inside group").press("Enter")
    walk.require(page.locator(_ROWS).count() == 492, "a nested stack is not folded by Enter")
    page.get_by_role("button", name="Fold all").press("Enter")
    walk.require(page.locator(_ROWS).count() == 2, "branches are not folded")
    page.get_by_role("button", name="Unfold all").press("Enter")
    walk.require(page.locator(_ROWS).count() == 982, "branches are not unfolded")
    page.get_by_label("Filter").fill("489")
    walk.require(page.locator(_ROWS).count() == 4, "the filter does not leave resources and their parents")
    page.get_by_label("Filter").fill("")
    page.get_by_label("Order").select_option("longest")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**order=longest*")


def _at_work(walk: Walk, page: Page, name: str, act: Callable[..., Any]) -> None:
    """Begin a check while the page is open, which then shows that operation."""
    pauses: list[float] = []
    while len(pauses) < 3 and min(pauses, default=1000.0) >= 1000:  # the machine may be busy
        page.goto(page.url.partition("?")[0])
        page.evaluate(WATCH_FRAMES)
        running = act("stack", "check", name)
        page.locator("#operations option", has_text="running").first.wait_for(state="attached", timeout=60_000)
        running.wait(180)
        page.locator("#operations option", has_text="running").first.wait_for(state="detached", timeout=60_000)
        page.wait_for_function(
            "document.querySelectorAll('#tree .bars [data-status=COMPLETE]').length === 982", timeout=60_000
        )
        pauses.append(page.evaluate("window.longestPause"))
    print(f"timeline of 982 resources: longest pause between two frames {min(pauses):.0f} ms")
    walk.require(min(pauses) < 1000, f"the timeline of 982 resources stands still for {min(pauses):.0f} ms")
