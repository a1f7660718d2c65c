"""resource_facade and Fn::ResourceFacade: what a nested template can read of its parent resource."""

from __future__ import annotations

from typing import ClassVar

from stoker.template.expressions import Evaluation, Expression
from stoker.template.functions.base import Function, variant


@variant("resource_facade/1")
class ResourceFacade(Function):
    """In a nested template: `metadata`, `deletion_policy` or `update_policy` of the parent resource."""

    __slots__ = ()

    parts: ClassVar[tuple[str, str, str]] = ("metadata", "deletion_policy", "update_policy")

    def problem(self, arguments: object) -> str | None:
        if isinstance(arguments, Expression) or arguments in self.parts:
            return None
        return f"takes one of {', '.join(self.parts)}"

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        facade = evaluation.scope.facade()
        if facade is None:
            raise self.wrong("this stack has no parent resource", "AttributeError")
        metadata, deletion_policy, _ = self.parts
        if arguments == metadata:
            return evaluation.tracked(facade.metadata)
        if arguments == deletion_policy:
            return facade.deletion_policy
        return evaluation.tracked(facade.update_policy if facade.update_policy is not None else {})


@variant("Fn::ResourceFacade/1")
class FnResourceFacade(ResourceFacade):
    """In a nested template: `Metadata`, `DeletionPolicy` or `UpdatePolicy` of the parent resource."""

    __slots__ = ()

    parts = ("Metadata", "DeletionPolicy", "UpdatePolicy")
