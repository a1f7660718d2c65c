"""Sphinx extension that generates the reference pages from the declarations in the code, before Sphinx reads pages.

Pages are written to `generated/` in the source directory. Unchanged pages are not rewritten, and pages that are no
longer generated are removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from stoker_reference import (
    commands,
    configuration,
    diagnostic_rules,
    emulator_differences,
    permissions,
    plan_policies,
    preflight_checks,
    price_items,
    project_file,
    query_actions,
    resource_types,
    rest_routes,
    template_functions,
    test_file,
)

SOURCES = (
    commands,
    diagnostic_rules,
    resource_types,
    template_functions,
    rest_routes,
    query_actions,
    permissions,
    preflight_checks,
    plan_policies,
    price_items,
    configuration,
    emulator_differences,
    test_file,
    project_file,
)


def write_pages(app: Sphinx) -> None:
    """Update the directory of generated pages."""
    folder = Path(app.srcdir) / "generated"
    texts = {folder / name: text for source in SOURCES for name, text in source.pages()}
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path not in texts:
            path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension; Sphinx calls this function."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
