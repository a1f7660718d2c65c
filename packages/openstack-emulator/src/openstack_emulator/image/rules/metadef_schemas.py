"""Metadata definitions as JSON schemas: what bodies may hold, and what `/v2/schemas/metadefs/…` answers."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.image.rules.validation import Form, Schema

_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "maxLength": 80}
_DESCRIPTION: Schema = {"type": "string", "maxLength": 500}
_OBJECT: Schema = {"type": "object"}
_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}
_STAMPS: Mapping[str, Schema] = {
    "created_at": {"type": "string", "readOnly": True},
    "updated_at": {"type": "string", "readOnly": True},
}
_LINKS: Mapping[str, Schema] = {
    "self": {"type": "string", "readOnly": True},
    "schema": {"type": "string", "readOnly": True},
}
_NUMBER: Schema = {"type": ["integer", "number"]}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}

PROPERTY: Mapping[str, Schema] = {
    "name": {"type": "string", "maxLength": 80},
    "title": _TEXT,
    "description": _TEXT,
    "type": {"type": "string", "enum": ["array", "boolean", "integer", "number", "object", "string", "null"]},
    "operators": _STRINGS,
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "pattern": _TEXT,
    "enum": {"type": "array", "items": {}},
    "readonly": {"type": "boolean"},
    "default": {},
    "items": _OBJECT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "uniqueItems": {"type": "boolean"},
    "additionalItems": {"type": "boolean"},
}
OBJECT: Mapping[str, Schema] = {
    "name": {"type": "string", "maxLength": 80},
    "description": _TEXT,
    "required": _STRINGS,
    "properties": _OBJECT,
    **_STAMPS,
    **_LINKS,
}
TAG: Mapping[str, Schema] = {"name": _NAME, **_STAMPS}
ASSOCIATION: Mapping[str, Schema] = {
    "name": _NAME,
    "prefix": {"type": "string", "maxLength": 80},
    "properties_target": {"type": "string", "maxLength": 80},
    **_STAMPS,
}
NAMESPACE: Mapping[str, Schema] = {
    "namespace": _NAME,
    "display_name": _NAME,
    "description": _DESCRIPTION,
    "visibility": {"type": "string", "enum": ["public", "private"]},
    "protected": {"type": "boolean"},
    "owner": {"type": "string", "maxLength": 255},
    **_STAMPS,
    **_LINKS,
    "resource_type_associations": {"type": "array", "items": _OBJECT},
    "properties": _OBJECT,
    "objects": {"type": "array", "items": _OBJECT},
    "tags": {"type": "array", "items": _OBJECT},
}
TAGS: Mapping[str, Schema] = {"tags": {"type": "array", "items": _OBJECT}}


FORMS: Mapping[str, Form] = {
    "resource_types": Form("resource_types", ASSOCIATION, ("name",)),
    "properties": Form("properties", PROPERTY, ("name", "title", "type")),
    "objects": Form("objects", OBJECT, ("name",)),
    "tags": Form("tags", TAG, ("name",)),
}
"""What requests say of the parts of namespaces; the names are those of fields of records."""
NAMESPACE_FORM = Form("namespace", NAMESPACE, ("namespace",))
TAGS_FORM = Form("tags", TAGS, ("tags",))


def _item(name: str, properties: Mapping[str, Schema], required: tuple[str, ...]) -> dict[str, object]:
    return {
        "name": name,
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(plural: str, item: dict[str, object]) -> dict[str, object]:
    return {
        "name": plural,
        "properties": {
            plural: {"type": "array", "items": item},
            **dict.fromkeys(("first", "next", "schema"), _TEXT),
        },
        "links": [
            {"rel": "first", "href": "{first}"},
            {"rel": "next", "href": "{next}"},
            {"rel": "describedby", "href": "{schema}"},
        ],
    }


_NAMESPACE = _item("namespace", NAMESPACE, ("namespace",))
_ASSOCIATION = _item("resource_type_association", ASSOCIATION, ("name",))
_OBJECT_ITEM = _item("object", OBJECT, ("name",))
_PROPERTY = _item("property", PROPERTY, ("name", "title", "type"))
_TAG = _item("tag", TAG, ("name",))
SCHEMAS: Mapping[str, Mapping[str, object]] = {
    "namespace": _NAMESPACE,
    "resource_type": _ASSOCIATION,
    "object": _OBJECT_ITEM,
    "property": _PROPERTY,
    "tag": _TAG,
    "namespaces": _list("namespaces", _NAMESPACE),
    "resource_types": _list("resource_type_associations", _ASSOCIATION),
    "objects": _list("objects", _OBJECT_ITEM),
    "properties": _list("properties", _PROPERTY),
    "tags": _list("tags", _TAG),
}
"""By the last segment of the path."""
