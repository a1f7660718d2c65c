"""The keys and values of a YAML or JSON document with their places, also of one that is being typed.

Unlike a parser, the scanner never fails: it follows lines and indentation, closes what is left open when a line is
indented less, and leaves out what it does not understand. Its time grows with the length of the document.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import islice, takewhile

from stoker.base.diagnostics import Path
from stoker.template.limits import DEFAULT_LIMITS
from stoker.template.yaml_reader import SHORT_TAGS

_DOUBLE = r'"(?:[^"\\\n]|\\.)*"'
_SINGLE = r"'(?:[^'\n]|'')*+'"
_PLAIN_KEY = r"""(?:[^\s"'\#\[\]{},&*!|>%@`:-]|[:-](?=\S))(?:[^:\n]|:(?=[^\s]))*?"""
_KEY = re.compile(rf"({_DOUBLE}|{_SINGLE}|{_PLAIN_KEY})[ \t]*:(?=\s|$)")
_QUOTED = re.compile(rf"{_DOUBLE}|{_SINGLE}")
_QUOTED_LINES = re.compile(rf"{_DOUBLE}|{_SINGLE}".replace(r"\n", ""), re.DOTALL)
_AFTER_SCALAR = re.compile(r"[ \t]*(?:[,:\]}\r\n]|$)")
_COMMENT = re.compile(r"(?:^|[ \t])#")
_FLOW_PLAIN = re.compile(r"[^\s,\[\]{}\#][^,\[\]{}\n]*")
_FLOW_KEY = re.compile(r"""([^\s,\[\]{}\#"'][^,\[\]{}\n]*?)[ \t]*:(?=[\s,\[\]{}]|$)""")
_WORD = re.compile(r"\S+")
_SPACE = re.compile(r"[ \t]*")
_BLOCK_SCALAR = re.compile(r"[|>][0-9+-]*[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_NOT_PLAIN = "\"'{}[]!&|>*"
_LINE_END = re.compile(r"\r\n|\n|\r")


class Role(Enum):
    """What a token is, or what can be typed at a place."""

    KEY = "key"
    VALUE = "value"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Token:
    """A key or a scalar. `path` leads to the value: that of a key ends with the key. A short tag such as `!Ref` is a
    key as well. `start` and `end` are offsets of `text` without quotes.
    """

    path: Path
    role: Role
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What can be typed at an offset. `path` leads to the value, or of a key, to the map that the key is in; for
    EITHER to a value that is missing so far. `typed` is what precedes the offset, from `start`. `in_line` is true
    between brackets. A key in a block stands at `column`.
    """

    path: Path
    role: Role
    typed: str
    start: int
    in_line: bool
    quoted: bool
    column: int


@dataclass(slots=True)
class _Frame:
    """A map or a list that is open; `path` leads to it, `key` and `tags` to its current value."""

    path: Path
    is_map: bool
    indent: int
    in_line: bool = False
    key: str | int | None = None
    tags: tuple[str, ...] = ()

    @property
    def value(self) -> Path:
        return self.path if self.key is None else (*self.path, self.key, *self.tags)

    def begin(self, key: str | int) -> None:
        self.key = key
        self.tags = ()


@dataclass(slots=True)
class _Block:
    """A block scalar (`|`) that is open: its lines are indented deeper than `indent`."""

    path: Path
    indent: int
    start: int
    end: int


class _TooDeep(Exception):
    """A place is nested deeper than templates may be."""


class _Scanner:
    """Reads a document from the top: `frames` are the collections that are open, the innermost last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.frames: list[_Frame] = [_Frame((), True, -1)]
        self.block: _Block | None = None
        self.line_without_key: tuple[int, int] | None = None  # its column, and the offset of its content

    def run(self) -> None:
        """Read the document, or the part before a place that is nested deeper than templates may be."""
        with suppress(_TooDeep):
            self._read_lines()

    def _read_lines(self) -> None:
        start = 0
        while start <= len(self.text):
            found = _LINE_END.search(self.text, start)
            end = found.start() if found else len(self.text)
            resume = self._read_line(start, end)
            if resume is not None:
                found = _LINE_END.search(self.text, resume)
            if found is None:
                break
            start = found.end()

    @property
    def top(self) -> _Frame:
        return self.frames[-1]

    def _open(self, frame: _Frame) -> None:
        if len(self.frames) > DEFAULT_LIMITS.max_depth:
            raise _TooDeep
        self.frames.append(frame)

    # -- lines ----------------------------------------------------------------------------------------------------

    def _read_line(self, start: int, end: int) -> int | None:
        """Read a line; return the offset to resume at if more than the line was read."""
        first = _after_space(self.text, start)
        indent = first - start
        is_blank = first >= end
        self.line_without_key = (indent, first) if is_blank else None
        if self.block is not None:
            if is_blank or indent > self.block.indent:
                self.block.end = end
                return None
            self.end_block()
        if is_blank or self.text[first] == "#":
            return None
        if self.top.in_line:
            if self.text[first] in "]}" or indent > self._indent_of_block() or len(self.frames) < 2:
                return self._read_flow(first, end)
            while self.top.in_line:
                self.frames.pop()
        if indent == 0 and self.text.startswith(("---", "..."), first):
            return None
        return self._read_entry(first, end, indent)

    def _indent_of_block(self) -> int:
        return next((frame.indent for frame in reversed(self.frames) if not frame.in_line), -1)

    def _read_entry(self, first: int, end: int, indent: int) -> int | None:
        text = self.text
        if text[first] == "-" and (first + 1 >= end or text[first + 1] in " \t"):
            self._close_collections(indent, for_item=True)
            top = self.top
            if top.is_map or top.indent < indent:
                top = _Frame(top.value, False, indent)
                self._open(top)
            top.begin(top.key + 1 if isinstance(top.key, int) else 0)
            content = _after_space(text, first + 1)
            if content >= end or text[content] == "#":
                self.line_without_key = (content - first + indent, content)
                return None
            return self._read_entry(content, end, indent + content - first)
        self._close_collections(indent, for_item=False)
        found = _KEY.match(text, first, end)
        if found is None:
            if text[first] not in _NOT_PLAIN:
                self.line_without_key = (indent, first)
                if self.top.is_map and self.top.indent == indent:
                    return None  # a key that is being typed
            return self._read_value(first, end)
        if self.top.indent < indent:
            self._open(_Frame(self.top.value, True, indent))
        self._read_key(found[1], found.start(1))
        return self._read_value(found.end(), end)

    def _close_collections(self, indent: int, *, for_item: bool) -> None:
        """Close the collections that a line with this indentation is not in."""
        while len(self.frames) > 1 and (
            self.top.indent > indent or (self.top.indent == indent and not self.top.is_map and not for_item)
        ):
            self.frames.pop()

    # -- values ---------------------------------------------------------------------------------------------------

    def _read_key(self, written: str, start: int) -> None:
        name, start = _unquoted(written, start)
        self.top.begin(name)
        self._add_token(Role.KEY, start, name)

    def _add_token(self, role: Role, start: int, text: str) -> None:
        self.tokens.append(Token(self.top.value, role, start, start + len(text), text))

    def _read_value(self, first: int, end: int) -> int | None:
        """Read the value of the current key or item; return the offset to resume at, if it is in another line."""
        text = self.text
        first = self._skip_properties(_after_space(text, first), end)
        if first >= end or text[first] == "#":
            return None
        if text[first] in "{[":
            return self._read_flow(first, end)
        if _BLOCK_SCALAR.match(text, first, end):
            start = end + (2 if text.startswith("\r\n", end) else 1)
            self.block = _Block(self.top.value, self._indent_of_block(), start, end)
            return None
        if text[first] in "\"'":
            return self._read_quoted(first, end)
        comment = _COMMENT.search(text, first, end)
        written = text[first : comment.start() if comment else end].rstrip()
        self._read_plain(first, written)
        return None

    def _read_plain(self, first: int, written: str) -> None:
        """Add a plain scalar, or the next line of one."""
        last = self.tokens[-1] if self.tokens else None
        if last is not None and last.role is Role.VALUE and last.path == self.top.value:
            stop = first + len(written)
            self.tokens[-1] = Token(last.path, Role.VALUE, last.start, stop, self.text[last.start : stop])
        else:
            self._add_token(Role.VALUE, first, written)

    def _skip_properties(self, first: int, end: int) -> int:
        """Read anchors and tags before a value; return where the value begins."""
        while first < end and self.text[first] in "&!":
            found = _WORD.match(self.text, first, end)
            assert found is not None
            name = found[0].rstrip(",]}") if self.top.in_line else found[0]
            if name in SHORT_TAGS:
                if len(self.top.tags) > DEFAULT_LIMITS.max_depth:
                    raise _TooDeep
                self.top.tags += (SHORT_TAGS[name],)
                self._add_token(Role.KEY, first, name)
            first = _after_space(self.text, first + max(1, len(name)))
        return first

    def _read_quoted(self, first: int, end: int) -> int | None:
        """Read a quoted scalar; return the offset to resume at, if it ends in another line."""
        stop = self._end_of_quoted(first, end)
        written, start = _unquoted(self.text[first:stop], first)
        self._add_token(Role.VALUE, start, written)
        return stop if stop > end else None

    def _end_of_quoted(self, first: int, end: int) -> int:
        """Return where a quoted scalar ends: in this line, or in lines that are indented deeper than its key."""
        found = _QUOTED.match(self.text, first, end)
        indent = self._indent_of_block()
        if found is not None:
            return found.end()
        if indent < 0:
            return self._end_of_quoted_in_brackets(first, end)
        last = end
        while (following := _LINE_END.match(self.text, last)) is not None:
            ending = _LINE_END.search(self.text, following.end())
            content = _after_space(self.text, following.end())
            last_of_line = ending.start() if ending else len(self.text)
            if content < last_of_line and content - following.end() <= indent:
                break
            last = last_of_line
        found = _QUOTED_LINES.match(self.text, first, last)
        return found.end() if found else end

    def _end_of_quoted_in_brackets(self, first: int, end: int) -> int:
        """Return where a quoted scalar ends in a document that is written in brackets only. Indentation says nothing
        there: a quotation mark that ends nothing begins the next scalar, after one that is being typed.
        """
        found = _QUOTED_LINES.match(self.text, first)
        return found.end() if found and _AFTER_SCALAR.match(self.text, found.end()) else end

    def end_block(self) -> None:
        """Close the block scalar that is open, if there is one."""
        if self.block is not None:
            found, self.block = self.block, None
            start = min(found.start, len(self.text))
            end = max(start, found.end)
            self.tokens.append(Token(found.path, Role.VALUE, start, end, self.text[start:end]))

    # -- between brackets -----------------------------------------------------------------------------------------

    def _read_flow(self, first: int, end: int) -> int | None:
        """Read the rest of a line between brackets; what remains open continues in the next line."""
        text, position = self.text, first
        resume = None
        while position < end:
            position = _after_space(text, position)
            if position >= end:
                break
            mark = text[position]
            if mark == "#" and (position == first or text[position - 1] in " \t"):
                break
            if mark in "{[":
                self._open(_Frame(self.top.value, mark == "{", 0, in_line=True, key=None if mark == "{" else 0))
                position += 1
            elif mark in "}]":
                if self.top.in_line:
                    self.frames.pop()
                position += 1
                if not self.top.in_line:
                    break
            elif mark == ",":
                top = self.top
                top.begin(top.key + 1) if isinstance(top.key, int) else top.begin("")
                if top.is_map:
                    top.key = None
                position += 1
            elif mark == ":":
                position += 1
            else:
                position = self._read_flow_scalar(position, end)
                if position > end:
                    found = _LINE_END.search(text, position)
                    end = resume = found.start() if found else len(text)
        return resume

    def _read_flow_scalar(self, position: int, end: int) -> int:
        text = self.text
        content = self._skip_properties(position, end)
        if content != position:
            return content
        expects_key = self.top.is_map and self.top.key is None
        if text[position] in "\"'":
            stop = self._end_of_quoted(position, end)
            written = text[position:stop]
            is_key = expects_key or (not self.top.is_map and text.startswith(":", _after_space(text, stop)))
        else:
            key = _FLOW_KEY.match(text, position, end)
            found = key if key and (expects_key or not self.top.is_map) else _FLOW_PLAIN.match(text, position, end)
            written = (found[1] if found is key and key else found[0]).rstrip() if found else text[position]
            comment = _COMMENT.search(written)
            written = written[: comment.start()].rstrip() if comment else written
            stop = position + max(1, len(written))
            is_key = expects_key or (found is key and key is not None)
        if not is_key:
            name, start = _unquoted(written, position)
            self._read_plain(start, name)
            return stop
        if not self.top.is_map:  # a map of one key without braces, as in `[a: b]`
            self._open(_Frame(self.top.value, True, 0, in_line=True))
            self._read_key(written, position)
            pair = self.frames.pop()
            self.top.tags += (str(pair.key),)
            return stop
        self._read_key(written, position)
        return stop


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _unquoted(written: str, start: int) -> tuple[str, int]:
    if written[:1] in ("'", '"'):
        quote = written[0]
        return written[1:-1] if len(written) > 1 and written.endswith(quote) else written[1:], start + 1
    return written, start


@dataclass(frozen=True)
class Outline:
    """The tokens of a document, from top to bottom."""

    text: str
    tokens: list[Token] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Outline:
        """Return the outline of a document."""
        scanner = _Scanner(text)
        scanner.run()
        scanner.end_block()
        return cls(text, scanner.tokens)

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    @cached_property
    def _by_path(self) -> Mapping[tuple[Role, Path], Token]:
        return {(token.role, token.path): token for token in reversed(self.tokens)}

    @cached_property
    def _below(self) -> Mapping[Path, list[Token]]:
        found: dict[Path, list[Token]] = defaultdict(list)
        for token in self.tokens:
            if token.role is Role.KEY and token.path:
                found[token.path[:-1]].append(token)
        return found

    def at(self, offset: int) -> Token | None:
        """Return the token at an offset, or that which ends there."""
        index = bisect_right(self._starts, offset) - 1
        for token in reversed(self.tokens[max(0, index - 1) : index + 1]):
            if token.start <= offset <= token.end:
                return token
        return None

    def key(self, path: Path) -> Token | None:
        """Return the key that `path` ends with."""
        return self._by_path.get((Role.KEY, path))

    def value(self, path: Path) -> Token | None:
        """Return the scalar at `path`."""
        return self._by_path.get((Role.VALUE, path))

    def text_at(self, path: Path) -> str | None:
        """Return the content of the scalar at `path`; None if there is none."""
        token = self.value(path)
        return token.text if token else None

    def keys(self, path: Path) -> list[Token]:
        """Return the keys of the map at `path`."""
        return self._below.get(path, [])

    def below(self, path: Path) -> Iterator[Token]:
        """Yield the key `path` and all keys and scalars below it."""
        start = self._places.get(path)
        if start is not None:
            yield from takewhile(lambda token: token.path[: len(path)] == path, islice(self.tokens, start, None))

    @cached_property
    def _places(self) -> Mapping[Path, int]:
        """The indexes of all keys in `tokens`."""
        found: dict[Path, int] = {}
        for index, token in enumerate(self.tokens):
            if token.role is Role.KEY:
                found.setdefault(token.path, index)
        return found


def context(text: str, offset: int) -> Context | None:
    """Return what can be typed at an offset; None in comments."""
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    line = text[line_start:offset]
    scanner = _Scanner(text[:offset])
    scanner.run()
    block = scanner.block
    if block is not None and (line.strip() or len(line) > block.indent):
        start = min(block.start, offset)
        return Context(block.path, Role.VALUE, text[start:offset], start, False, True, 0)
    if _COMMENT.search(_QUOTED.sub(lambda found: "x" * len(found[0]), line)) is not None:
        return None
    if scanner.line_without_key is not None and not scanner.top.in_line:
        return _context_without_key(
            scanner.frames,
            scanner.line_without_key[0],
            text[scanner.line_without_key[1] : offset],
            scanner.line_without_key[1],
        )
    return _typed_context(scanner, line_start, offset)


def _typed_context(scanner: _Scanner, line_start: int, offset: int) -> Context:
    top = scanner.top
    last = scanner.tokens[-1] if scanner.tokens else None
    typed = last if last is not None and last.end == offset and last.start >= line_start else None
    quoted = typed is not None and scanner.text[typed.start - 1 : typed.start] in ('"', "'")
    start, words = (typed.start, typed.text) if typed else (offset, "")
    if typed is not None and typed.role is Role.KEY:
        if words.startswith("!"):  # a tag, whose argument has not begun
            return Context(typed.path[:-1], Role.VALUE, words, start, top.in_line, False, 0)
        return Context(typed.path[:-1], Role.KEY, words, start, top.in_line, quoted, 0)
    if top.in_line and top.is_map and top.key is None:
        return Context(top.path, Role.KEY, words, start, True, quoted, 0)
    return Context(top.value, Role.VALUE, words, start, top.in_line, quoted, 0)


def _context_without_key(frames: Sequence[_Frame], column: int, typed: str, start: int) -> Context:
    """Return what can be typed in a line without a key so far: a key, or a value below the key of a line above."""
    level = len(frames) - 1
    while level and (frames[level].indent > column or (frames[level].indent == column and not frames[level].is_map)):
        level -= 1
    top = frames[level]
    if top.indent == column or (not top.path and top.key is None):
        return Context(top.path, Role.KEY, typed, start, False, False, column)
    return Context(top.value, Role.EITHER, typed, start, False, False, column)
