"""Congress: policies and their rules. These types are Stoker's own."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Congress::Policy": "policy:Policy",
        "OS::Congress::PolicyRule": "policy_rule:PolicyRule",
    },
)
