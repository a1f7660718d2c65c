"""A YAML text as lines of which it is known what they are: content, comments, or inside a scalar of several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

_KEEPS_BLANKS = re.compile(r"[|>][0-9]?\+")
_BLANKED = (yaml.ScalarToken, yaml.TagToken)


class Lines:
    """Lines that can be rearranged; they end with `\n` alone. Raises yaml.YAMLError for a text that is no YAML."""

    def __init__(self, text: str) -> None:
        self.lines = text.removesuffix("\n").split("\n")
        self._fixed: set[int] = set()
        self._kept: set[int] = set()
        blanked = self._blanked(text)
        self._comments = [(line, shown.index("#")) for line, shown in enumerate(blanked) if "#" in shown]

    def text(self) -> str:
        """The lines as one text, with one line end at its end."""
        first, last = 0, len(self.lines)
        while first < last and not self.lines[first]:
            first += 1
        while last > first and not self.lines[last - 1] and last - 1 not in self._kept:
            last -= 1
        return "\n".join(self.lines[first:last]) + "\n"

    def comments(self) -> list[str]:
        """All comments, without the space around them."""
        return [self.lines[line][column:].strip() for line, column in self._comments]

    def _blanked(self, text: str) -> list[str]:
        """The lines with scalars and tags replaced by a letter; notes on the way which lines are inside a scalar."""
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
        """For each comment whether it stands in line with the content before it rather than with what comes after."""
        return [self._follows(line, column) for line, column in self._comments]

    def _follows(self, line: int, column: int) -> bool:
        before, after = self._around(line)
        return before > after and abs(column - before) < abs(column - after)

    def place_comments(self, follows: Sequence[bool]) -> None:
        """Indent comments as the content before or after them, and put those behind a value two spaces behind it.

        `follows` says of each comment which of the two it goes with, as `neighbours` does; missing ones go with what
        comes after.
        """
        wanted = [*follows, *[False] * len(self._comments)]
        for (line, column), with_before in zip(self._comments, wanted, strict=False):
            value = self.lines[line][:column].rstrip(" \t")
            if value:
                self.lines[line] = f"{value}  {self.lines[line][column:].rstrip()}"
            else:
                before, after = self._around(line)
                self.lines[line] = f"{' ' * (before if with_before else after)}{self.lines[line].strip()}"

    def _around(self, line: int) -> tuple[int, int]:
        """The indentation of the content before a line and of that after it; 0 where there is none."""
        before = next((self._indent(other) for other in self._content(range(line - 1, -1, -1))), 0)
        after = next((self._indent(other) for other in self._content(range(line + 1, len(self.lines)))), 0)
        return before, after

    def _content(self, numbers: range) -> Iterator[int]:
        return (number for number in numbers if self._is_content(number))

    # -- order ------------------------------------------------------------------------------------------------

    def reorder(self, keys: Sequence[tuple[str, int]], order: Sequence[str]) -> None:
        """Bring the pairs of one block map into an order, each with the comments above it; unknown keys come last.

        `keys` are the map's keys and their lines, from top to bottom. What stands above the first stays there.
        """
        starts = [keys[0][1], *(self._first_line(line) for _, line in keys[1:])]
        ends = [*starts[1:], self._end_of_map(keys[-1][1])]
        ranks = [order.index(key) if key in order else len(order) for key, _ in keys]
        chunks = [range(start, end) for start, end in zip(starts, ends, strict=True)]
        chosen = sorted(range(len(chunks)), key=ranks.__getitem__)
        moved = [number for index in chosen for number in chunks[index]]
        self._keep([*range(starts[0]), *moved, *range(ends[-1], len(self.lines))])

    def _keep(self, numbers: Sequence[int | None]) -> None:
        """Keep the lines of these numbers in this order; None stands for a blank line."""
        self.lines = ["" if number is None else self.lines[number] for number in numbers]
        self._fixed = {new for new, number in enumerate(numbers) if number in self._fixed}
        self._kept = {new for new, number in enumerate(numbers) if number in self._kept}

    def _first_line(self, line: int) -> int:
        """Where the comments that belong to the key on this line begin."""
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
        """The line after a block map whose last key is on this line; comments at the end that are not deeper than its
        keys are left out.
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
        """One blank line before each of these keys but the first, nowhere more than one, and no space at line ends."""
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
