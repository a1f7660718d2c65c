"""Redact the documents of Heat's snapshots, which contain passwords and hidden parameters in clear text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stoker.base.redaction import REDACTED, redact, strings_of
from stoker.engine.records.loader import LoadedInputs
from stoker.plugins.resource import ResourceType

Place = tuple[str | int, ...]
TypeOf = Callable[[Mapping[str, Any]], ResourceType | None]
"""Returns the type of an entry of a document's resources, or None."""


def redacted_document(
    document: Mapping[str, object], inputs: LoadedInputs, type_of: TypeOf
) -> tuple[dict[str, object], list[tuple[Place, object]]]:
    """Return the document without secrets, and these as (keys and indexes that lead to it, value).

    Secrets are the values of hidden parameters and the `redacted_data` of types, wherever they occur.
    """
    hidden: list[tuple[Place, object]] = []
    chosen = {*_parameters(document, inputs), *_data(document, type_of, ())}
    secrets = {text for place in chosen for text in strings_of(_get(document, place))}
    secrets.update(
        text
        for schema in inputs.template.parameters.values()
        if schema.hidden
        for source in inputs.parameters.values()
        for text in strings_of(source.get(schema.name))
    )

    def clean(value: object, place: Place) -> Any:
        if place in chosen:
            hidden.append((place, value))
            return REDACTED
        if isinstance(value, Mapping):
            return {key: clean(inner, (*place, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [clean(inner, (*place, number)) for number, inner in enumerate(value)]
        cleaned = redact(value, secrets) if isinstance(value, str) else value
        if cleaned != value:
            hidden.append((place, value))
        return cleaned

    return clean(document, ()), hidden


def _parameters(document: Mapping[str, Any], inputs: LoadedInputs) -> Iterator[Place]:
    environment, template = document.get("environment") or {}, document.get("template") or {}
    for name, schema in inputs.template.parameters.items():
        if not schema.hidden:
            continue
        for section in ("parameters", "parameter_defaults"):
            if name in (environment.get(section) or {}):
                yield "environment", section, name
        for section, key in (("parameters", "default"), ("Parameters", "Default")):
            if key in ((template.get(section) or {}).get(name) or {}):
                yield "template", section, name, key


def _data(document: Mapping[str, Any], type_of: TypeOf, above: Place) -> Iterator[Place]:
    for name, entry in (document.get("resources") or {}).items():
        place = (*above, "resources", name)
        kind, data = type_of(entry), entry.get("resource_data") or {}
        for key in kind.redacted_data & data.keys() if kind is not None else ():
            yield (*place, "resource_data", key)
        yield from _data(entry, type_of, place)


def _get(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value
