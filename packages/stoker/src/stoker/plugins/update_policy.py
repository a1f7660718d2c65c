"""The contract of update policies: an operator's rules about which resources an operation may change.

Packages offer them by entry points in the group `stoker.update_policies`: mappings from names to objects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """A change of one existing resource.

    `operation` is the action of the stack's operation: UPDATE, RESTORE, ROLLBACK. `kind` is what would happen to the
    resource: `delete` for one that is no longer in the template. `before` and `after` are the values of the properties
    that change; of values that are not known yet, `after` has `stoker.schema.unknown.Unknown` objects. They may contain
    secrets.
    """

    operation: str
    stack_id: str
    stack_name: str
    project_id: str
    name: str
    type: str
    physical_id: str | None
    kind: Literal["update", "replace", "delete"]
    before: Mapping[str, Any]
    after: Mapping[str, object]


class UpdatePolicy(ABC):
    """One rule. An object is shared by all stacks and must be stateless.

    `order` decides which of several policies is asked first; those of the same order are asked in the order of their
    names.
    """

    order: ClassVar[int] = 0

    @abstractmethod
    def violation(self, change: ResourceChange) -> str | None:
        """Return why the change must not be made, as a sentence without secrets; None when it may be made.

        Called when a plan is made, and again with all values known right before the change, on any thread. It must not
        wait for anything, and decide by its argument alone.
        """
