"""Search expressions as strings, such as `id = "x" and not (host like "a%")`."""

from __future__ import annotations

import re

from openstack_emulator.core.errors import bad_request

_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"[^"]*"|'[^']*')|(?P<number>-?\d+(?:\.\d+)?(?![\w-]))|(?P<mark>[()\[\],])"""
    r"""|(?P<operator><=|>=|!=|<>|==|=|<|>|\u2264|\u2265|\u2260)|(?P<word>[\w-]+))"""
)
_OPERATORS = {"==": "=", "<>": "!=", "\u2264": "<=", "\u2265": ">=", "\u2260": "!="}
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_DEEPEST = 20

Token = tuple[str, str]


def expression_of(filter_text: str) -> object:
    """Return the expression, an object, that a string describes. Raises ApiError 400."""
    tokens: list[Token] = []
    offset = 0
    stripped = filter_text.rstrip()
    while offset < len(stripped):
        found = _TOKEN.match(stripped, offset)
        if found is None or found.lastgroup is None:
            raise _wrong(filter_text)
        tokens.append((found.lastgroup, found[found.lastgroup]))
        offset = found.end()
    reader = _Reader(tokens, filter_text)
    result = reader.either(0)
    if reader.tokens:
        raise _wrong(filter_text)
    return result


class _Reader:
    """Takes tokens from the front."""

    def __init__(self, tokens: list[Token], source: str) -> None:
        self.tokens, self._source = tokens, source

    def either(self, depth: int) -> object:
        return self._joined("or", depth)

    def _joined(self, word: str, depth: int) -> object:
        if depth > _DEEPEST:
            raise _wrong(self._source)
        parts = [self._part(word, depth)]
        while self._at("word", word):
            self.tokens.pop(0)
            parts.append(self._part(word, depth))
        return parts[0] if len(parts) == 1 else {word: parts}

    def _part(self, word: str, depth: int) -> object:
        return self._joined("and", depth + 1) if word == "or" else self._single(depth + 1)

    def _single(self, depth: int) -> object:
        if self._at("word", "not"):
            self.tokens.pop(0)
            return {"not": self._single(depth + 1)}
        if self._at("mark", "("):
            self.tokens.pop(0)
            inner = self.either(depth + 1)
            self._take("mark", ")")
            return inner
        field, operator = self._take("word"), self._operator()
        return {operator: {field: self._list() if operator == "in" else self._value()}}

    def _operator(self) -> str:
        kind, token = self._next()
        if kind == "operator" or (kind == "word" and token.lower() in ("like", "in")):
            return _OPERATORS.get(token, token.lower())
        raise _wrong(self._source)

    def _value(self) -> object:
        kind, token = self._next()
        if kind == "quoted":
            return token[1:-1]
        if kind == "number":
            return float(token) if "." in token else int(token)
        if kind == "word":
            return _CONSTANTS.get(token.lower(), token)
        raise _wrong(self._source)

    def _list(self) -> list[object]:
        self._take("mark", "[")
        found = [self._value()]
        while self._at("mark", ","):
            self.tokens.pop(0)
            found.append(self._value())
        self._take("mark", "]")
        return found

    def _at(self, kind: str, token: str) -> bool:
        return bool(self.tokens) and self.tokens[0] == (kind, token)

    def _take(self, kind: str, expected: str | None = None) -> str:
        found, token = self._next()
        if found != kind or expected not in (None, token):
            raise _wrong(self._source)
        return token

    def _next(self) -> Token:
        if not self.tokens:
            raise _wrong(self._source)
        return self.tokens.pop(0)


def _wrong(source: str) -> Exception:
    return bad_request(f"Invalid filter: {source}")
