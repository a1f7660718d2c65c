"""Policies, which are stored and shown only."""

from __future__ import annotations

from openstack_emulator.identity.records import Policy
from openstack_emulator.identity.routes.entity import Entity
from openstack_emulator.identity.routes.validation import Field, name, text

POLICIES = Entity(
    Policy,
    lambda identity: identity.policies,
    "policy",
    "policies",
    {"blob": Field(text(1), required=True), "type": Field(name, required=True)},
    filters=("type",),
    extra=True,
)
