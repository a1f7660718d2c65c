"""What the services hold, so that two moments can be compared."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from tools.realcloud.lab import Account

LISTS = Path(__file__).with_name("inventory.yaml")
STACK_PREFIX = "rc-"
"""The beginning of the names of all stacks, and so of most names of what they create."""
_EVERYBODYS = ("compute /flavors", "volumev3 /types", "sharev2 /types", "load-balancer /v2.0/lbaas/flavors")
_OWNERS = ("project_id", "tenant_id", "project", "owner")
_PAUSES = (1.0, 2.0, 4.0, 8.0, 0.0)
"""Seconds after each attempt that failed: Swift refuses the first requests after a while with 400 and no reason."""

Inventory = dict[tuple[str, str], str]
"""(list, ID) → the object as JSON."""


def taken(accounts: Iterable[Account]) -> Inventory:
    """Return all objects of the accounts' projects, and those that belong to no project."""
    lists = yaml.safe_load(LISTS.read_text(encoding="utf-8"))
    found: Inventory = {}
    for account in accounts:
        lists_of_services = [
            (account, service, paths) for service, paths in lists.items() if service in account.services
        ]
        with ThreadPoolExecutor(4) as threads:
            for part in threads.map(lambda item: _held(*item), lists_of_services):
                found |= part
    return found


def left(before: Inventory, after: Inventory) -> list[str]:
    """Return a line for each object that is only in `after`."""
    return [f"{name} {what[:300]}" for (name, number), what in after.items() if (name, number) not in before]


def of_projects(found: Inventory) -> Inventory:
    """Return the objects without those that users of every project see, which others may change meanwhile."""
    return {key: what for key, what in found.items() if key[0] not in _EVERYBODYS}


def _held(account: Account, service: str, paths: Mapping[str, str]) -> Inventory:
    """Return the objects of one service. Some services fail when their first requests come side by side."""
    found: Inventory = {}
    for path, key in paths.items():
        found |= _listed(account, service, path, key)
    return found


def _listed(account: Account, service: str, path: str, key: str) -> Inventory:
    """Return the objects of a list; those that the account may not list are those of another account."""
    for pause in _PAUSES:
        answer = account.send(service, "GET", path)
        if answer.status_code < 400 or answer.status_code in (403, 404):
            break
        time.sleep(pause)
    if answer.status_code in (403, 404) or (answer.status_code == 204 and not answer.content):
        return {}
    if answer.status_code >= 400:
        raise RuntimeError(f"{service} {path}: {answer.status_code} {answer.text[:200]}")
    body = answer.json()
    return {
        (f"{service} {path}", _identity(one)): json.dumps(one)
        for one in (body[key] if key else body)
        if _belongs(one, account.project_id) and (service != "identity" or _concerns(one, account))
    }


def _belongs(one: Mapping[str, Any], project_id: str) -> bool:
    owners = [one[name] for name in _OWNERS if one.get(name)]
    return not owners or project_id in owners


def _concerns(one: Mapping[str, Any], account: Account) -> bool:
    """Whether an object of the identity service has to do with the stacks or the account: it may be anybody's."""
    text = json.dumps(one)
    return STACK_PREFIX in text or account.project_id in text


def _identity(one: Mapping[str, Any]) -> str:
    for name in ("id", "uuid", "alarm_id", "secret_ref", "container_ref", "order_ref", "name"):
        if name in one:
            return str(one[name])
    if "keypair" in one:
        return str(one["keypair"]["name"])
    return json.dumps(one, sort_keys=True)
