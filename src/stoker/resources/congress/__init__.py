"""Congress: policies and their rules. These types are Stoker's own."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.congress.policy import Policy
from stoker.resources.congress.policy_rule import PolicyRule

TYPES: tuple[type[ResourceType], ...] = (Policy, PolicyRule)
