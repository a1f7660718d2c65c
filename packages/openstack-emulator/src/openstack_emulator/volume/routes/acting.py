"""`POST …/action` of volumes, snapshots and backups, whose errors name the rules of Cinder's policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from openstack_emulator.core.actions import act
from openstack_emulator.core.errors import RolesLacking
from openstack_emulator.core.http import Request, Response
from openstack_emulator.volume.rules.composition import BlockStorage

R = TypeVar("R")
Actions = Mapping[str, Callable[[BlockStorage, Request, R, object], Response]]
"""The handlers by the name of the action; the last argument is what the body has under this name."""
UNKNOWN = "There is no such action: {name}. Verify the request body and Content-Type header and try again."
REFUSAL = "Policy doesn't allow volume_extension:{kind}_admin_actions:{rule} to be performed."
RULES = {"os-reset_status": "reset_status", "os-force_delete": "force_delete", "os-force_detach": "force_detach"}
"""Action → name of the policy rule that lets administrators do it, for volumes, snapshots and backups."""


def act_by_policy(kind: str, actions: Actions[R], storage: BlockStorage, request: Request, record: R) -> Response:
    """Do what the body names; the error for a caller who must not names the policy rule."""
    try:
        return act(actions, storage, request, record, UNKNOWN)
    except RolesLacking as error:
        rule = next((RULES[name] for name in request.json if name in RULES), None)
        if rule is not None:
            error.message = REFUSAL.format(kind=kind, rule=rule)
        raise
