"""Normalize the indentation of YAML and the space between tokens.

Only the space at the beginning of lines and between tokens changes; scalars, anchors, tags, quotes and comments stay
exactly as written. The positions of tokens come from libyaml's scanner, which also reads templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

_STEP = 2
_BREAKS = re.compile("\r\n?|[\x85\u2028\u2029]")
_HEADER = re.compile(r"([|>])(?:([1-9])([+-]?)|([+-])([1-9])?)?")
_OPENING = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_PREFIXES = (yaml.TagToken, yaml.AnchorToken)
_STARTS = (yaml.BlockMappingStartToken, yaml.BlockSequenceStartToken)
_AT_MARGIN = (yaml.DirectiveToken, yaml.DocumentStartToken, yaml.DocumentEndToken)


def indented(text: str) -> str:
    """Return a YAML document in the canonical indentation. Raises yaml.YAMLError for invalid YAML."""
    return _Writer(with_plain_line_ends(text)).result()


def with_plain_line_ends(text: str) -> str:
    """Return the same YAML with `\\n` as the only line end, and one at its end. Raises yaml.YAMLError."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if _BREAKS.search(text):
        text = "".join(_pieces_without_other_breaks(text))
    return text if text.endswith("\n") else _ended(text)


def _pieces_without_other_breaks(text: str) -> Iterator[str]:
    """Convert scalars with Unicode's line ends to double-quoted ones; between tokens, use ordinary line ends."""
    end = 0
    for token in yaml.scan(text, Loader=yaml.CSafeLoader):
        start = token.start_mark.index
        if isinstance(token, yaml.ScalarToken) and _BREAKS.search(text[start : token.end_mark.index]):
            yield _BREAKS.sub("\n", text[end:start])
            yield _double_quoted(token.value) + ("\n" if token.style in ("|", ">") else "")
            end = token.end_mark.index
    yield _BREAKS.sub("\n", text[end:])


def _double_quoted(value: str) -> str:
    return '"' + "".join(_escaped(char) for char in value) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def _ended(text: str) -> str:
    """Return the document with a final line end, which must not become part of a block scalar in the last line."""
    tokens = list(yaml.scan(text, Loader=yaml.CSafeLoader))
    scalars = [token for token in tokens if isinstance(token, yaml.ScalarToken)]
    values = [token.value for token in scalars]
    candidates = [f"{text}\n", text.rstrip(" \t").rstrip("\n") + "\n", text.rstrip(" \t")]
    if scalars and (header := _HEADER.match(text, scalars[-1].start_mark.index)):
        size = header[2] or header[5] or ""
        candidates.append(f"{text[: header.start()]}{header[1]}{size}-{text[header.end() :]}\n")
    for candidate in candidates:
        parsed = [t.value for t in yaml.scan(candidate, Loader=yaml.CSafeLoader) if isinstance(t, yaml.ScalarToken)]
        if parsed == values and candidate.endswith("\n"):
            return candidate
    return f"{text}\n"


@dataclass(slots=True)
class _Block:
    """A block collection: its column in the source, and the new one. A list that is not indented in the source has no
    start token there (`is_implied`).
    """

    is_list: bool
    source: int
    column: int
    is_implied: bool = False


@dataclass(slots=True)
class _Flow:
    """A flow collection: the line of the result that opens it, and the column at which it is closed."""

    line: int
    column: int


class _Writer:
    """Writes the tokens of a document one after another."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: list[str] = []
        self._line = ""
        self._blocks: list[_Block] = []
        self._flows: list[_Flow] = []
        self._previous: yaml.Token | None = None
        self._end = 0
        self._is_key = False

    def result(self) -> str:
        """Return the whole document."""
        for token in yaml.scan(self._text, Loader=yaml.CSafeLoader):
            self._take(token)
        self._space_before(None, len(self._text))
        return "\n".join([*self._lines, self._line]).rstrip(" ")

    def _take(self, token: yaml.Token) -> None:
        start, end = token.start_mark.index, token.end_mark.index
        if isinstance(token, _STARTS):
            is_list = isinstance(token, yaml.BlockSequenceStartToken)
            self._blocks.append(_Block(is_list, token.start_mark.column, self._inner_column()))
            return
        if not self._flows:
            self._settle(token)
        if isinstance(token, yaml.KeyToken):
            self._is_key = True
        if start == end:
            return
        self._space_before(token, start)
        if isinstance(token, yaml.ScalarToken):
            end = self._write_scalar(token)
        else:
            self._write(self._text[start:end].rstrip(" "))
        if isinstance(token, _OPENING):
            self._open()
        elif isinstance(token, _CLOSING):
            self._flows.pop()
        self._is_key = False
        self._previous, self._end = token, end

    def _settle(self, token: yaml.Token) -> None:
        """Open and close the block collections that begin or end with a token."""
        if isinstance(token, yaml.BlockEntryToken):
            if self._blocks and not self._blocks[-1].is_list:
                parent = self._blocks[-1]
                self._blocks.append(_Block(True, parent.source, parent.column + _STEP, is_implied=True))
        elif isinstance(token, yaml.KeyToken | yaml.ValueToken | yaml.BlockEndToken):
            if self._blocks and self._blocks[-1].is_implied:
                self._blocks.pop()
            if isinstance(token, yaml.BlockEndToken):
                self._blocks.pop()

    # -- columns ----------------------------------------------------------------------------------------------

    def _inner_column(self) -> int:
        """Return the column for the content of the innermost block collection at the beginning of a line."""
        return self._blocks[-1].column + _STEP if self._blocks else 0

    def _column_of(self, token: yaml.Token) -> int:
        """Return the column of a token that begins a line."""
        if self._flows:
            return self._flows[-1].column + (0 if isinstance(token, _CLOSING) else _STEP)
        if isinstance(token, _AT_MARGIN) or not self._blocks:
            return 0
        is_own = self._is_key or isinstance(token, yaml.BlockEntryToken | yaml.ValueToken)
        return self._blocks[-1].column if is_own else self._inner_column()

    def _open(self) -> None:
        line = len(self._lines)
        begins_line = len(self._line.lstrip()) == 1
        if self._flows:
            outer = self._flows[-1]
            column = outer.column if outer.line == line else len(self._line) - len(self._line.lstrip())
        elif begins_line or not self._blocks:
            column = len(self._line) - 1 if begins_line else 0
        else:
            block = self._blocks[-1]
            column = block.column + (_STEP if block.is_list else 0)
        self._flows.append(_Flow(line, column))

    # -- between tokens ---------------------------------------------------------------------------------------

    def _space_before(self, token: yaml.Token | None, start: int) -> None:
        """Write everything between the previous token and this one: space, comments, line ends."""
        first, *others = self._text[self._end : start].split("\n")
        if not others:
            if token is not None and self._line:
                self._write(_between(self._previous, token))
            return
        if not first.strip() and self._joins(token) and not any(line.strip() for line in others):
            self._write(" ")
            return
        if first.strip():
            self._write(f"  {first.strip()}" if self._line else first.strip())
        self._lines.append(self._line)
        self._lines += [line.strip() for line in others[:-1]]
        self._line = others[-1].strip() if token is None else " " * self._column_of(token)

    def _joins(self, token: yaml.Token | None) -> bool:
        """Return whether a token stays in the line of the dash or question mark before it, being to the right of it."""
        before = self._previous
        if self._flows or token is None or not isinstance(before, yaml.BlockEntryToken | yaml.KeyToken):
            return False
        return bool(token.start_mark.column > before.start_mark.column)

    # -- tokens -----------------------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        self._line = f"{self._line}{text}"

    def _write_scalar(self, token: yaml.ScalarToken) -> int:
        """Write a scalar; return its end in the source."""
        if token.style in ("|", ">"):
            return self._write_block(token)
        first, *others = self._text[token.start_mark.index : token.end_mark.index].split("\n")
        self._write(first)
        margin = " " * (self._flows[-1].column + _STEP if self._flows else self._inner_column())
        for line in others:
            self._lines.append(_without_space_at_end(self._line, token.style))
            content = line.lstrip(" \t")
            self._line = f"{margin}{content}" if content else ""
        return int(token.end_mark.index)

    def _write_block(self, token: yaml.ScalarToken) -> int:
        start = token.start_mark.index
        header = _HEADER.match(self._text, start)
        assert header is not None
        size, chomping = header[2] or header[5] or "", header[3] or header[4] or ""
        end = self._text.index("\n", start)
        comment = self._text[header.end() : end].strip()
        self._write(f"{header[1]}{_STEP if size else ''}{chomping}{'  ' if comment else ''}{comment}")
        margin = " " * (self._inner_column() or _STEP)
        parent = next((block.source for block in reversed(self._blocks) if not block.is_implied), -1)
        lines = self._text[end + 1 :].split("\n")[:-1]
        indent = max(parent, 0) + int(size) if size else _found_indent(lines, parent + 1)
        body = [line[indent:] for line in _body(lines, indent)]
        while body and not body[-1] and chomping != "+":
            body.pop()
        length = sum(len(line) + 1 for line in lines[: len(body)])
        self._lines.append(self._line)
        self._lines += [f"{margin}{line}" if line else "" for line in body]
        self._line = self._lines.pop()
        return end + length


def _found_indent(lines: list[str], least: int) -> int:
    """Return the indentation of a block scalar whose header does not contain it, as libyaml determines it."""
    widest = max(least, 1)
    for line in lines:
        content = line.lstrip(" ")
        widest = max(widest, len(line) - len(content))
        if content:
            break
    return widest


def _body(lines: list[str], indent: int) -> Iterator[str]:
    for line in lines:
        if line[:indent].strip(" "):
            return
        yield line


def _without_space_at_end(line: str, style: str | None) -> str:
    """Return a line of a multi-line scalar, without the space that folding drops anyway."""
    stripped = line.rstrip(" \t")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    is_escaped = style == '"' and backslashes % 2 == 1 and len(stripped) < len(line)
    return line[: len(stripped) + is_escaped]


def _between(before: yaml.Token | None, after: yaml.Token) -> str:
    """Return the space between two tokens of one line."""
    if isinstance(before, (*_PREFIXES, yaml.ValueToken)):
        return " "
    if isinstance(before, _OPENING) or isinstance(after, (*_CLOSING, yaml.FlowEntryToken)):
        return ""
    if isinstance(after, yaml.ValueToken):
        return " " if isinstance(before, yaml.AliasToken | yaml.FlowEntryToken | yaml.KeyToken) else ""
    return " "
