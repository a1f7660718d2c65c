"""OS::Keystone::Group"""

from __future__ import annotations

from stoker.resources.keystone.assignments import ROLES, RoleBearer
from stoker.resources.keystone.base import DOMAIN, collection
from stoker.schema.property import Change, Property, Support


class Group(RoleBearer):
    """Users who share roles."""

    type_name = "OS::Keystone::Group"
    description = "A group of users, and the roles that they have by it."
    collection = collection("group")
    support = Support(version="2015.1")

    properties = {
        "name": Property(description="Name of the group.", change=Change.UPDATE),
        "domain": DOMAIN,
        "description": Property(description="What the group is for.", default="", change=Change.UPDATE),
        "roles": ROLES,
    }
