"""The timeline of an operation: its axis, its bars, and the page that shows them."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from stoker.console import timeline
from stoker.console.gantt import Axis, bars_of
from stoker.console.progress_pages import period_of
from stoker.console.timeline import Span
from testing.harness import ThreadedWorld
from tests.console.support import Browser, create
from tests.console.test_pages import TEMPLATE

_BROKEN: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "first": {"type": "OS::Heat::RandomString"},
        "bad": {"type": "OS::Heat::TestResource", "depends_on": "first", "properties": {"fail": True}},
    },
}


def _span(
    name: str, began: float, ended: float | None, *, stack: str = "s", physical: str = "", action: str = "CREATE"
) -> Span:
    state = f"{action}_{'IN_PROGRESS' if ended is None else 'COMPLETE'}"
    return Span(f"{stack}/{name}", name, f"name of {stack}", stack, physical, action, state, "", began, ended, 0)


def _order(spans: list[Span], **more: Any) -> list[tuple[str, int, str, int]]:
    axis = Axis(0, 100)
    return [(bar.span.resource_name, bar.level, bar.parent, bar.inside) for bar in bars_of(spans, axis, 100, **more)]


def test_bars_are_those_of_the_operation_to_scale() -> None:
    found = [
        _span(str(place), *times)
        for place, times in enumerate([(90, 95), (100, 110), (115, None), (120, 120), (130, 131)])
    ]
    assert [(bar.span.began, bar.left, bar.width) for bar in bars_of(found, Axis(100, 40), 120)] == [
        (100, 0.0, 25.0), (115, 37.5, 12.5), (120, 50.0, 0.4),
    ]  # fmt: skip


def test_an_action_that_begins_in_the_last_second_of_an_operation_belongs_to_it() -> None:
    times = {"created_at": "01.100", "started_at": "01.250", "finished_at": "03.750"}
    began, ended = period_of({"timestamps": {name: f"2026-01-01T00:00:{time}Z" for name, time in times.items()}}, 0.0)
    assert ended - began == 2.5
    late = _span("late", began + 2.25, ended)
    assert [bar.span for bar in bars_of([late], Axis.of(began, ended, growing=False), ended)] == [late]


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (0.2, ["0"]),
        (3, ["0", "1 s", "2 s"]),
        (113, ["0", "30 s", "1 min", "1 min 30 s"]),
        (270, ["0", "1 min", "2 min", "3 min", "4 min"]),
        (3600 * 30, ["0", "6 h", "12 h", "18 h", "1 d"]),
        (86_400 * 24, ["0", "5 d", "10 d", "15 d", "20 d"]),
    ],
)
def test_an_axis_has_a_few_lines_with_round_labels(seconds: float, labels: list[str]) -> None:
    assert [tick.label for tick in Axis.of(1000, 1000 + seconds, growing=False).ticks] == labels


def test_label_that_does_not_fit_is_omitted() -> None:
    ticks = Axis.of(0, 61, growing=False).ticks
    assert [(round(tick.place), tick.label) for tick in ticks] == [
        (0, "0"), (25, "15 s"), (49, "30 s"), (74, "45 s"), (98, ""),
    ]  # fmt: skip


def test_the_axis_of_work_in_progress_ends_with_a_whole_step() -> None:
    assert [Axis.of(0, now, growing=True).seconds for now in (0.5, 1, 9.9, 10, 12, 74, 75)] == [
        2, 2, 10, 12, 15, 75, 90,
    ]  # fmt: skip


def test_resources_of_a_nested_stack_follow_the_one_that_contains_them() -> None:
    spans = [
        _span("first", 0, 5),
        _span("group", 1, 90, physical="n"),
        _span("short", 2, 3, stack="n"),
        _span("last", 3, 50),
        _span("long", 4, 60, stack="n"),
        _span("stray", 5, 6, stack="elsewhere"),
    ]
    group = "s/group-CREATE"
    assert _order(spans) == [
        ("first", 0, "", 0), ("group", 0, "", 2), ("short", 1, group, 0), ("long", 1, group, 0), ("last", 0, "", 0),
        ("stray", 0, "", 0),
    ]  # fmt: skip
    assert [name for name, *_ in _order(spans, order="longest")] == ["group", "long", "short", "last", "first", "stray"]


def test_nested_stack_without_events_has_a_parent() -> None:
    spans = [_span("group", 1, None), _span("member", 2, None, stack="n")]
    assert _order(spans) == [("group", 0, "", 0), ("member", 0, "", 0)]
    assert _order(spans, owners={"n": "s/group", "of no action": "s/none"}) == [
        ("group", 0, "", 1), ("member", 1, "s/group-CREATE", 0),
    ]  # fmt: skip


def test_each_bar_has_a_name_of_its_own() -> None:
    spans = [_span("r", 1, 2), _span("r", 3, 4, action="DELETE"), _span("r", 5, 6), _span("r", 7, 8)]
    assert [bar.name for bar in bars_of(spans, Axis(0, 10), 10)] == [
        "s/r-CREATE-2", "s/r-DELETE", "s/r-CREATE-1", "s/r-CREATE",
    ]  # fmt: skip


def test_the_page_shows_the_chosen_operation_as_a_tree(browser: Browser, world: ThreadedWorld) -> None:
    word = {"type": "OS::Heat::Value", "properties": {"value": {"get_resource": "word"}}}
    stack = create(world, "timed", {**TEMPLATE, "resources": {**TEMPLATE["resources"], "copy": word}})
    identifier = stack.rpartition("/")[2]
    world.run(world.world.call("stack_update", ref={"name": "timed", "id": None}, template=TEMPLATE))
    world.settle(identifier)
    latest = browser.get(f"{stack}/timeline").text
    assert f'id="b-{identifier}/copy-DELETE"' in latest and "data-growing" not in latest
    operations = re.search(r'id="operations">(.+?)</select>', latest, re.DOTALL)
    assert operations is not None
    first = re.findall(r'<option value="([^"]+)"', operations[1])[-1]
    earlier = browser.get(f"{stack}/timeline?operation={first}&order=longest").text
    assert f'<option value="{first}" selected>' in earlier and f'id="b-{identifier}/word-CREATE"' in earlier
    assert '<option value="longest" selected>' in earlier
    assert earlier.count(f'data-parent="b-{identifier}/group-CREATE"') == 2
    assert 'aria-label="2 resources inside group"' in earlier
    assert re.search(r'<th scope="col" class="axis".*?<text x="0.00%"[^>]*>0</text>', earlier, re.DOTALL)


def test_a_failure_has_its_reason_in_the_timeline(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "failing", _BROKEN)
    rows = re.findall(r'<tr id="b-.+?</tr>', browser.get(f"{stack}/timeline").text, re.DOTALL)
    (failed,) = (row for row in rows if 'data-status="FAILED"' in row)
    assert "Create failed" in failed and "resources.bad: " in html.unescape(failed)
    assert [("Reason" in row) for row in rows] == [False, True]


def test_the_page_says_that_events_are_missing(
    browser: Browser, world: ThreadedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = create(world, "long", TEMPLATE)
    assert 'id="incomplete"' not in browser.get(f"{stack}/timeline").text
    monkeypatch.setattr(timeline, "MOST_EVENTS", 6)  # the last actions; the first event of the stack is older
    shown = browser.get(f"{stack}/timeline").text
    assert 'id="incomplete"' in shown and "<tr id=" in shown


def test_the_page_says_what_policies_have_decided_in_nested_stacks(browser: Browser, world: ThreadedWorld) -> None:
    """The value is known only when the group is made: then the policy says something about a step of the group."""
    stack = create(world, "judged", {"heat_template_version": "2021-04-16", "resources": {}})
    ref = {"name": "judged", "id": None}
    policy = (
        "{name: odd, types: [OS::Heat::Value], verdict: warn, expression: step.properties.value != 'odd', message: hm}"
    )
    world.run(world.world.call("plan_policies_change", ref=ref, policies=f"policies: [{policy}]"))
    late = {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["made", "output"]}}}
    made = {"type": "OS::Heat::TestResource", "properties": {"value": "odd"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": late}}
    definition = {"heat_template_version": "2021-04-16", "resources": {"made": made, "group": group}}
    world.run(world.world.call("stack_update", ref=ref, template=definition))
    world.settle(stack.rpartition("/")[2])
    assert "<p>Warning of the policy odd: group.0: hm.</p>" in browser.get(f"{stack}/timeline").text
