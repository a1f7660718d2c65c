"""The part of a template that declares parameters, for the form while the rest of the template is still wrong."""

from __future__ import annotations

import json
import re

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
    kept: list[str] = []
    found: set[str] = set()
    keep = False
    for line in template.split("\n"):
        if line[:1] not in ("", " ", "#", "-", "\t", "\r"):
            section = _SECTION.match(line)
            keep = section is not None and section[1] in _KEPT
            found |= {section[1]} if section and keep else set()
        if keep:
            kept.append(line)
    return "\n".join(kept) + "".join(text for name, text in _EMPTY.items() if name in found)


def _of_json(template: str) -> str:
    try:
        content = json.loads(template)
    except (ValueError, RecursionError):
        return ""
    return json.dumps({name: value for name, value in content.items() if name in _KEPT} | {"Resources": {}})
