"""Fn::Sub: a string with `${…}` substituted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.base.budget import size_of
from stoker.base.diagnostics import Path
from stoker.template.expressions import Evaluation, ListExpression
from stoker.template.functions.base import Compiler, Function, scalar_as_text, variant

_PLACE = re.compile(r"\$\{([^}]*)\}")


@variant("Fn::Sub/1")
class FnSub(Function):
    """A string in which `${Name}` is a parameter or resource, `${Name.Attribute}` an attribute, `${!Name}` a literal.

    Takes the string, or a list of the string and a map of additional names. It is compiled into the list of its pieces,
    in which names are replaced by calls of Ref and Fn::GetAtt.
    """

    __slots__ = ()

    @classmethod
    def compile(cls, name: str, arguments: object, path: Path, compiler: Compiler) -> Function:
        below = (*path, name)
        match arguments:
            case str(text):
                return cls(name, _pieces(text, {}, below, compiler), path)
            case [str(text), dict(variables)]:
                named = {key: compiler.value(value, (*below, 1, key)) for key, value in variables.items()}
                return cls(name, _pieces(text, named, (*below, 0), compiler), path)
        return cls(name, None, path)

    def problem(self, arguments: object) -> str | None:
        return "takes a string, or a list of a string and a map of names" if arguments is None else None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        texts = [self._text(piece) for piece in arguments]
        self.limited(sum(map(size_of, texts)), evaluation)
        return "".join(texts)

    def _text(self, value: object) -> str:
        text = scalar_as_text(value)
        if isinstance(text, str):
            return text
        raise self.wrong_type("a substituted value must be a string or a number; use Fn::Join for a list")


def _pieces(text: str, named: Mapping[str, object], path: Path, compiler: Compiler) -> ListExpression:
    """Return the literal pieces and the substituted values, in their order."""
    end = text.rfind("}") + 1  # beyond it, each beginning of a place would be searched for its end in vain
    parts = _PLACE.split(text[:end])
    parts[-1] += text[end:]
    return ListExpression(
        [
            _piece(part, named, path, compiler) if number % 2 else compiler.value(part, path)
            for number, part in enumerate(parts)
        ]
    )


def _piece(place: str, named: Mapping[str, object], path: Path, compiler: Compiler) -> object:
    if place.startswith("!"):
        return f"${{{place[1:]}}}"
    name = place.strip()
    if name in named:
        return named[name]
    return compiler.value({"Fn::GetAtt": name} if "." in name else {"Ref": name}, path)
