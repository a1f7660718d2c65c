"""The stacks of `heat_stacks.yaml`, which are made in a Heat and taken over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

STACKS = Path(__file__).with_name("heat_stacks.yaml")


class _Loader(yaml.CSafeLoader):
    """Reads dates as strings, as in templates."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_stacks() -> list[dict[str, Any]]:
    """Return the entries of `heat_stacks.yaml`."""
    entries: list[dict[str, Any]] = yaml.load(STACKS.read_text(), _Loader)
    return entries


def definition(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a request that defines the stack."""
    return {
        "template": entry["template"],
        "files": entry.get("files", {}),
        "environment": entry.get("environment", {}),
        "parameters": entry.get("parameters", {}),
    }
