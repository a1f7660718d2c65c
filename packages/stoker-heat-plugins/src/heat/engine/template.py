"""Templates that plug-ins make for nested stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from heat.common import exception, template_format


class Template:
    """A template of a nested stack. The files and the environment are those of the stack that contains it."""

    def __init__(
        self, template: Mapping[str, object], template_id: str | None = None, files: object = None, env: object = None
    ) -> None:
        if template_id is not None or files or env:
            raise exception.NotSupported(feature="stoker-heat-plugins: template_id, files or env of a Template")
        self.t = plain(template)


def to_map(value: object) -> dict[str, Any]:
    """Return a template as plain data: a map, a string, or a `Template`. Raises TypeError and ValueError."""
    if isinstance(value, Template):
        return dict(value.t)
    if isinstance(value, str):
        return template_format.parse(value)
    if isinstance(value, Mapping):
        return dict(plain(value))
    raise TypeError(f"the template of a nested stack must be a map, a string or a Template, not {type(value).__name__}")


def plain(value: object) -> Any:
    """Return a value as JSON has it: tuples as lists, dates and other objects as strings."""
    return json.loads(json.dumps(value, default=str))
