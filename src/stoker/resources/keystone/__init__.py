"""Keystone: projects, users, groups and roles."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.keystone.group import Group
from stoker.resources.keystone.project import Project
from stoker.resources.keystone.role import Role
from stoker.resources.keystone.user import User

TYPES: tuple[type[ResourceType], ...] = (
    Group,
    Project,
    Role,
    User,
)
