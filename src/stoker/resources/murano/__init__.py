"""Murano: environments and packages. These types are Stoker's own."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.murano.environment import Environment
from stoker.resources.murano.package import Package

TYPES: tuple[type[ResourceType], ...] = (Environment, Package)
