"""str_replace, its strict variants, and Fn::Replace: replace keys by values in a string."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.base.budget import size_of
from stoker.template.expressions import Evaluation, Expression, entries_of, items_of
from stoker.template.functions.base import Function, is_list, is_map, variant

_PIECE_BYTES = 64
"""The memory that a piece takes in addition to its characters, in bytes."""


class ReplaceFunction(Function):
    """Replaces keys in a string, the longest first; replacements are not searched for keys again."""

    __slots__ = ()

    json_values: ClassVar[bool] = True
    strict: ClassVar[bool] = False
    values_required: ClassVar[bool] = False

    def replace(self, template: object, params: Any, evaluation: Evaluation) -> str:
        """Return `template` with every key of `params` replaced by its value; raises FunctionError."""
        if not isinstance(template, str):
            raise self.wrong_type("the template must be a string")
        if not is_map(params):
            raise self.wrong_type("the params must be a map")
        limit = evaluation.binding.limits.max_expanded_size
        pieces, unused = _split(template, self._texts(params, evaluation), limit, evaluation)
        if self.strict and unused:
            raise self.wrong(f"{', '.join(map(repr, unused))} does not occur in the template")
        self.limited(sum(map(size_of, pieces)), evaluation)
        return "".join(pieces)

    def _texts(self, params: Mapping[str, object], evaluation: Evaluation) -> list[tuple[str, str]]:
        if "" in params:
            raise self.wrong("an empty string cannot be replaced")
        ordered = sorted(params, key=lambda key: (-len(key), key))
        return [(key, self._text(key, params[key], evaluation)) for key in ordered]

    def _text(self, key: str, value: object, evaluation: Evaluation) -> str:
        if self.values_required and (value is None or (value in ("", [], {}) and not isinstance(value, int))):
            raise self.wrong(f"the value of {key!r} is empty")
        if isinstance(value, str | int | float):
            return str(value)
        if value is None:
            return ""
        if self.json_values and (is_list(value) or is_map(value)):
            return self.written(value, evaluation, sort_keys=True)
        raise self.wrong_type(f"the value of {key!r} must be a string, a number or a boolean")


def _split(
    template: str, texts: list[tuple[str, str]], limit: int, evaluation: Evaluation
) -> tuple[list[str], list[str]]:
    """Return the pieces of the result, and the keys that were not found. Pieces at odd indexes are replacements."""
    pieces = [template]
    unused = []
    size = len(template)
    for key, text in texts:
        found: list[str] = []
        evaluation.budget.charge(len(pieces))
        for number, piece in enumerate(pieces):
            count = 0 if number % 2 else piece.count(key)
            if count == 0:
                found.append(piece)
                continue
            evaluation.budget.charge(made=_PIECE_BYTES * count)
            size += count * len(text)
            for part in piece.split(key):
                found += (part, text)
            found.pop()  # nothing is replaced after the last part
        if len(found) == len(pieces):
            unused.append(key)
        pieces = found
        if size > limit:
            break
    return pieces, unused


@variant("str_replace/1")
class StrReplaceScalars(ReplaceFunction):
    """The string `template` with the keys of `params` replaced by their values: strings, numbers or booleans."""

    __slots__ = ()

    json_values = False

    def problem(self, arguments: object) -> str | None:
        entries = entries_of(arguments)
        if entries is None or not {"template", "params"} <= set(entries):
            return "takes a map with template (a string) and params (a map)"
        params = entries["params"]
        if entries_of(params) is None and not isinstance(params, Expression):
            return "params must be a map from strings to their replacements"
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        return self.replace(arguments.get("template"), arguments.get("params"), evaluation)


@variant("str_replace/2")
class StrReplace(StrReplaceScalars):
    """The string `template` with the keys of `params` replaced by their values; a list or map is written as JSON."""

    __slots__ = ()

    json_values = True


@variant("str_replace_strict/1")
class StrReplaceStrict(StrReplace):
    """The same as str_replace, with an error for a key that does not occur in the template."""

    __slots__ = ()

    strict = True


@variant("str_replace_vstrict/1")
class StrReplaceVeryStrict(StrReplaceStrict):
    """The same as str_replace_strict, with an error for a value that is null or empty as well."""

    __slots__ = ()

    values_required = True


@variant("Fn::Replace/1")
class FnReplace(ReplaceFunction):
    """A string with substrings replaced; takes a list of a map from old to new and the string."""

    __slots__ = ()

    json_values = False

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 2:
            return "takes a list of two: a map from strings to their replacements, and a string"
        if entries_of(items[0]) is None and not isinstance(items[0], Expression):
            return "the first argument must be a map from strings to their replacements"
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        params, template = arguments
        return self.replace(template, params, evaluation)
