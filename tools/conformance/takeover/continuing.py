"""Continue the stacks that were taken over: compare, signal, change, delete."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests

from testing.heat_stacks import definition
from tools.conformance.takeover.making import Heat

HEAD = ("stack", "in Heat", "here", "update with its template", "signal", "change", "delete")
_SECONDS = 60.0


def continue_all(
    heat: Heat, entries: Sequence[Mapping[str, Any]], made: Mapping[str, str], outputs: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, ...]]:
    """Return the rows of a table, the first one with the headings; `NO` begins what is not as it should be."""

    def continued(entry: Mapping[str, Any]) -> tuple[str, ...]:
        name = entry["name"]
        return _continued(heat, entry, made[name], outputs[name])

    with ThreadPoolExecutor(3) as threads:
        return [HEAD, *threads.map(continued, entries)]


def _continued(heat: Heat, entry: Mapping[str, Any], before: str, outputs: Mapping[str, Any]) -> tuple[str, ...]:
    name = entry["name"]
    cells = [name, before]
    for step in (_here, _unchanged, _signal, _change, _delete):
        try:
            cells.append(step(heat, entry, outputs))
        except Exception as error:  # a row says what went wrong, and the others go on
            cells.append(f"NO: {' '.join(str(error).split())[:90]}")
    return tuple(cells)


def _here(heat: Heat, entry: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    shown = heat.show(entry["name"])
    if shown["id"] != outputs.get("id"):
        return f"NO: the ID is {shown['id']}"
    now = {each["output_key"]: each.get("output_value") for each in shown.get("outputs", ())}
    different = [key for key, value in outputs["outputs"].items() if not _same(now.get(key), value)]
    if different:
        return f"NO: outputs {', '.join(different)}"
    if shown["tags"] != outputs["tags"]:
        return f"NO: tags {shown['tags']}, in Heat {outputs['tags']}"
    hidden = heat.call("GET", f"{heat.path(entry['name'])}/environment").get("encrypted_param_names")
    if sorted(hidden or ()) != sorted(outputs["hidden"] or ()):
        return f"NO: encrypted_param_names {hidden}, in Heat {outputs['hidden']}"
    return str(shown["stack_status"])


def _same(here: Any, there: Any) -> bool:
    """Compare values. Keystone's address in a signal ends with a slash in Heat only, a limit that the manual states."""
    if isinstance(there, str) and there.startswith('{"auth_url"'):
        return bool(here == there.replace('/v3/"', '/v3"', 1))
    return bool(here == there)


def _unchanged(heat: Heat, entry: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    body = {**definition(entry), **entry.get("update", {})}
    if entry.get("ends", "").startswith(("DELETE", "SUSPEND")):
        return "-"
    changes = heat.call("PUT", f"{heat.path(entry['name'])}/preview?show_nested=true", body)["resource_changes"]
    found = [
        f"{kind} {each['resource_name']}"
        for kind in ("added", "updated", "replaced", "deleted")
        for each in changes[kind]
    ]
    if entry.get("repairs") or entry.get("renews"):
        return ", ".join(found) or "NO: nothing"
    return "nothing" if not found else f"NO: {', '.join(found)}"


def _signal(heat: Heat, entry: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    name = entry.get("then", {}).get("signal")
    if name is None:
        return "-"
    before = _count(heat, entry["name"])
    answer = _sent(outputs["outputs"][name])
    if answer.status_code >= 300:
        return f"NO: {answer.status_code} {answer.text[:80]}"
    expected = before + entry["then"].get("grows", 0)
    deadline = time.monotonic() + _SECONDS
    while _count(heat, entry["name"]) != expected:
        if time.monotonic() > deadline:
            return f"NO: {_count(heat, entry['name'])} resources, not {expected}"
        time.sleep(0.5)
    return f"{before} → {expected} resources" if expected != before else "taken"


def _sent(address: str) -> requests.Response:
    """Send a signal to a URL, or to the one in the document for senders; with a password, as its user."""
    target = json.loads(address) if address.startswith("{") else {"alarm_url": address}
    url = target["alarm_url"]
    if "password" in target:
        user: Any = {"id": target["user_id"], "password": target["password"]}
        scope = {"project": {"id": target["project_id"]}}
        auth: Any = {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}
        opened = requests.post(f"{target['auth_url'].rstrip('/')}/auth/tokens", json={"auth": auth}, timeout=30)
        opened.raise_for_status()
        token = opened.headers["X-Subject-Token"]
        return requests.post(url, json={"data": "x", "id": "2"}, headers={"X-Auth-Token": token}, timeout=30)
    if "waitcondition" not in url:
        return requests.post(url, timeout=30)
    if address is url:
        body = {"Status": "SUCCESS", "Reason": "done", "UniqueId": "1", "Data": "x"}
    else:
        body = {"status": "SUCCESS", "reason": "done", "id": "1", "data": "x"}
    return requests.put(url, json=body, headers={"Content-Type": ""}, timeout=30)


def _change(heat: Heat, entry: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    change = entry.get("then", {}).get("change")
    if change is None or entry["then"].get("waits"):
        return "-"
    body = {**definition(entry), **entry.get("update", {})}
    body["parameters"] = {**body["parameters"], **change}
    heat.call("PUT", heat.path(entry["name"]), body)
    state = heat.settled(entry["name"])
    return (
        state if state == "UPDATE_COMPLETE" else f"NO: {state} {heat.show(entry['name'])['stack_status_reason'][:80]}"
    )


def _delete(heat: Heat, entry: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    identifier = outputs["id"]
    heat.call("DELETE", heat.path(entry["name"]))
    if entry.get("then", {}).get("deletion") == "waits":
        return "in progress" if heat.show(identifier)["stack_status"] == "DELETE_IN_PROGRESS" else "NO: not begun"
    state = heat.settled(identifier)
    return (
        "deleted" if state == "DELETE_COMPLETE" else f"NO: {state} {heat.show(identifier)['stack_status_reason'][:80]}"
    )


def _count(heat: Heat, name: str) -> int:
    found = heat.call("GET", f"{heat.path(name)}/resources?nested_depth=5")["resources"]
    return len(found)
