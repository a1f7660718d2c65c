"""What a template says of one resource and of one output, before it is bound to a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """One entry of the resources section. Values are compiled trees; `condition` is a compiled condition, True for
    none; `update_replace_policy` is None where the template gives none; `source` the entry as written.
    """

    name: str
    type: str
    source: Mapping[str, Any]
    properties: Any
    metadata: Any
    update_policy: Any
    deletion_policy: Any
    creation_policy: Any
    update_replace_policy: str | None
    external_id: Any
    depends_on: tuple[str, ...]
    condition: Any
    description: str


@dataclass(frozen=True, slots=True)
class OutputTemplate:
    """One entry of the outputs section; `value` is a compiled tree, `condition` a compiled condition, `export` a
    compiled name under which other stacks may import the value, or None.
    """

    key: str
    description: str
    value: Any
    condition: Any
    export: Any = None
