"""OS::Congress::Policy"""

from __future__ import annotations

import re

from stoker.plugins.outcome import Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, found_well
from stoker.resources.declare import length, matching, one_of
from stoker.schema.property import Attribute, Property, Type

SERVICE = "congress"


class Policy(RestResource):
    """A policy. Congress cannot change policies: every change replaces it.

    Names are unique, and deleting a policy deletes its rules. Therefore a policy is not deleted in favor of a
    replacement with the same name: Congress refuses the replacement, and the update fails.
    """

    type_name = "OS::Congress::Policy"
    description = (
        "A policy of the policy service (Congress): a set of rules. For administrators. Heat has no such type."
    )
    for_administrators = True
    collection = Collection(
        SERVICE, "/policies", members="results", created_field=None, owner=None, filters_names=False
    )
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names are unique. A policy with a name that the template gives must also have the requested properties, and "
        "belong to no other resource.",
    )

    properties = {
        "name": Property(
            description="Name of the policy, in letters, digits and underscores, by which rules refer to its tables.",
            constraints=length(1, 255) + matching(r"[A-Za-z_][A-Za-z0-9_]*"),
        ),
        "abbreviation": Property(
            description="A shorter name; by default the first letters of the name.", constraints=length(1, 5)
        ),
        "description": Property(description="What the policy is for."),
        "kind": Property(
            description="Kind of the policy.",
            default="nonrecursive",
            constraints=one_of("nonrecursive", "action", "database", "materialized", "z3"),
        ),
    }
    attributes = {
        "name": Attribute("Name of the policy.", Type.STRING),
        "abbreviation": Attribute("The shorter name.", Type.STRING),
        "description": Attribute("What the policy is for.", Type.STRING),
        "kind": Attribute("Kind of the policy.", Type.STRING),
        "owner_id": Attribute("ID of the user who created the policy.", Type.STRING),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        """Return the body; a generated name is the physical name with underscores in place of other characters."""
        body = await super().create_body(call)
        if not call.properties["name"]:
            name = re.sub(r"[^A-Za-z0-9_]", "_", call.physical_name)
            body["name"] = name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
        return body

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)
