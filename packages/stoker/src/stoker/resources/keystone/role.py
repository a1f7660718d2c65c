"""OS::Keystone::Role"""

from __future__ import annotations

from dataclasses import replace

from stoker.resources.keystone.base import DOMAIN, KeystoneResource, collection
from stoker.schema.property import Change, Property, Support


class Role(KeystoneResource):
    """A role, which is assigned to users and groups on projects and domains."""

    type_name = "OS::Keystone::Role"
    description = "A role, to which policies grant permissions."
    for_administrators = True
    collection = collection("role")
    support = Support(version="2015.1")

    properties = {
        "name": Property(description="Name of the role.", change=Change.UPDATE),
        "domain": replace(DOMAIN, default=None, change=Change.REPLACE, support=Support(version="16.0.0")),
    }
