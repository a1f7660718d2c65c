"""A YAML document as classified lines: content, comments, or part of a multi-line scalar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

_KEEPS_BLANKS = re.compile(r"[|>][0-9]?\+")
_BLANKED = (yaml.ScalarToken, yaml.TagToken)


class Lines:
    """Lines that can be rearranged; they end with `\n` alone. Raises yaml.YAMLError for invalid YAML."""

    def __init__(self, text: str) -> None:
        self.lines = text.removesuffix("\n").split("\n")
        self._fixed: set[int] = set()
        self._kept: set[int] = set()
        blanked = self._blank_scalars(text)
        self._comments = [(line, shown.index("#")) for line, shown in enumerate(blanked) if "#" in shown]

    def text(self) -> str:
        """Return the lines as one string, with one line end at its end."""
        first, last = 0, len(self.lines)
        while first < last and not self.lines[first]:
            first += 1
        while last > first and not self.lines[last - 1] and last - 1 not in self._kept:
            last -= 1
        return "\n".join(self.lines[first:last]) + "\n"

    def comments(self) -> list[str]:
        """Return all comments, without the space around them."""
        return [self.lines[line][column:].strip() for line, column in self._comments]

    def _blank_scalars(self, text: str) -> list[str]:
        """Return the lines with scalars and tags blanked out; also record which lines are inside a scalar."""
        shown = [list(line) for line in self.lines]
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if isinstance(token, _BLANKED):
                start, end = token.start_mark, token.end_mark
                is_block = isinstance(token, yaml.ScalarToken) and token.style in ("|", ">")
                if is_block:
                    self._fix_block(start.line, end.line, self.lines[start.line][start.column :])
                else:
                    self._fixed.update(range(start.line + 1, end.line + 1))
                for line in range(start.line + is_block, min(end.line + 1, len(shown))):
                    first = start.column if line == start.line else 0
                    last = end.column if line == end.line else len(shown[line])
                    shown[line][first:last] = "x" * (last - first)
        return ["".join(line) for line in shown]

    def _fix_block(self, start: int, end: int, header: str) -> None:
        end = min(end, len(self.lines))
        if _KEEPS_BLANKS.match(header):
            self._kept.update(range(start, end))
        else:
            while end > start + 1 and not self.lines[end - 1]:
                end -= 1
        self._fixed.update(range(start + 1, end))

    def _is_content(self, line: int) -> bool:
        return line not in self._fixed and bool(self.lines[line].strip()) and not self._is_comment(line)

    def _is_comment(self, line: int) -> bool:
        return line not in self._fixed and self.lines[line].lstrip().startswith("#")

    def _indent(self, line: int) -> int:
        return len(self.lines[line]) - len(self.lines[line].lstrip())

    # -- comments ---------------------------------------------------------------------------------------------

    def neighbours(self) -> list[bool]:
        """Return for each comment whether it is aligned with the content before it rather than after it."""
        return [self._follows(line, column) for line, column in self._comments]

    def _follows(self, line: int, column: int) -> bool:
        before, after = self._around(line)
        return before > after and abs(column - before) < abs(column - after)

    def place_comments(self, follows: Sequence[bool]) -> None:
        """Indent comments like the content before or after them, and place trailing comments two spaces after the
        value.

        `follows` maps comments to which of the two they are aligned with, as returned by `neighbours`; other comments
        are aligned with the content after them.
        """
        is_kept = [*follows, *[False] * len(self._comments)]
        for (line, column), with_before in zip(self._comments, is_kept, strict=False):
            value = self.lines[line][:column].rstrip(" \t")
            if value:
                self.lines[line] = f"{value}  {self.lines[line][column:].rstrip()}"
            else:
                before, after = self._around(line)
                self.lines[line] = f"{' ' * (before if with_before else after)}{self.lines[line].strip()}"

    def _around(self, line: int) -> tuple[int, int]:
        """Return the indentation of the content before and after a line; 0 if there is none."""
        before = next((self._indent(other) for other in self._content(range(line - 1, -1, -1))), 0)
        after = next((self._indent(other) for other in self._content(range(line + 1, len(self.lines)))), 0)
        return before, after

    def _content(self, numbers: range) -> Iterator[int]:
        return (number for number in numbers if self._is_content(number))

    # -- order ------------------------------------------------------------------------------------------------

    def reorder(self, keys: Sequence[tuple[str, int]], order: Sequence[str]) -> None:
        """Sort the pairs of one block map, each with the comments above it; unknown keys come last.

        `keys` are the map's keys and their lines, from top to bottom. Comments above the first key stay there.
        """
        starts = [keys[0][1], *(self._first_line(line) for _, line in keys[1:])]
        ends = [*starts[1:], self._end_of_map(keys[-1][1])]
        ranks = [order.index(key) if key in order else len(order) for key, _ in keys]
        chunks = [range(start, end) for start, end in zip(starts, ends, strict=True)]
        chosen = sorted(range(len(chunks)), key=ranks.__getitem__)
        moved = [number for index in chosen for number in chunks[index]]
        self._keep([*range(starts[0]), *moved, *range(ends[-1], len(self.lines))])

    def _keep(self, numbers: Sequence[int | None]) -> None:
        """Keep the lines with these numbers, in this order; None is a blank line."""
        self.lines = ["" if number is None else self.lines[number] for number in numbers]
        self._fixed = {new for new, number in enumerate(numbers) if number in self._fixed}
        self._kept = {new for new, number in enumerate(numbers) if number in self._kept}

    def _first_line(self, line: int) -> int:
        """Return the first line of the comments that belong to the key on this line."""
        indent = self._indent(line)
        first = line
        above = line - 1
        while above >= 0 and above not in self._fixed and not self._is_content(above):
            if self._is_comment(above):
                if self._indent(above) != indent:
                    break
                first = above
            above -= 1
        return first

    def _end_of_map(self, last_key: int) -> int:
        """Return the line after a block map whose last key is on this line; trailing comments that are not indented
        deeper than its keys are excluded.
        """
        indent = self._indent(last_key)
        numbers = range(last_key + 1, len(self.lines))
        end = next((line for line in self._content(numbers) if self._indent(line) < indent), len(self.lines))
        while end > last_key + 1 and end - 1 not in self._fixed and not self._is_content(end - 1):
            if self._is_comment(end - 1) and self._indent(end - 1) > indent:
                break
            end -= 1
        return end

    # -- blank lines ------------------------------------------------------------------------------------------

    def part(self, keys: Sequence[tuple[str, int]]) -> None:
        """Put one blank line before each of these keys except the first, and remove others and trailing space."""
        parted = {self._first_line(line) for _, line in keys[1:]}
        numbers: list[int | None] = []
        is_apart = True
        for number, line in enumerate(self.lines):
            is_blank = not line.strip(" \t")
            if number in self._fixed:
                is_apart = number in self._kept
            elif is_blank:
                if not is_apart:
                    numbers.append(None)
                is_apart = True
                continue
            else:
                if number in parted and not is_apart:
                    numbers.append(None)
                if number + 1 not in self._fixed:
                    self.lines[number] = line.rstrip(" \t")
                is_apart = number in self._kept
            numbers.append(number)
        self._keep(numbers)
