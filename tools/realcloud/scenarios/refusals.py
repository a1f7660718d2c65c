"""Stacks that a service refuses something: because of a quota, a conflict, or an object that is still in use.

The cases are in `refusals.yaml`. What the checks before the first change know of is refused by them, and then, without
them, by the service. Each ends within seconds with the words of the service and the path of the resource; when the
cause is gone, the next operation on the same stack completes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tools.realcloud.cases import THING, merged
from tools.realcloud.scenarios.trials import Failed, Place, Trial

CASES = Path(__file__).with_name("refusals.yaml")
SECONDS = 45.0
"""Seconds within which a refusal ends the operation: the lab takes some for a server before the refused resource."""
_PATH = f"resources.{THING}"


def quotas(place: Place) -> Iterator[Trial]:
    """Stacks that exceed a quota, which is raised afterwards."""
    for name, case in _cases("quotas").items():
        yield Trial(name, partial(_quota, place, name, case))


def conflicts(place: Place) -> Iterator[Trial]:
    """Stacks that conflict with another stack's objects, until their template is mended."""
    for name, case in _cases("conflicts").items():
        yield Trial(name, partial(_conflict, place, name, case))


def undeletable(place: Place) -> Iterator[Trial]:
    """Stacks whose deletion a service refuses as long as others use an object."""
    for name, case in _cases("undeletable").items():
        yield Trial(name, partial(_undeletable, place, name, case))


def _cases(group: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(CASES.read_text(encoding="utf-8"))[group]
    return found


def _template(resources: Mapping[str, Any], **sections: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": dict(resources), **sections}


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _quota(place: Place, name: str, case: Mapping[str, Any]) -> str:
    template = _template(case["resources"])
    path = case["path"].format(project=place.account.project_id)
    headers = {"X-Auth-All-Projects": "true"}  # Designate lets administrators change other projects with it only
    place.administrator.ask(case["service"], case.get("method", "PUT"), path, json=case["quota"], headers=headers)
    stack = ""
    try:
        stack, reported = _refused(place, _slug(name), template, case)
    finally:
        place.administrator.ask(case["service"], "DELETE", path, headers=headers)
    place.engine.update(stack, template, {})
    place.expect(stack, "UPDATE_COMPLETE")
    place.delete(stack)
    return reported


def _conflict(place: Place, name: str, case: Mapping[str, Any]) -> str:
    outputs = {key: {"value": value} for key, value in case.get("outputs", {}).items()}
    first = place.create(f"{_slug(name)}-first", _template(case["first"], outputs=outputs))
    place.expect(first, "CREATE_COMPLETE")
    values = place.outputs(first)
    parameters = {key: {"type": "string"} for key in values}
    template = _template(case["resources"], parameters=parameters)
    stack, reported = _refused(place, _slug(name), template, case, parameters=values)
    thing = template["resources"][THING]
    template["resources"][THING] = {**thing, "properties": merged(thing["properties"], case["mended"])}
    place.engine.update(stack, template, {}, parameters=values)
    place.expect(stack, "UPDATE_COMPLETE")
    place.delete(stack)
    place.delete(first)
    return reported


def _undeletable(place: Place, name: str, case: Mapping[str, Any]) -> str:
    outputs = {key: {"value": value} for key, value in case["outputs"].items()}
    stack = place.create(_slug(name), _template(case["resources"], outputs=outputs))
    place.expect(stack, "CREATE_COMPLETE")
    known = place.outputs(stack)
    for step in case["block"]:
        _send(place, step, known)
    place.engine.send("DELETE", stack)
    reported = _ended(place, stack, "DELETE_FAILED", case["words"], case.get("seconds", SECONDS))
    for step in case["unblock"]:
        _send(place, step, known)
    place.delete(stack)
    return reported


def _refused(
    place: Place, name: str, template: Mapping[str, Any], case: Mapping[str, Any], **options: Any
) -> tuple[str, str]:
    """Create a stack that is refused; return its path and how it ended."""
    predicted = case.get("foreseen")
    if predicted is not None:
        stack = place.create(f"{name}-foreseen", template, **options)
        _ended(place, stack, "CREATE_FAILED", predicted, SECONDS)
        place.delete(stack)
    stack = place.create(name, template, preflight=predicted is None, **options)
    return stack, _ended(place, stack, "CREATE_FAILED", case["words"], SECONDS)


def _ended(place: Place, stack: str, status: str, words: str, seconds: float) -> str:
    began = time.monotonic()
    reason = place.expect(stack, status)
    spent = time.monotonic() - began
    if words not in reason or _PATH not in reason:
        raise Failed(f"neither {words!r} nor {_PATH!r} may be missing: {reason}")
    if spent > seconds:
        raise Failed(f"{spent:.0f} s until the failure: {reason}")
    return f"{spent:.0f} s: {reason}"


def _send(place: Place, step: Mapping[str, Any], known: dict[str, Any]) -> None:
    """Send a request as the user, without Stoker; `keep` names the ID in the response for later steps."""
    body = _filled(step.get("body"), known)
    made = place.account.ask(step["service"], step["method"], step["path"].format(**known), json=body)
    if "keep" in step:
        (inner,) = made.values()
        known[step["keep"]] = inner["id"]
    if "until" in step:
        _until(partial(place.account.send, step["service"], "GET", step["until"].format(**known)), step["status"])


def _until(ask: Callable[[], Any], status: str) -> None:
    """Wait until an object has a status; `gone` waits until it is not found."""
    for _ in range(120):
        answer = ask()
        if answer.status_code == 404 and status == "gone":
            return
        if answer.status_code < 400 and next(iter(answer.json().values())).get("status") == status:
            return
        time.sleep(0.5)
    raise Failed(f"{answer.url} did not become {status}")


def _filled(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(inner, known) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, known) for inner in value]
    return value.format(**known) if isinstance(value, str) else value
