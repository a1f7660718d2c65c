"""What the application catalog keeps. Applications are JSON objects: see `rules.object_model`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord

Applications = list[dict[str, object]]


@dataclass(slots=True, kw_only=True, eq=False)
class CatalogRecord(TypedRecord):
    """What all objects have."""

    created: str
    updated: str


@dataclass(slots=True, kw_only=True, eq=False)
class Environment(CatalogRecord):
    """An environment; `outcome` is that of its latest deployment, or of its deletion."""

    name: str
    project_id: str
    version: int
    region: Any
    default_networks: dict[str, object] | None
    services: Applications
    outcome: str


@dataclass(slots=True, kw_only=True, eq=False)
class Session(CatalogRecord):
    """A session: the applications that its environment is to have, and the version of it that they are made from."""

    environment_id: str
    user_id: str
    version: int
    state: str
    services: Applications
    changed: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Report(Part):
    """What happened to an application in a deployment."""

    id: str
    level: str
    entity_id: str
    text: str
    created: str
    updated: str


@dataclass(slots=True, kw_only=True, eq=False)
class Deployment(CatalogRecord):
    """A deployment; `description` is the environment as a JSON object."""

    environment_id: str
    session_id: str
    started: str
    finished: str | None
    state: str
    description: dict[str, Any]
    reports: list[Report]


@dataclass(slots=True, kw_only=True, eq=False)
class Category(CatalogRecord):
    """A category of packages."""

    name: str


@dataclass(slots=True, kw_only=True, eq=False)
class Package(CatalogRecord):
    """A package: what its manifest says, and what clients have set."""

    fully_qualified_name: str
    type: str
    author: str
    supplier: dict[str, object]
    class_definitions: list[str]
    owner_id: str
    project_id: str
    name: str
    description: str
    tags: list[str]
    categories: list[str]
    is_public: bool | None
    enabled: bool | None


@dataclass(slots=True, kw_only=True, eq=False)
class Template(CatalogRecord):
    """A template of environments."""

    name: str
    description_text: str
    is_public: bool
    project_id: str
    version: int
    services: Applications
