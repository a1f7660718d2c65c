"""Objects that are changed without Stoker: `stoker drift` tells each difference, and no other, and reverts it.

The stacks and the changes are in `drift_of_kinds.yaml`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tools.realcloud.engine import Engine, Refused
from tools.realcloud.lab import Account, LabMissing
from tools.realcloud.scenarios.trials import ACCOUNT, Failed, Place, Trial
from tools.realcloud.web import serving

DOCUMENT = Path(__file__).with_name("drift_of_kinds.yaml")
SECONDS = 300.0
"""Seconds after which the creation or the reversion of a stack counts as stuck."""
GONE = "gone"
_CHANGED, _DELETED = "changed-outside", "deleted-outside"
_POLLS = 240
_POLL_SECONDS = 0.5

Difference = tuple[str, str]
"""A resource, and one of its properties or `GONE`."""


@dataclass
class _Changed:
    """A stack whose objects are changed: the account that sends the requests, and the IDs that these contain."""

    engine: Engine
    account: Account
    name: str
    ids: dict[str, Any]
    expected: set[Difference] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def drift_of_kinds(place: Place) -> Iterator[Trial]:
    """The stacks of `drift_of_kinds.yaml`: each change is reported, nothing else is, and a reversion ends them."""
    for name, case in cases().items():
        yield Trial(name, partial(_drifting, place, name, case))


def cases() -> dict[str, dict[str, Any]]:
    """Return the stacks with their changes, by name."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    return found


def expected_differences(change: Mapping[str, Any]) -> set[Difference]:
    """Return the differences that must be reported of a change."""
    return {
        (resource, name) for resource, seen in change["sees"].items() for name in ([GONE] if seen == GONE else seen)
    }


def reported(plan: Mapping[str, Any]) -> set[Difference]:
    """Return the differences that were made without Stoker, as the JSON of `stoker drift` tells them."""
    return {
        (step["path"], GONE if reason["code"] == _DELETED else str(reason["subject"]))
        for step in plan["steps"]
        for reason in step["reasons"]
        if reason["code"] in (_CHANGED, _DELETED)
    }


def _drifting(place: Place, name: str, case: Mapping[str, Any]) -> str:
    engine = place.engines[case.get("account", ACCOUNT)]
    with serving({"/small.raw": bytes(65536)}) as web:
        resources = filled(case["resources"], {"web": web}, strict=False)
        template = {"heat_template_version": "2021-04-16", "resources": resources}
        stack = place.create(f"drift-{name}", template, engine=engine)
        place.expect(stack, "CREATE_COMPLETE", SECONDS, engine=engine)
        rows = engine.send("GET", f"{stack}/resources")["resources"]
        ids = {row["resource_name"]: row["physical_resource_id"].rpartition("/")[2] for row in rows}
        changed = _Changed(engine, engine.account, stack.split("/")[2], ids)
        _compared(changed, "right after the creation")
        for title, change in case["changes"].items():
            _change(changed, title, change)
        if "adopted" in case:
            _adopted(changed, stack, template, case["adopted"])
        reverted = _reverted(changed)
        place.delete(stack, engine=engine)
    if changed.problems:
        raise Failed("; ".join(changed.problems))
    return f"{len(case['changes'])} changes were reported, nothing else was, and {reverted} differences were reverted."


def _change(changed: _Changed, title: str, change: Mapping[str, Any]) -> None:
    """Change something, and ask whether exactly that is reported."""
    try:
        for request in change["send"]:
            _send(changed, *request)
    except (LabMissing, Failed) as error:
        changed.problems.append(f"{title}: not made: {error}")
        return
    changed.expected |= expected_differences(change)
    _compared(changed, title)


def _compared(changed: _Changed, title: str) -> None:
    status, plan = changed.engine.command("drift", changed.name, "-f", "json")
    found = reported(plan)
    wrong = [f"{title}: {'.'.join(each)} is not reported" for each in sorted(changed.expected - found)]
    wrong += [
        f"{title}: {'.'.join(each)} is reported, and was not changed" for each in sorted(found - changed.expected)
    ]
    if status != (2 if changed.expected else 0):
        wrong.append(f"{title}: exit status {status}")
    changed.problems += wrong
    changed.expected = found  # each mistake is reported once


def _adopted(changed: _Changed, stack: str, template: Mapping[str, Any], case: Mapping[str, Any]) -> None:
    """Try to revert what no service changes back, which is refused at once; then take it into the template."""
    try:
        changed.engine.command("drift", changed.name, "--revert", "--yes", "-f", "json")
        changed.problems.append("revert: what cannot be changed back is not refused")
    except Refused as error:
        missing = [words for words in case["foreseen"] if words not in str(error)]
        changed.problems += [f"revert: {words!r} is not reported: {error}" for words in missing]
    _compared(changed, "after a reversion that was refused")
    kept = {each for each in changed.expected if each[0] not in case["properties"]}
    resources = dict(template["resources"])
    for name, properties in case["properties"].items():
        resources[name] = {**resources[name], "properties": {**resources[name]["properties"], **properties}}
    changed.engine.update(stack, {**template, "resources": resources}, {})
    status, reason = changed.engine.ended(stack, SECONDS)
    if status != "UPDATE_COMPLETE":
        changed.problems.append(f"with the new template: {status}: {reason}")
    changed.expected = kept
    _compared(changed, "with the new template")


def _reverted(changed: _Changed) -> int:
    """Revert, and return how many differences that has settled."""
    before, changed.expected = changed.expected, set()
    try:
        status, _ = changed.engine.command("drift", changed.name, "--revert", "--yes", "-f", "json")
    except Refused as error:
        changed.problems.append(f"revert: {error}")
        return 0
    if status != 0:
        changed.problems.append(f"revert: exit status {status}")
    _compared(changed, "after the reversion")
    return len(before)


def _send(changed: _Changed, service: str, method: str, path: str, options: Mapping[str, Any] | None = None) -> None:
    """Send a request without Stoker. Raises LabMissing and Failed."""
    options = options or {}
    arguments: dict[str, Any] = {
        key: filled(options[key], changed.ids) for key in ("json", "headers") if key in options
    }
    if "document" in options:
        arguments["json"] = _merged(changed.ids[options["document"]], options["change"])
    path = path.format(**changed.ids)
    if "until" in options:
        _until(changed.account, service, path, options["until"])
        return
    answer = changed.account.ask(service, method, path, **arguments)
    if "find" in options:
        changed.ids[options["find"]["as"]] = _found(answer, options["find"])


def _found(answer: Any, find: Mapping[str, Any]) -> Any:
    if find.get("whole"):
        return answer
    matching = [one for one in answer[find["list"]] if find.get("name") in (None, one.get("name"))]
    if len(matching) != 1:
        raise Failed(f"there are {len(matching)} {find['list']} instead of one")
    return matching[0]["id"]


def _until(account: Account, service: str, path: str, status: str) -> None:
    """Wait until an object has a status; `GONE` waits until it is not found."""
    shown = ""
    for _ in range(_POLLS):
        answer = account.send(service, "GET", path)
        if answer.status_code == 404 and status == GONE:
            return
        if answer.status_code < 400:
            body = answer.json()
            inner = next(iter(body.values()))
            document = inner if isinstance(inner, Mapping) else body
            shown = str(document.get("provisioning_status", document.get("status")))
            if shown == status:
                return
        time.sleep(_POLL_SECONDS)
    raise Failed(f"{path} is {shown} and not {status}")


def _merged(document: Any, change: Any) -> Any:
    if isinstance(document, Mapping) and isinstance(change, Mapping):
        return {**document, **{key: _merged(document.get(key), value) for key, value in change.items()}}
    return change


def filled(value: Any, ids: Mapping[str, Any], *, strict: bool = True) -> Any:
    """Return a value with the IDs in place of `{name}` in its strings; without `strict`, of those that are known."""
    if isinstance(value, Mapping):
        return {key: filled(inner, ids, strict=strict) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [filled(inner, ids, strict=strict) for inner in value]
    if not isinstance(value, str):
        return value
    return value.format(**ids) if strict or any(f"{{{name}}}" in value for name in ids) else value
