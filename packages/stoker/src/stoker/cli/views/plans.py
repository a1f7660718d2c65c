"""Format a plan for the terminal: the changes to each resource, property by property, with the reasons."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import ndiff
from itertools import groupby

from rich.console import Console
from rich.text import Text

from stoker.authoring.plan_steps import (
    MISSING,
    change_name,
    changes,
    compared,
    consumers,
    costs,
    data_loss,
    data_losses,
    ignored,
    is_denied,
    is_removed,
    is_whole,
    kept,
    left_behind,
    not_compared,
    not_counted,
    policies_omitted,
    policy_results,
    policy_sentence,
    reasons,
    retentions,
    shown_kind,
    skipped,
    suggested_imports,
    suggested_moves,
    summary,
)
from stoker.cli.client.refusals import Answer
from stoker.cli.terminal.formats import console
from stoker.cli.terminal.places import short
from stoker.cli.terminal.table_layout import cell_len


@dataclass(frozen=True, slots=True)
class _StepStyle:
    sign: str
    style: str
    verb: str


_LOOKS = {
    "import": _StepStyle("<", "cyan", "import"),
    "move": _StepStyle(">", "cyan", "move"),
    "create": _StepStyle("+", "green", "create"),
    "use": _StepStyle("=", "green", "use"),
    "update": _StepStyle("~", "yellow", "change"),
    "refuse": _StepStyle("!", "bold red", "fail"),
    "replace": _StepStyle("-/+", "magenta", "replace"),
    "delete": _StepStyle("-", "red", "remove"),
    "forget": _StepStyle("x", "yellow", "forget"),
    "act": _StepStyle(">", "cyan", "act on"),
    MISSING: _StepStyle("?", "bold red", "missing"),
}
_ADDED, _CHANGED, _REMOVED = _LOOKS["create"], _LOOKS["update"], _LOOKS["delete"]
_JOINED = "\ue000"
"""A non-breaking space, replaced by a space when printed."""

_NOT_KNOWN = Text(f"(known{_JOINED}after{_JOINED}apply)", "italic cyan")
_HIDDEN = Text("(hidden)", "italic cyan")
_INDENT = 4
_WIDEST_NAME = 40
_CONTEXT = 2
_LONGEST_TEXT = 20
_NARROWEST = 20
"""Width of values on terminals that are too narrow for their indentation."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What a plan compares a definition with; `same` is the sentence for no difference."""

    same: str


RECORD = Compared("the template matches the record of the stack {name}.")
NO_RESOURCES = Compared("the stack {name} has no resources.")
LAST_GOOD = Compared("the resources of the stack {name} match its last good definition.")
RETRIED = Compared("the resources of the stack {name} match the definition; what is left is to end the operation.")
SNAPSHOT = Compared("the stack {name} has the definition of the snapshot, which has no copies of contents.")
CLOUD = Compared("nothing that could be compared differs from the stack {name}.")
_DELETE = "DELETE"
_NOT_ASKED = "The cloud was not asked"
_ASKED_IN_PART = "--refresh=all compares the whole stack."


def show_plan(name: str, plan: Answer, against: Compared | None = None) -> None:
    """Print a plan for the stack `name`.

    `against` is what its definition was compared with; None means its record, and the cloud as far as the plan says.
    """
    out = console()
    for line in plan_lines(name, plan, out, against):
        out.print(line, soft_wrap=True)


def plan_lines(name: str, plan: Answer, out: Console, against: Compared | None = None) -> Iterator[Text]:
    """Yield the lines of a plan, none wider than `out`."""
    yield from _step_lists(name, plan, out, against or (CLOUD if is_whole(plan) else RECORD))
    if costing := costs(plan):
        yield from _wrapped(Text(), Text(costing, "bold"), out)
    for gap in not_counted(plan):
        yield from _wrapped(Text(), Text(gap, "yellow"), out)
    for result in policy_results(plan):
        style = "red" if is_denied(result) else "yellow"
        yield from _wrapped(Text(), Text(policy_sentence(result), style), out)
    if omitted := policies_omitted(plan):
        yield from _wrapped(Text(), Text(omitted, "yellow"), out)
    for extent in _extent(plan):
        yield from _wrapped(Text(), Text(extent, "dim"), out)
    for used in consumers(plan):
        yield from _wrapped(Text(), Text(used.text, "bold red" if used.fails else "yellow"), out)
    for gap in not_compared(plan):
        yield from _wrapped(Text(), Text(gap, "yellow"), out)
    for exception in ignored(plan):
        yield from _wrapped(Text(), Text(exception, "dim"), out)
    if left := skipped(plan):
        yield from _wrapped(Text(), Text(left, "yellow"), out)
    if unchecked := plan.get("unchecked"):
        yield from _wrapped(Text(), Text(f"Of the template's values, {unchecked}.", "yellow"), out)


def _extent(plan: Answer) -> Iterator[str]:
    """Yield what was compared with the cloud, and what would compare more."""
    if extent := compared(plan):
        yield extent
        if not is_whole(plan) and not changes(plan):
            yield _ASKED_IN_PART
    elif plan.get("refresh") is not None:
        can_ask = plan["action"] != _DELETE and plan["digest"] is not None  # of what runs, the cloud is not asked
        yield f"{_NOT_ASKED}: --refresh=all asks it." if can_ask else f"{_NOT_ASKED}."


def _step_lists(name: str, plan: Answer, out: Console, against: Compared) -> Iterator[Text]:
    steps = changes(plan)
    if not steps:
        before, _, after = against.same.partition("{name}")
        yield from _wrapped(Text("No changes: "), Text.assemble(before, (name, "bold"), after), out)
        yield from _kept_lines(plan, out)
        return
    heading = Text.assemble("What will be done to the stack ", (name, "bold"), ":", ("  " + _legend(steps), "dim"))
    yield from _wrapped(Text(), heading, out)
    yield Text()
    former = left_behind(plan)
    for step in steps:
        yield from _step_lines(step, former.get(step["path"]), out)
    yield Text()
    yield from _wrapped(Text(), Text(f"Plan: {summary(plan)}.", "bold"), out)
    if losing := data_losses(plan):
        yield from _wrapped(Text(), Text(f"Data is lost with: {losing}.", "bold red"), out)
    if retained := retentions(plan):
        yield from _wrapped(Text(), Text(f"Retained in the cloud: {retained}.", "bold"), out)
    yield from _kept_lines(plan, out)
    if entries := suggested_imports(plan):
        yield Text()
        hint = "To own what only was referred to (external_id), add these lines to an environment:"
        yield from _wrapped(Text(), Text(hint, "bold"), out)
        yield from (Text(line) for line in ("imports:", *(f"  {entry}" for entry in entries)))
    if entries := suggested_moves(plan):
        yield Text()
        yield from _wrapped(Text(), Text("Renamed? With these lines in an environment, the objects stay:", "bold"), out)
        yield from (Text(line) for line in ("moved:", *(f"  {entry}" for entry in entries)))


def _kept_lines(plan: Answer, out: Console) -> Iterator[Text]:
    """Yield what differs from the template and stays nevertheless."""
    for step in kept(plan):
        for reason in step["reasons"]:
            yield from _wrapped(Text("# ", "dim"), Text(f"{step['path']}: {reason['message']}", "dim"), out)


def _legend(steps: Sequence[Answer]) -> str:
    kinds = {shown_kind(step) for step in steps}
    return "  ".join(f"{look.sign} {look.verb}" for kind, look in _LOOKS.items() if kind in kinds)


def _step_lines(step: Answer, retained: str | None, out: Console) -> Iterator[Text]:
    look, indent = _LOOKS[shown_kind(step)], _INDENT * step["depth"]
    sign = Text.assemble(" " * indent, (f"{look.sign:>3}", look.style), " ")
    yield from _wrapped(sign, Text.assemble((step["path"], f"bold {look.style}"), f"  {short(step['type'])}"), out)
    margin = Text(" " * (indent + _INDENT + 2))
    for reason in reasons(step):
        yield from _wrapped(margin + Text("# ", "dim"), Text(reason, "dim"), out)
    if loss := data_loss(step):
        yield from _wrapped(margin + Text("! ", "bold red"), Text(f"data loss: {loss}", "bold red"), out)
    if retained and step["kind"] == "replace":
        yield from _wrapped(margin + Text("# ", "dim"), Text(f"of the former one, {retained}", "dim"), out)
    width = min(max((len(change_name(change)) for change in step["changes"]), default=0), _WIDEST_NAME)
    for change in step["changes"]:
        yield from _change_lines(change, width, margin, out)
    yield from _definition_lines(step.get("definition", ()), margin, out)


def _definition_lines(definition: Sequence[Answer], margin: Text, out: Console) -> Iterator[Text]:
    """Yield changes of metadata and policies; maps have a heading, since properties may have the same names."""
    for part, group in groupby(definition, key=lambda change: change["property"]):
        steps = list(group)
        name = f"{part} of the resource"
        if not steps[0]["path"]:
            yield from _change_lines(steps[0] | {"property": name, "effect": ""}, 0, margin, out)
            continue
        yield Text.assemble(margin, (_CHANGED.sign, _CHANGED.style), f" {name}:")
        inner = [change | {"property": "", "effect": ""} for change in steps]
        width = min(max(len(change_name(change)) for change in inner), _WIDEST_NAME)
        for change in inner:
            yield from _change_lines(change, width, margin + Text(" " * _INDENT), out)


# -- properties ---------------------------------------------------------------------------------------------------


def _change_lines(change: Answer, width: int, margin: Text, out: Console) -> Iterator[Text]:
    look = _ADDED if change["before"] is None else _REMOVED if is_removed(change) else _CHANGED
    before, after = change["before"], change["after"]
    if _is_text(before) or _is_text(after):
        yield Text.assemble(margin, (look.sign, look.style), f" {change_name(change)}:", *_effect(change))
        yield from _text_lines(before, after, margin, out)
        return
    head = Text.assemble(margin, (look.sign, look.style), f" {change_name(change):{width}} = ")
    shown = [_value(value, change) for value in (before,) if value is not None]
    shown += (
        [] if is_removed(change) else [_value(after, change) if change["known"] or change["hidden"] else _NOT_KNOWN]
    )
    yield from _wrapped(head, Text.assemble(Text(" -> ").join(shown), *_effect(change)), out)


def _value(value: object, change: Answer) -> Text:
    if change["hidden"]:
        return _HIDDEN
    if isinstance(value, str):
        value = short(value)
    return Text("nothing", "dim") if value is None else Text(json.dumps(value, ensure_ascii=False))


def _effect(change: Answer) -> Iterable[tuple[str, str]]:
    if change["effect"] == "replace":
        yield ("  # forces replacement" if change["known"] else "  # may force replacement", "red")
    elif change["effect"] == "refuse":
        yield ("  # cannot be changed: the update will fail", "bold red")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\n" in value.strip("\n")


def _text_lines(before: object, after: object, margin: Text, out: Console) -> Iterator[Text]:
    """Yield the lines of a multi-line string; if it changes, the changed lines with some context."""
    old, new = (str(value).splitlines() if isinstance(value, str) else [] for value in (before, after))
    deeper = margin + Text("    ")
    if not old or not new:
        look, lines = (_ADDED, new) if new else (_REMOVED, old)
        for line in lines[:_LONGEST_TEXT]:
            yield from _wrapped(deeper + Text("| ", look.style), Text(line), out)
        if len(lines) > _LONGEST_TEXT:
            yield deeper + Text(f"… {len(lines) - _LONGEST_TEXT} more lines", "dim")
        return
    for mark, line in _with_context([(line[0], line[2:]) for line in ndiff(old, new) if line[0] != "?"]):
        style = {"+": _ADDED.style, "-": _REMOVED.style}.get(mark, "dim")
        yield from _wrapped(deeper + Text(f"{mark} ", style), Text(line, style), out)


def _with_context(lines: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield changed lines with some context; lines in between are replaced by an ellipsis."""
    changed = [index for index, (mark, _) in enumerate(lines) if mark != " "]
    near = {other for index in changed for other in range(index - _CONTEXT, index + _CONTEXT + 1)}
    last = -1
    for index, line in enumerate(lines):
        if index not in near:
            continue
        if index > last + 1:
            yield " ", "…"
        yield line
        last = index
    if last < len(lines) - 1:
        yield " ", "…"


def _wrapped(head: Text, body: Text, out: Console) -> Iterator[Text]:
    """Yield `body` after `head`, wrapped and indented to the width of `head`.

    If a word would be cut there, the body begins on a line of its own, with less indentation.
    """
    rest = Text(" " * head.cell_len)
    margin = head.cell_len - Text(head.plain.lstrip(" ")).cell_len + _INDENT
    if margin < head.cell_len and max(map(cell_len, body.plain.split(" "))) > out.width - head.cell_len:
        head.rstrip()
        yield head
        head = rest = Text(" " * margin)
    for number, line in enumerate(body.wrap(out, max(out.width - head.cell_len, _NARROWEST))):
        line.rstrip()
        line.plain = line.plain.replace(_JOINED, " ")
        yield (rest if number else head) + line
