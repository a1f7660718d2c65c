"""Sphinx extension that keeps the sidebar short: it lists the sections, and the pages of the current section only.

The theme lists all pages on every page, which would add hundreds of links to each.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def fold(app: Sphinx, page: str, template: str, context: dict[str, Any], document: object) -> None:
    """Make the theme's call of `toctree` leave the other sections out."""
    whole = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension before the theme's handler of the same event; Sphinx calls this function."""
    app.connect("html-page-context", fold, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
