"""Redact templates and files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.base.redaction import REDACTED, redact
from stoker.template.template import Template

_DEFAULTS = ("default", "Default")


def redact_file(text: str, secrets: Collection[str]) -> str:
    """Return a file's content with secrets redacted; very short ones are kept, since they match too much else."""
    return str(redact(text, secrets))


def redact_template(template: Template) -> Mapping[str, object]:
    """Return the template as plain data, without the defaults of hidden parameters."""
    data: Mapping[str, Any] = template.document.data
    hidden = {name for name, parameter in template.parameters.items() if parameter.hidden}
    if not hidden:
        return data
    section = template.written("parameters")
    shown = {name: _without_default(entry) if name in hidden else entry for name, entry in data[section].items()}
    return {**data, section: shown}


def _without_default(entry: Mapping[str, object]) -> dict[str, object]:
    return {key: REDACTED if key in _DEFAULTS else value for key, value in entry.items()}
