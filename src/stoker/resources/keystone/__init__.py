"""Keystone: domains, projects, users, groups and roles, and the service catalog."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.keystone.catalog import Endpoint, Region, Service
from stoker.resources.keystone.domain import Domain
from stoker.resources.keystone.group import Group
from stoker.resources.keystone.project import Project
from stoker.resources.keystone.role import Role
from stoker.resources.keystone.role_assignment import GroupRoleAssignment, UserRoleAssignment
from stoker.resources.keystone.user import User

TYPES: tuple[type[ResourceType], ...] = (
    Domain,
    Endpoint,
    Group,
    GroupRoleAssignment,
    Project,
    Region,
    Role,
    Service,
    User,
    UserRoleAssignment,
)
