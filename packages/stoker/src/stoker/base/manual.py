"""Addresses of pages of the manual, where its place is known."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

VARIABLE = "STOKER_MANUAL_URL"
"""Environment variable with the address of the manual, for a copy that is served elsewhere."""

_LABEL = "documentation"


def rule_page(rule: str) -> str | None:
    """Return the address of the page of a diagnostic's rule; None if the place of the manual is not known."""
    base = os.environ.get(VARIABLE) or _packaged()
    return f"{base.rstrip('/')}/generated/rules/{rule}.html" if base else None


def nearest_rule_page(rule: str) -> str | None:
    """Return the address of a rule's page for a reader on this machine: that of `rule_page`, or the page that
    `make docs` has built in a working copy from which Stoker runs; None if there is neither.
    """
    built = BUILT / "generated" / "rules" / f"{rule}.html"
    return rule_page(rule) or (built.as_uri() if built.is_file() else None)


BUILT = Path(__file__).resolve().parents[5] / "docs" / "_build" / "html"


@cache
def _packaged() -> str | None:
    """Return the project's URL `Documentation`, as the installed package states it (core metadata, Project-URL)."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("stoker").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = [(label.strip().lower(), url.strip()) for label, _, url in (each.partition(",") for each in urls)]
    return next((url for label, url in named if label == _LABEL), None)
