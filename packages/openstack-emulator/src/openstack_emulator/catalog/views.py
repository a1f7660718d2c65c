"""The objects of the application catalog as clients see them."""

from __future__ import annotations

from openstack_emulator.catalog.records import Category, Deployment, Environment, Package, Session, Template
from openstack_emulator.catalog.rules.composition import ApplicationCatalog

View = dict[str, object]


def environment_view(service: ApplicationCatalog, row: Environment) -> View:
    """What lists show of an environment."""
    return {
        "id": row.id,
        "name": row.name,
        "created": row.created,
        "updated": row.updated,
        "tenant_id": row.project_id,
        "version": row.version,
        "networking": {},
        "status": service.environments.status(row),
    }


def session_view(session: Session) -> View:
    """A session, without its applications."""
    return _without(session.to_json(), "services", "changed")


def deployment_view(deployment: Deployment) -> View:
    """A deployment, without its reports."""
    return _without(deployment.to_json(), "session_id", "reports")


def package_view(row: Package) -> View:
    """A package."""
    return _without(row.to_json(), "project_id")


def category_view(service: ApplicationCatalog, row: Category) -> View:
    """A category, and the number of its packages."""
    return {**row.to_json(), "package_count": len(service.packages.in_category(row.name))}


def template_view(row: Template) -> View:
    """What lists show of a template."""
    return {**_without(row.to_json(), "project_id", "services"), "tenant_id": row.project_id, "networking": {}}


def _without(shown: View, *hidden: str) -> View:
    return {name: value for name, value in shown.items() if name not in hidden}
