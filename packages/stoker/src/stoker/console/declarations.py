"""What the form for parameters needs of documents that may still be wrong: declarations, and what is given a value."""

from __future__ import annotations

import json
import re

from stoker.base.errors import StokerError
from stoker.template.document import Document

_SECTIONS = ("parameters", "parameter_defaults")
_KEPT = frozenset(
    {
        "heat_template_version",
        "AWSTemplateFormatVersion",
        "HeatTemplateFormatVersion",
        "parameters",
        "Parameters",
        "parameter_groups",
    }
)
_EMPTY = {"AWSTemplateFormatVersion": "\nResources: {}\n", "HeatTemplateFormatVersion": "\nResources: {}\n"}
"""What a template of a version needs besides."""

_SECTION = re.compile(r"""^["']?([A-Za-z_]+)["']?\s*:""")


def declarations(template: str) -> str:
    """Return a template with the version and the parameters of `template`, without all else.

    The sections of YAML are cut out by their lines, since what follows them may not be YAML yet. If that fails, the
    result is no valid template.
    """
    if template.lstrip().startswith("{"):
        return _of_json(template)
    lines: list[str] = []
    sections: set[str] = set()
    keep = False
    for line in template.split("\n"):
        if line[:1] not in ("", " ", "#", "-", "\t", "\r"):
            section = _SECTION.match(line)
            keep = section is not None and section[1] in _KEPT
            sections |= {section[1]} if section and keep else set()
        if keep:
            lines.append(line)
    return "\n".join(lines) + "".join(text for name, text in _EMPTY.items() if name in sections)


def given_names(environment: str) -> frozenset[str]:
    """Return the names of the parameters that an environment gives values; none if it is no environment yet."""
    if not environment.strip():
        return frozenset()
    try:
        document = Document.parse(environment, source="environment").data
    except StokerError:
        return frozenset()
    sections = [document.get(name) for name in _SECTIONS]
    return frozenset(str(name) for section in sections if isinstance(section, dict) for name in section)


def _of_json(template: str) -> str:
    try:
        content = json.loads(template)
    except (ValueError, RecursionError):
        return ""
    return json.dumps({name: value for name, value in content.items() if name in _KEPT} | {"Resources": {}})
