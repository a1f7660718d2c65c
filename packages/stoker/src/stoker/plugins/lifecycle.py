"""The contract of lifecycle plug-ins: they are called before and after every operation on a stack.

Packages offer them by entry points in the group `stoker.lifecycle`: mappings from names to objects.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from stoker.base.errors import StokerError

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


class OperationRefused(StokerError):
    """A lifecycle plug-in refuses an operation; the message is for the users of the stack."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """What an operation is going to do with one resource.

    `kind` is one of create, update, replace, refuse, delete and act (check, suspend, resume, snapshot). `properties`
    are the names of the properties that change.
    """

    name: str
    type: str
    kind: str
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StackOperation:
    """An operation on a stack, nested ones included: those have a `parent_id`.

    `action` is CREATE, UPDATE, DELETE, ROLLBACK, ADOPT, ABANDON, RESTORE, CHECK, SUSPEND, RESUME, SNAPSHOT or
    DELETE_SNAPSHOT. `template` is the plain data of the template that the operation works with: the new one for an
    update, the recorded one for a deletion; None if there is none. `steps` are planned before anything is done.
    `await cloud()` gives calls of services on behalf of the stack's owner. `resumed` is true when another engine, or
    this one before a restart, has already begun the operation.
    """

    id: str
    action: str
    stack_id: str
    stack_name: str
    project_id: str
    root_id: str
    parent_id: str | None
    template: Mapping[str, Any] | None
    steps: tuple[PlannedStep, ...]
    cloud: Callable[[], Awaitable[Cloud]]
    resumed: bool = False


class LifecyclePlugin:
    """Takes part in operations. An object is shared by all operations; it must not keep state of a stack in memory.

    `before` of plug-ins is called in ascending `order`, then by name; `after` in the reverse order. A call may take
    `seconds` at the most.
    """

    order: ClassVar[int] = 0
    seconds: ClassVar[float] = 60.0

    async def before(self, operation: StackOperation) -> None:
        """Called when the operation is planned, before anything is done for it. Raises OperationRefused.

        The operation then fails with its message, and is not rolled back. Any other exception, and a call that takes
        too long, fails the operation as well. Called again for an operation that is resumed.
        """
        return None

    async def after(self, operation: StackOperation, status: str) -> None:
        """Called when the operation has ended, before its end is recorded; `status` is COMPLETE, FAILED or SUPERSEDED.

        Only plug-ins are called whose `before` has returned, and not for an operation that another engine resumes. May
        be called again when an engine dies before it has recorded the end. Exceptions are logged, and change nothing.
        """
        return None
