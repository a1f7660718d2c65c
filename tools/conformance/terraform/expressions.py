"""Evaluate the expressions of configurations of Terraform, as far as what they say is known before anything is made.

The attributes that a service chooses, such as an ID, are references to objects (`${ADDRESS.ATTRIBUTE}`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from lark import Token, Tree

from testing.terraform.applying import REFERENCE
from tools.conformance.terraform.functions import FUNCTIONS

Scope = Mapping[str, Any]
"""The values by the names with which references begin: variables of the language, and of `for`."""
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: _number(a) + _number(b),
    "-": lambda a, b: _number(a) - _number(b),
    "*": lambda a, b: _number(a) * _number(b),
    "/": lambda a, b: _quotient(_number(a), _number(b)),
    "%": lambda a, b: _number(a) % _number(b),
    "<": lambda a, b: _number(a) < _number(b),
    ">": lambda a, b: _number(a) > _number(b),
    "<=": lambda a, b: _number(a) <= _number(b),
    ">=": lambda a, b: _number(a) >= _number(b),
    "==": operator.eq,
    "!=": operator.ne,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_INTERPOLATION = re.compile(r"\$\{([^{}]*)\}")


class NotKnown(Exception):
    """An expression cannot be evaluated; the message says why."""


def evaluate(node: Any, scope: Scope) -> Any:
    """Return the value of an expression. Raises NotKnown."""
    rule = _RULES.get(str(node.data))
    if rule is None:
        raise NotKnown(f"expressions of the kind {node.data} are not evaluated")
    return rule(node, scope)


def text_of(value: Any) -> str:
    """Return a value as it is in a string."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _parts(node: Any) -> list[Any]:
    """Return what an expression consists of, without punctuation and comments."""
    return [each for each in node.children if isinstance(each, Tree) and each.data != "new_line_or_comment"]


def _word(node: Any) -> str:
    return "".join(map(str, node.children))


def _inner(node: Any, scope: Scope) -> Any:
    return evaluate(_parts(node)[0], scope)


def _name(node: Any, scope: Scope) -> Any:
    name = _word(node)
    if name not in scope:
        raise NotKnown(f"nothing is called {name}")
    return scope[name]


def _string(node: Any, scope: Scope) -> Any:
    parts = [_string_part(part, scope) for part in _parts(node)]
    if len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    return "".join(map(text_of, parts))


def _string_part(node: Any, scope: Scope) -> Any:
    first = node.children[0]
    if isinstance(first, Token):
        if str(first.type).startswith("ESCAPED"):
            return str(first)[1:]
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), str(first))
    return evaluate(first, scope)


def _heredoc(node: Any, scope: Scope) -> str:
    """Return a string, in which only names are replaced: user data, mostly, whose text no service shows."""
    lines = str(node.children[0]).splitlines()[1:-1]
    return _INTERPOLATION.sub("value", "\n".join(lines)) + "\n"


def _conditional(node: Any, scope: Scope) -> Any:
    condition, chosen, other = _parts(node)
    found = evaluate(condition, scope)
    return evaluate(chosen if found and found != "false" else other, scope)


def _binary(node: Any, scope: Scope) -> Any:
    left, term = _parts(node)
    symbol, right = _parts(term)
    first, name = evaluate(left, scope), _word(symbol)
    if (name == "&&" and not first) or (name == "||" and first):
        return bool(first)
    return _OPERATORS[name](first, evaluate(right, scope))


def _unary(node: Any, scope: Scope) -> Any:
    value = _inner(node, scope)
    return not value if str(node.children[0]) == "!" else -_number(value)


def _index(node: Any, scope: Scope) -> Any:
    target, index = _parts(node)
    return _item(evaluate(target, scope), _key(index, scope))


def _key(node: Any, scope: Scope) -> Any:
    return int(node.children[-1]) if node.data == "short_index" else _inner(node, scope)


def _attribute(node: Any, scope: Scope) -> Any:
    target, name = _parts(node)
    return _item(evaluate(target, scope), _word(_parts(name)[0]))


def _splat(node: Any, scope: Scope) -> Any:
    target, splat = _parts(node)
    found = evaluate(target, scope)
    items = found if isinstance(found, list) else [] if found is None else [found]
    for step in _parts(splat):
        key = _word(_parts(step)[0]) if step.data == "get_attr" else _key(step, scope)
        items = [_item(each, key) for each in items]
    return items


def _item(value: Any, key: Any) -> Any:
    if isinstance(value, str) and (match := REFERENCE.fullmatch(value)):
        return f"${{{match[1]}.{match[2]}.{key}}}"
    try:
        if isinstance(value, list):
            return value[int(key)]
        return value[key]
    except (KeyError, IndexError, ValueError, TypeError):
        raise NotKnown(f"there is no {key} in {str(value)[:60]}") from None


def _tuple(node: Any, scope: Scope) -> list[Any]:
    return [evaluate(each, scope) for each in _parts(node)]


def _object(node: Any, scope: Scope) -> dict[Any, Any]:
    found = {}
    for element in _parts(node):
        key, value = _parts(element)
        found[_object_key(key, scope)] = evaluate(value, scope)
    return found


def _object_key(node: Any, scope: Scope) -> Any:
    inner = _parts(node)[0]
    while inner.data == "expr_term" and len(inner.children) == 1:
        inner = _parts(inner)[0]
    return _word(inner) if inner.data in ("identifier", "keyword") else text_of(evaluate(inner, scope))


def _call(node: Any, scope: Scope) -> Any:
    name, *groups = _parts(node)
    function = FUNCTIONS.get(_word(name))
    arguments = _parts(groups[0]) if groups else []
    if _word(name) in ("try", "can"):
        return _first_known(arguments, scope)
    if function is None:
        raise NotKnown(f"the function {_word(name)} is not evaluated")
    values = [evaluate(each, scope) for each in arguments]
    if groups and any(str(each) == "..." for each in groups[0].children):
        values = [*values[:-1], *values[-1]]
    try:
        return function(*values)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise NotKnown(f"the function {_word(name)} fails: {error}") from None


def _first_known(arguments: list[Any], scope: Scope) -> Any:
    for each in arguments:
        try:
            return evaluate(each, scope)
        except NotKnown:
            continue
    return None


def _for(node: Any, scope: Scope) -> Any:
    intro, *rest = _parts(node)
    names = [_word(each) for each in _parts(intro) if each.data == "identifier"]
    source = evaluate(_parts(intro)[-1], scope)
    pairs = list(source.items()) if isinstance(source, Mapping) else list(enumerate(source or []))
    condition = rest.pop() if rest[-1].data == "for_cond" else None
    found = []
    for key, value in pairs:
        inner = {**scope, **dict(zip(names[-2:], (key, value)[-len(names) :], strict=True))}
        if condition is None or evaluate(_parts(condition)[-1], inner):
            found.append([evaluate(each, inner) for each in rest])
    if node.data == "for_tuple_expr":
        return [each[0] for each in found]
    if any(str(each) == "..." for each in node.children):
        grouped: dict[str, list[Any]] = {}
        for key, value in found:
            grouped.setdefault(text_of(key), []).append(value)
        return grouped
    return {text_of(key): value for key, value in found}


def _number(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return float(value) if "." in value else int(value)
        except ValueError:
            raise NotKnown(f"{value[:40]} is no number") from None
    return value


def _quotient(first: Any, second: Any) -> Any:
    found = first / second
    return int(found) if found == int(found) else found


_LITERALS = {"true": True, "false": False, "null": None}
_RULES: Mapping[str, Callable[[Any, Scope], Any]] = {
    "expr_term": _inner,
    "interpolation": _inner,
    "identifier": _name,
    "literal_value": lambda node, scope: _LITERALS[_word(node)],
    "int_lit": lambda node, scope: int(_word(node)),
    "float_lit": lambda node, scope: float(_word(node)),
    "string": _string,
    "heredoc_template": _heredoc,
    "heredoc_template_trim": _heredoc,
    "conditional": _conditional,
    "binary_op": _binary,
    "unary_op": _unary,
    "index_expr_term": _index,
    "get_attr_expr_term": _attribute,
    "attr_splat_expr_term": _splat,
    "full_splat_expr_term": _splat,
    "tuple": _tuple,
    "object": _object,
    "function_call": _call,
    "for_tuple_expr": _for,
    "for_object_expr": _for,
}
