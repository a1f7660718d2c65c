"""Play a script against a cloud."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from testing.differential.script import RepeatUntil, Script, Step, filled
from testing.differential.site import Answer, Site
from testing.differential.uniform import uniform

TIMEOUT = 60.0
"""Seconds that a request is repeated for."""
POLL_SECONDS = 0.5
UNKNOWN = "00000000-0000-4000-8000-000000000000"
OWNERS = ("project_id", "tenant_id", "owner", "os-vol-tenant-attr:tenant_id")
"""The fields that say which project an object belongs to."""
LEFT_OUT = {"status": 0}
"""The answer of a step that names a variable which no earlier step has saved."""

Played = dict[str, dict[str, Any]]
"""Step → its answer, made uniform."""


def play(script: Script, site: Site) -> Played:
    """Send the requests of a script in order, and return the answers."""
    site.prepare(script.roles)
    variables = {
        "run": site.run,
        "unknown": UNKNOWN,
        "project": site.projects["one"],
        "other_project": site.projects["two"],
        **{f"{account}_user": user for account, user in site.accounts.items()},
    }
    try:
        return {step.name: _played(script, step, site, variables) for step in script.steps}
    finally:
        _clean_up(script, site)
        site.clean()


def _clean_up(script: Script, site: Site) -> None:
    """Delete what steps have left, by accident or because a cloud did not refuse it."""
    for service, path, key in script.sweep:
        url = site.url(service, "operator") + path
        for one in site.ask("GET", url, "operator")[key]:
            owner = next((one[name] for name in OWNERS if name in one), None)
            if owner in site.projects.values():
                place = f"{url.partition('?')[0].removesuffix('/detail')}/{one.get('id') or one['uuid']}"
                site.send("DELETE", place, "operator", {}, None)


def _played(script: Script, step: Step, site: Site, variables: dict[str, str]) -> dict[str, Any]:
    try:
        path, body, headers = (filled(part, variables) for part in (step.path, step.body, dict(step.headers)))
    except LookupError:
        return LEFT_OUT
    url = site.url(step.service or script.service, step.account) + path
    if isinstance(body, str):
        content: bytes | None = body.encode()
    else:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers} if content else headers
    answer = site.send(step.method, url, step.account, headers, content)
    waited = 0.0
    while step.until and not _reached(step.until, answer) and waited < TIMEOUT:
        site.pause(POLL_SECONDS)
        waited += POLL_SECONDS
        answer = site.send(step.method, url, step.account, headers, content)
    for name, place in step.save.items():
        if (value := _at(answer, place)) is not None:
            variables[name] = str(value)
    return uniform(answer, script, site, variables)


def _reached(until: RepeatUntil, answer: Answer) -> bool:
    value = answer.status if until.where == "status" else _at(answer, until.where.removeprefix("body."))
    return str(value) in until.values if until.values else not value


def _at(answer: Answer, place: str) -> Any:
    """Return the value at a place of an answer; None where there is none."""
    if place.startswith("header:"):
        return answer.headers.get(place.removeprefix("header:"))
    value: Any = answer.body
    for key in place.split("."):
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
