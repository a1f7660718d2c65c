"""Templates as strings."""

from __future__ import annotations

from typing import Any


def parse(tmpl_str: str, tmpl_url: str | None = None) -> dict[str, Any]:
    """Return the template in a string as plain data. Raises ValueError."""
    from stoker.base.errors import StokerError
    from stoker.template.template import Template

    try:
        found = dict(Template.load(tmpl_str, source=tmpl_url or "nested template").data)
    except StokerError as error:
        raise ValueError(error.message) from error
    return found
