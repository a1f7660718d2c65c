"""The change of a template that keeps the values of objects: one snippet of YAML for each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from stoker.base.redaction import REDACTED
from stoker.template.document import Document


def as_template_changes(answer: Iterable[Mapping[str, object]], template: Path | None = None) -> str:
    """Return what to write into the templates so that they have the accepted values, each with its place.

    `template` is the file of the stack's own template, whose lines the service does not know. Hidden values are left
    out, with a comment in their place.
    """
    document = None
    if template is not None:
        document = Document.parse(template.read_text(encoding="utf-8"), source=str(template))
    return "\n".join(_snippet(difference, document) for difference in answer if difference["accepted"])


def _snippet(difference: Mapping[str, Any], document: Document | None) -> str:
    values = difference["values"]
    *_, name, properties = difference["definition"]["path"]
    accepted = {key: value for key, value in values.items() if value is not None and not _hides(value)}
    lines = [
        f"# {difference['path']}: {_place(difference['definition'], document)}",
        f"{_key(name)}:",
        f"  {properties}:",
    ]
    lines += [f"    {line}" for line in _dumped(accepted).splitlines()] if accepted else ()
    lines += [f"    # {key}: (hidden)" for key, value in values.items() if _hides(value)]
    lines += [f"    # {key}: remove it" for key, value in values.items() if value is None]
    return "\n".join(lines) + "\n"


def _place(definition: Mapping[str, Any], document: Document | None) -> str:
    source, line = definition["template"], definition["line"]
    if source is None:
        return "in the definition of the group's members"
    if not source and document is not None:
        position = document.locate(tuple(definition["path"]))
        source, line = document.source, position.line if position else None
    return f"{source or 'template'}:{line}" if line is not None else source or "in the template"


def _dumped(value: object) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return text


def _key(name: str) -> str:
    return _dumped({name: None}).rpartition(":")[0]


def _hides(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_hides, value.values()))
    if isinstance(value, list):
        return any(map(_hides, value))
    return isinstance(value, str) and REDACTED in value
