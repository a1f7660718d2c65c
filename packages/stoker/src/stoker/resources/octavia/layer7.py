"""OS::Octavia::L7Policy and OS::Octavia::L7Rule: what to do with requests of a certain kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.resources.declare import between, one_of
from stoker.resources.octavia.allowances import L7_POLICY
from stoker.resources.octavia.base import ADMIN_STATE_UP, NAME, OctaviaResource, collection
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import never
from stoker.schema.property import Attribute, Change, Property, Support, Type

_TARGETS = {"REDIRECT_TO_POOL": "redirect_pool", "REDIRECT_TO_URL": "redirect_url"}


class L7Policy(OctaviaResource):
    """What to do with requests that match all rules."""

    type_name = "OS::Octavia::L7Policy"
    description = "What a listener does with HTTP requests that match the rules of the policy."
    consumes = L7_POLICY
    collection = collection("l7policies", "l7policy")
    support = Support(version="10.0.0")

    properties = {
        "name": NAME,
        "description": Property(description="Its description.", change=Change.UPDATE),
        "admin_state_up": ADMIN_STATE_UP,
        "action": Property(
            description="What is done.",
            required=True,
            constraints=one_of("REJECT", "REDIRECT_TO_POOL", "REDIRECT_TO_URL"),
            change=Change.UPDATE,
        ),
        "redirect_pool": Property(
            description="The pool that gets the requests, by name or ID.",
            change=Change.UPDATE,
            wire="redirect_pool_id",
            reference="octavia.pool",
        ),
        "redirect_url": Property(description="The URL that clients are sent to.", change=Change.UPDATE),
        "position": Property(
            Type.NUMBER,
            "Place among the policies of the listener, from 1; the last if not given.",
            constraints=between(1),
            change=Change.UPDATE,
            live=never("it changes when other policies of the listener are created or deleted"),
        ),
        "listener": Property(
            description="The listener, by name or ID.", required=True, wire="listener_id", reference="octavia.listener"
        ),
    }
    attributes = {"rules": Attribute("The rules, as a list of maps with the key id.", Type.LIST)}

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        action = properties.get("action")
        if action not in ("REJECT", *_TARGETS):
            return
        needed = _TARGETS.get(action)
        if needed is not None and not properties.get(needed):
            yield f"{needed} must be given for action {action}"
        for other, name in _TARGETS.items():
            if name != needed and properties.get(name):
                yield f"{name} can only be given for action {other}"


class L7Rule(OctaviaResource):
    """A condition of a policy."""

    type_name = "OS::Octavia::L7Rule"
    description = "A condition that HTTP requests must meet for an L7 policy to apply."
    collection = collection("l7policies/{l7policy}/rules", "rule")
    identity = None
    support = Support(version="10.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "The rule must have the requested properties, have been created since the action began, and belong to no "
        "other resource; equal rules of a policy are interchangeable.",
    )

    properties = {
        "admin_state_up": ADMIN_STATE_UP,
        "l7policy": Property(
            description="The policy, by name or ID.", required=True, wire=NOT_SENT, reference="octavia.l7policy"
        ),
        "type": Property(
            description="What is compared.",
            required=True,
            constraints=one_of("HOST_NAME", "PATH", "FILE_TYPE", "HEADER", "COOKIE"),
            change=Change.UPDATE,
        ),
        "compare_type": Property(
            description="How it is compared.",
            required=True,
            constraints=one_of("REGEX", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "EQUAL_TO"),
            change=Change.UPDATE,
        ),
        "invert": Property(
            Type.BOOLEAN, "Whether the condition is that it differs.", default=False, change=Change.UPDATE
        ),
        "key": Property(description="Name of the header or cookie.", change=Change.UPDATE),
        "value": Property(description="What it is compared with.", required=True, change=Change.UPDATE),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("type") in ("HEADER", "COOKIE") and not properties.get("key"):
            yield f"key must be given for type {properties['type']}"
