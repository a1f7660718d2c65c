"""Metadata definitions: namespaces with the properties, objects and tags that images and other things may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.image.records import Namespace, NamespaceParts
from openstack_emulator.image.rules.metadef_schemas import FORMS

RESOURCE_TYPES = (
    "OS::Cinder::Volume",
    "OS::Glance::Image",
    "OS::Nova::Aggregate",
    "OS::Nova::Flavor",
    "OS::Nova::Server",
    "OS::Trove::Instance",
)
OWN = ("display_name", "description", "visibility", "protected")
"""What a namespace says of itself."""
NAME, CREATED = "namespace", "created_at"


class Namespaces(Rules):
    """Namespaces and what they hold, which administrators change.

    rows: the table of namespaces.
    """

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("namespaces", Namespace, "project_id")

    def visible(self, context: Context, name: str) -> Namespace:
        """The namespace of a name; 404 for one that the caller may not see."""
        found = self.rows.get(name)
        if found is None or not _is_visible(context, found):
            raise self.rows.missing(name)
        return found

    def writable(self, context: Context, name: str) -> Namespace:
        """The namespace of a name, which the caller may change. Raises ApiError 403, 404."""
        self.require_administrator(context)
        return self.visible(context, name)

    def require_administrator(self, context: Context) -> None:
        """403 for others."""
        if not context.is_admin:
            raise forbidden("You are not authorized to change metadata definitions.")

    def listed(self, context: Context) -> list[Namespace]:
        """Public namespaces and those of the caller's project."""
        return [row for row in self.rows if _is_visible(context, row)]

    def create(self, owner: str, body: Mapping[str, Any]) -> Namespace:
        """A namespace of checked fields, with what it is to hold from the beginning. Raises ApiError 400, 409."""
        name, now = body[NAME], self.records.timestamp()
        self._refuse_taken(name)
        properties = [
            {**value, "name": key} if isinstance(value, Mapping) else value
            for key, value in body.get("properties", {}).items()
        ]
        return self.rows.add(
            Namespace(
                id=name,
                namespace=name,
                display_name=body.get("display_name"),
                description=body.get("description"),
                visibility=body.get("visibility", "private"),
                protected=body.get("protected", False),
                project_id=owner,
                created_at=now,
                updated_at=now,
                resource_types=self.parts("resource_types", body.get("resource_type_associations", ())),
                properties=self.parts("properties", properties),
                objects=self.parts("objects", body.get("objects", ())),
                tags=self.parts("tags", body.get("tags", ())),
            )
        )

    def update(self, namespace: Namespace, body: Mapping[str, Any]) -> None:
        """Change a namespace as checked fields say, which may give it another name. Raises ApiError 409."""
        name = body[NAME]
        if name != namespace.id:
            self._refuse_taken(name)
        self.rows.remove(namespace)
        for field in OWN:
            if field in body:
                setattr(namespace, field, body[field])
        namespace.project_id = body.get("owner", namespace.project_id)
        namespace.id = namespace.namespace = name
        namespace.updated_at = self.records.timestamp()
        self.rows.add(namespace)

    def delete(self, namespace: Namespace) -> None:
        """Delete a namespace; 403 for a protected one."""
        refuse_protected(namespace)
        self.rows.remove(namespace)

    def _refuse_taken(self, name: str) -> None:
        if name in self.rows:
            raise conflict(f"The metadata definition namespace={name} already exists.")

    # -- what namespaces hold ----------------------------------------------------------------------

    def parts(self, kind: str, bodies: Iterable[object]) -> NamespaceParts:
        """Parts of a namespace by name, of their descriptions; properties have no times. Raises ApiError 400."""
        stamps = {} if kind == "properties" else dict.fromkeys((CREATED, "updated_at"), self.records.timestamp())
        rows = [FORMS[kind].checked(row) for row in bodies]
        return {row["name"]: {**row, **stamps} for row in rows}

    def part(self, namespace: Namespace, kind: str, name: str) -> dict[str, Any]:
        """One part; 404 when there is none of the name."""
        found = held(namespace, kind).get(name)
        if found is None:
            raise not_found(f"The namespace {namespace.id} has nothing of the name {name} in its {kind}.")
        return found

    def add_part(self, namespace: Namespace, kind: str, name: str, part: dict[str, object]) -> None:
        """Add a part; 409 when there is one of the name."""
        self._refuse_held(namespace, kind, name)
        self.set_parts(namespace, kind, {**held(namespace, kind), name: part})

    def replace_part(self, namespace: Namespace, kind: str, old: str, name: str, part: dict[str, object]) -> None:
        """Put another part in the place of one, which may have another name; 409 when there is one of the name."""
        present = held(namespace, kind)
        if name != old:
            self._refuse_held(namespace, kind, name)
        if (created := present[old].get(CREATED)) is not None:
            part[CREATED] = created
        self.set_parts(
            namespace, kind, {(name if key == old else key): row for key, row in present.items()} | {name: part}
        )

    def remove_part(self, namespace: Namespace, kind: str, name: str) -> None:
        """Remove a part; 403 in a protected namespace, 404 when there is none of the name."""
        refuse_protected(namespace)
        self.part(namespace, kind, name)
        self.set_parts(namespace, kind, {key: row for key, row in held(namespace, kind).items() if key != name})

    def set_parts(self, namespace: Namespace, kind: str, parts: NamespaceParts) -> None:
        """Let a namespace hold these parts of a kind."""
        setattr(namespace, kind, parts)
        self.rows.save(namespace)

    def _refuse_held(self, namespace: Namespace, kind: str, name: str) -> None:
        if name in held(namespace, kind):
            raise conflict(f"{name} already exists in the {kind} of the namespace {namespace.id}.")


def held(namespace: Namespace, kind: str) -> NamespaceParts:
    """The parts of a kind that a namespace holds."""
    parts: NamespaceParts = getattr(namespace, kind)
    return parts


def refuse_protected(namespace: Namespace) -> None:
    """403 for a protected namespace."""
    if namespace.protected:
        raise forbidden(f"Metadata definition namespace {namespace.id} is protected and cannot be deleted.")


def _is_visible(context: Context, namespace: Namespace) -> bool:
    return namespace.visibility == "public" or context.may_see(namespace)
