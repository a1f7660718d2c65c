"""Keystone: domains, projects, users, groups and roles, and the service catalog."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Keystone::Domain": "domain:Domain",
        "OS::Keystone::Endpoint": "catalog:Endpoint",
        "OS::Keystone::Group": "group:Group",
        "OS::Keystone::GroupRoleAssignment": "role_assignment:GroupRoleAssignment",
        "OS::Keystone::Project": "project:Project",
        "OS::Keystone::Region": "catalog:Region",
        "OS::Keystone::Role": "role:Role",
        "OS::Keystone::Service": "catalog:Service",
        "OS::Keystone::User": "user:User",
        "OS::Keystone::UserRoleAssignment": "role_assignment:UserRoleAssignment",
    },
)
