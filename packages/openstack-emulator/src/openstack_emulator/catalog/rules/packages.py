"""Packages of the application catalog, and the categories that they are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.catalog.records import Category, Package
from openstack_emulator.catalog.rules.archives import read_archive
from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.errors import conflict, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules

STAMP = "%Y-%m-%dT%H:%M:%S"
CORE_LIBRARY = "io.murano."
"""The prefix of the classes that every deployment has."""
CATEGORIES = ("Application Servers", "Big Data", "Databases", "Load Balancers", "Message Queue", "Web")
"""The categories of a new cloud."""


class Categories(Rules):
    """Categories, by name."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("categories", Category)

    def seed(self) -> None:
        """Add the categories of a new cloud."""
        for name in CATEGORIES:
            self.add(name)

    def add(self, name: str) -> Category:
        """Add a category. Raises ApiError 409 if there is one with the name."""
        if self.rows.first(name=name) is not None:
            raise conflict(f"Category with name {name} already exists")
        now = self.records.timestamp(STAMP)
        return self.rows.add(Category(id=new_hex_id(), name=name, created=now, updated=now))


class Packages(Rules):
    """Packages. A fully qualified name can occur once in a project, and once among the public packages."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("packages", Package, "fully_qualified_name")

    def upload(self, context: Context, body: Mapping[str, Any], data: bytes) -> Package:
        """Add a package; fields of the body have precedence over the manifest.

        Raises: ApiError 400, or 409 if its name is in use.
        """
        archive = read_archive(data)
        is_public = bool(body.get("is_public", False))
        self._check_free(archive.full_name, context.project, is_public)
        now = self.records.timestamp(STAMP)
        row = self.rows.add(
            Package(
                id=new_hex_id(),
                fully_qualified_name=archive.full_name,
                type=archive.type,
                author=archive.author,
                supplier=archive.supplier,
                class_definitions=archive.classes,
                owner_id=context.project,
                project_id=context.project,
                created=now,
                updated=now,
                name=body.get("name", archive.name),
                description=body.get("description", archive.description),
                tags=body.get("tags", archive.tags),
                categories=body.get("categories", []),
                is_public=is_public,
                enabled=body.get("enabled", True),
            )
        )
        self.cloud.store.put_blob(_place(row), data)
        return row

    def find(self, context: Context, key: str) -> Package:
        """Return a package by ID, or by fully qualified name. Raises ApiError: 404, or 403 for a hidden one."""
        row = self.rows.get(key)
        if row is None:
            named = [row for row in self.rows.select(fully_qualified_name=key) if self._is_visible(context, row)]
            row = min(named, key=lambda package: package.owner_id != context.project_id, default=None)
        if row is None:
            raise self.rows.missing(key)
        if not self._is_visible(context, row):
            raise forbidden(f"Package {key} is not owned by tenant {context.project_id} and not public")
        return row

    def own(self, context: Context, key: str) -> Package:
        """Return a package that the caller may change. Raises ApiError: 404, or 403."""
        row = self.find(context, key)
        if not context.may_see(row):
            raise forbidden(f"Package {key} is not owned by tenant {context.project_id}")
        return row

    def change(self, row: Package, body: Mapping[str, object]) -> None:
        """Change fields of a package as a request wants them. Raises ApiError 409."""
        if body.get("is_public") and not row.is_public:
            self._check_free(row.fully_qualified_name, None, True, row)
        self.rows.update(row, **body, updated=self.records.timestamp(STAMP))

    def remove(self, row: Package) -> None:
        """Delete a package with its archive."""
        self.cloud.store.remove_blob(_place(row))
        self.rows.remove(row)

    def data(self, row: Package) -> bytes:
        """Return the archive of a package."""
        return self.cloud.store.get_blob(_place(row)) or b""

    def listed(self, context: Context, in_catalog: bool) -> list[Package]:
        """Return the packages that the caller may change; with `in_catalog`, those that the caller may deploy."""
        if in_catalog:
            return [row for row in self.rows if row.is_public or row.owner_id == context.project_id]
        return [row for row in self.rows if context.may_see(row)]

    def provides(self, project_id: str, name: str) -> bool:
        """Return whether a package that the project may deploy has a class."""
        return name.startswith(CORE_LIBRARY) or any(
            name in row.class_definitions
            for row in self.rows
            if row.enabled and (row.is_public or row.owner_id == project_id)
        )

    def in_category(self, name: str) -> list[Package]:
        """Return the packages in a category."""
        return [row for row in self.rows if name in row.categories]

    def _is_visible(self, context: Context, row: Package) -> bool:
        return bool(row.is_public) or context.may_see(row)

    def _check_free(self, name: str, project_id: str | None, is_public: bool, own: Package | None = None) -> None:
        for row in self.rows.select(fully_qualified_name=name):
            if row is not own and (row.owner_id == project_id or (is_public and row.is_public)):
                raise conflict("Package with specified full name is already registered")


def _place(row: Package) -> str:
    return f"murano/packages/{row.id}"
