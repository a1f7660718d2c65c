"""get_resource, get_attr, Ref and Fn::GetAtt: references to other resources and their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from stoker.base.diagnostics import Path
from stoker.schema.unknown import Unknown, combine, is_unknown
from stoker.template.expressions import OMIT, Evaluation, Expression, Reference, UnknownScope, items_of
from stoker.template.functions.base import Compiler, Function, is_list, is_map, variant
from stoker.template.paths import follow_attribute
from stoker.template.problems import suggestion

NO_VALUE = "AWS::NoValue"
"""The pseudo parameter that omits the property, map key or list item whose value it is."""


class ReferenceFunction(Function):
    """A function that makes one resource depend on another."""

    __slots__ = ()

    accepts_unknown = True

    def refers_to(self, evaluation: Evaluation) -> Reference | None:
        """Return the resource and attribute that the call refers to; None if there is none. Raises FunctionError."""
        arguments = self.arguments
        if isinstance(arguments, Expression):
            arguments = arguments.evaluate(Evaluation(evaluation.binding, UnknownScope()))
        return self.reference(arguments, evaluation)

    def reference(self, arguments: object, evaluation: Evaluation) -> Reference | None:
        """Return the same as `refers_to`, from resolved arguments."""
        raise NotImplementedError

    def require(self, name: str, evaluation: Evaluation) -> None:
        """Raise FunctionError if the template has no such resource, or its condition is false."""
        binding = evaluation.binding
        if not binding.has_resource(name):
            error = self.wrong(f"the template has no resource {name!r}", "InvalidTemplateReference")
            error.hint = suggestion(name, binding.resource_names())
            raise error


@variant("get_resource/1")
class GetResource(ReferenceFunction):
    """A resource's reference ID, which is its physical ID for most types; takes the resource's name."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        if is_list(arguments) or isinstance(arguments, int | float | None) or items_of(arguments) is not None:
            return "takes the name of a resource"
        return None

    def reference(self, arguments: object, evaluation: Evaluation) -> Reference | None:
        if is_unknown(arguments):
            return None
        if not isinstance(arguments, str):
            raise self.wrong_type("the name of a resource must be a string")
        return Reference(arguments)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        reference = self.reference(arguments, evaluation)
        if reference is None:
            return combine([arguments])
        self.require(reference.resource, evaluation)
        return evaluation.tracked(evaluation.scope.reference(reference.resource))


@variant("Ref/1")
class Ref(GetResource):
    """A resource's reference ID or a parameter's value; takes the name."""

    __slots__ = ()

    def parameters_named(self) -> Sequence[str] | None:
        return (self.arguments,) if isinstance(self.arguments, str) else None

    def problem(self, arguments: object) -> str | None:
        return "takes the name of a parameter or resource" if super().problem(arguments) else None

    def reference(self, arguments: object, evaluation: Evaluation) -> Reference | None:
        reference = super().reference(arguments, evaluation)
        if reference is None or self._is_parameter(reference.resource, evaluation):
            return None
        return reference

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if isinstance(arguments, str) and self._is_parameter(arguments, evaluation):
            return evaluation.tracked(evaluation.binding.parameter(arguments))
        return super().apply(arguments, evaluation)

    @staticmethod
    def _is_parameter(name: str, evaluation: Evaluation) -> bool:
        return not evaluation.binding.has_resource(name) and evaluation.binding.has_parameter(name)


@variant("Ref/2")
class RefOrNothing(Ref):
    """A resource's reference ID or a parameter's value; takes the name. `AWS::NoValue` omits the property, map key or
    list item whose value it is.
    """

    __slots__ = ()

    def reference(self, arguments: object, evaluation: Evaluation) -> Reference | None:
        return None if arguments == NO_VALUE else super().reference(arguments, evaluation)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        return OMIT if arguments == NO_VALUE else super().apply(arguments, evaluation)


@variant("Ref/param")
class RefParameter(Function):
    """A parameter's value; takes the name. For conditions, which can refer to nothing else."""

    __slots__ = ()

    def parameters_named(self) -> Sequence[str] | None:
        return (self.arguments,) if isinstance(self.arguments, str) else None

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not isinstance(arguments, str):
            raise self.wrong_type("takes the name of a parameter")
        if not evaluation.binding.has_parameter(arguments):
            raise self.wrong(f"the template has no parameter {arguments!r}", "InvalidTemplateReference")
        return evaluation.tracked(evaluation.binding.parameter(arguments))


class AttributeFunction(ReferenceFunction):
    """A call with `[resource, attribute, path…]`."""

    __slots__ = ("_literal",)

    fewest: ClassVar[int] = 2

    def __init__(self, name: str, arguments: Any, path: Path) -> None:
        super().__init__(name, arguments, path)
        self._literal: Reference | None = None

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) < self.fewest:
            return "takes a list: the name of a resource, an attribute, and a path of keys and indexes into its value"
        return None

    def reference(self, arguments: object, evaluation: Evaluation) -> Reference | None:
        if arguments is not self.arguments:
            return self._reference(arguments, evaluation)
        if self._literal is None:
            self._literal = self._reference(arguments, evaluation)
        return self._literal

    def _reference(self, arguments: object, evaluation: Evaluation) -> Reference | None:
        parts = self._parts(arguments)
        if is_unknown(arguments) or is_unknown(parts[0]):
            return None
        if not isinstance(parts[0], str):
            raise self.wrong_type("the name of a resource must be a string")
        if evaluation.blocked(parts):
            return Reference(parts[0], "")
        if any(is_list(part) or is_map(part) for part in parts[1:]):
            raise self.wrong_type("an attribute and the path into its value must be keys and indexes")
        if len(parts) > 1 and not isinstance(parts[1], str):
            raise self.wrong_type("the name of an attribute must be a string")
        return Reference(parts[0], parts[1] if len(parts) > 1 else "", tuple(parts[2:]))

    def _parts(self, arguments: object) -> Sequence[Any]:
        return arguments if is_list(arguments) else (arguments,)

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        reference = self.reference(arguments, evaluation)
        if reference is None or evaluation.blocked(arguments):
            return combine([arguments])
        if len(self._parts(arguments)) < self.fewest:
            raise self.wrong("the attribute's name is missing")
        self.require(reference.resource, evaluation)
        return evaluation.tracked(self.read(reference, evaluation))

    def read(self, reference: Reference, evaluation: Evaluation) -> object:
        """Return the attribute's value from the scope."""
        assert reference.attribute is not None
        return evaluation.scope.attribute(reference.resource, reference.attribute, reference.path)


@variant("get_attr/1")
class GetAttrThenFollow(AttributeFunction):
    """An attribute of a resource, or with a path of keys and indexes after it, a part of the value."""

    __slots__ = ()

    def read(self, reference: Reference, evaluation: Evaluation) -> object:
        assert reference.attribute is not None
        value = evaluation.scope.attribute(reference.resource, reference.attribute, ())
        if isinstance(value, Unknown):
            return value
        return follow_attribute(value, reference.path)


@variant("get_attr/2")
class GetAttr(AttributeFunction):
    """An attribute of a resource, or with a path of keys and indexes after it, a part of the value."""

    __slots__ = ()


@variant("get_attr/3")
class GetAttrOrAll(AttributeFunction):
    """An attribute of a resource, a part of its value, or with only the resource's name, a map of all attributes."""

    __slots__ = ()

    fewest = 1

    def problem(self, arguments: object) -> str | None:
        return None if isinstance(arguments, str) else super().problem(arguments)

    def read(self, reference: Reference, evaluation: Evaluation) -> object:
        if reference.attribute == "":
            return evaluation.scope.all_attributes(reference.resource)
        return super().read(reference, evaluation)


@variant("Fn::GetAtt/1")
class FnGetAtt(AttributeFunction):
    """An attribute of a resource; takes a list of the resource's name and the attribute's."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 2:
            return "takes a list of two: the name of a resource and an attribute"
        return None


@variant("Fn::GetAtt/2")
class FnGetAttDotted(FnGetAtt):
    """An attribute of a resource; takes a list of the resource's name and the attribute's, or both with a dot."""

    __slots__ = ()

    @classmethod
    def compile(cls, name: str, arguments: object, path: Path, compiler: Compiler) -> Function:
        if isinstance(arguments, str) and "." in arguments:
            return cls(name, arguments.split(".", 1), path)
        return super().compile(name, arguments, path, compiler)
