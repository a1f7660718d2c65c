"""The entries of a template for one resource and one output, before the template is bound to a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """One entry of the resources section. Values are compiled trees; `condition` is a compiled condition, True if there
    is none; `update_replace_policy` is None if the template gives none; `source` is the entry as written. For
    `ignore_drift` see `stoker.template.ignored_drift`.
    """

    name: str
    type: str
    source: Mapping[str, Any]
    properties: Any
    metadata: object
    update_policy: object
    deletion_policy: Any
    creation_policy: object
    update_replace_policy: str | None
    external_id: object
    depends_on: tuple[str, ...]
    condition: object
    description: str
    ignore_drift: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputTemplate:
    """One entry of the outputs section. `value` is a compiled tree, `condition` a compiled condition, and `export` the
    compiled name under which other stacks can import the value, or None.
    """

    key: str
    description: str
    value: Any
    condition: object
    export: object = None
