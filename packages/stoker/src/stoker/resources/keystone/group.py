"""OS::Keystone::Group"""

from __future__ import annotations

from stoker.resources.keystone.assignments import ROLES, RoleBearer
from stoker.resources.keystone.base import DOMAIN, collection
from stoker.schema.property import Change, Property, Support


class Group(RoleBearer):
    """A group of users, who share role assignments."""

    type_name = "OS::Keystone::Group"
    description = "A group of users, and the role assignments of its members."
    for_administrators = True
    collection = collection("group")
    support = Support(version="2015.1")

    properties = {
        "name": Property(description="Name of the group.", change=Change.UPDATE),
        "domain": DOMAIN,
        "description": Property(description="Description of the group.", default="", change=Change.UPDATE),
        "roles": ROLES,
    }
