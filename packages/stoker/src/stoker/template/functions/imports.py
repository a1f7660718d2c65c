"""Fn::ImportValue: a value that another stack of the project exports."""

from __future__ import annotations

from stoker.template.expressions import UNDETERMINED, Evaluation, FunctionError, UnknownScope, evaluate
from stoker.template.functions.base import Function, variant
from stoker.template.problems import suggestion


@variant("Fn::ImportValue/1")
class FnImportValue(Function):
    """The value that another stack of the project exports under a name, which must not depend on resources."""

    __slots__ = ()

    def imports(self, evaluation: Evaluation) -> str | None:
        """Return the name of the export; None if it is not known yet. Raises FunctionError."""
        name = evaluate(self.arguments, Evaluation(evaluation.binding, UnknownScope()))
        return name if isinstance(name, str) else None

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not isinstance(arguments, str):
            raise self.wrong_type("takes the name of an export, a string")
        exports = evaluation.binding.known_exports
        if exports is None:
            return evaluation.tracked(UNDETERMINED)
        if arguments not in exports:
            hint = suggestion(arguments, exports)
            raise FunctionError(f"{self.name}: no stack of this project exports {arguments!r}", "ValueError", hint)
        return evaluation.tracked(exports[arguments])
