"""Words that the project does not use, found in comments, docstrings, messages, names and the manual.

`tools/checks/vocabulary.toml` lists them with what to write instead. Python files are read token by token, so that only
comments, strings and names count; of Markdown, everything outside code blocks; of the Makefile and TOML files, the
comments. Exit status 1 when a word is found.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.checks.source_tree import SourceTree, show

VOCABULARY = Path(__file__).with_name("vocabulary.toml")

_PROSE_TOKENS = {tokenize.COMMENT, tokenize.STRING}
_CHECKED = (
    "packages", "contrib", "deploy", "docs", "testing", "tools", "tests", "conftest.py",
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "Makefile", "pyproject.toml",
)  # fmt: skip
_WORD = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_NAME = re.compile(r"[^\W\d]\w*")
_BUILT = {"_build", "generated"}
_FENCE = "```"
_INLINE_CODE = re.compile(r"`[^`]*`")


@dataclass(frozen=True)
class Term:
    """A word or phrase to avoid, and what to write instead: in prose, in names of functions and classes, or in both."""

    pattern: re.Pattern[str]
    use: str
    in_names: bool = True
    in_prose: bool = True


@dataclass(frozen=True)
class Vocabulary:
    """The terms, and the paths (relative to the project) that are not checked yet."""

    terms: tuple[Term, ...]
    pending: tuple[str, ...]

    @cached_property
    def any_term(self) -> re.Pattern[str]:
        """Matches what contains a term anywhere, such as in a name: all else needs no closer look."""
        return re.compile("|".join(f"(?:{term.pattern.pattern})" for term in self.terms), re.IGNORECASE | re.MULTILINE)

    @classmethod
    def load(cls, path: Path = VOCABULARY) -> Vocabulary:
        content = tomllib.loads(path.read_text())
        terms = (
            Term(
                re.compile(item["pattern"], re.IGNORECASE),
                item["use"],
                item.get("in_names", True),
                item.get("in_prose", True),
            )
            for item in content["terms"]
        )
        return cls(tuple(terms), tuple(content["pending"]))

    def is_pending(self, path: str) -> bool:
        return any(path == place or path.startswith(f"{place}/") for place in self.pending)

    def wrong_names(self, source: str) -> Iterator[tuple[int, str, str]]:
        """The same for the names in a Python source: functions, classes, variables, fields; each where it is first."""
        if not self.any_term.search("\n".join(_WORD.sub(" ", name).strip() for name in {*_NAME.findall(source)})):
            return
        first: dict[str, int] = {}
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME:
                first.setdefault(token.string, token.start[0])
        for name, line in first.items():
            words = _WORD.sub(" ", name).strip()
            for term in self.terms:
                if term.in_names and (match := term.pattern.search(words)):
                    yield line, match[0], term.use

    def problems(self, prose: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
        """Each use of a term: line number, the words found, what to write instead."""
        for line, words in prose:
            for term in filter(lambda term: term.in_prose, self.terms):
                for match in term.pattern.finditer(words):
                    yield line + words.count("\n", 0, match.start()), match.group(), term.use


def python_prose(source: str) -> Iterator[tuple[int, str]]:
    """Comments and strings of a Python source, each with the line that it begins on."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _PROSE_TOKENS or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            yield token.start[0], token.string


def markdown_prose(source: str) -> Iterator[tuple[int, str]]:
    """Lines of a Markdown page outside code blocks, without inline code; directives' blocks count as prose."""
    fence: str | None = None  # what the block that is open began with
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(_FENCE):
            fence = None if fence is not None else line.strip()
        elif fence is None or fence.startswith(_FENCE + "{"):
            yield number, _INLINE_CODE.sub("", line)


def comments(source: str) -> Iterator[tuple[int, str]]:
    """The comments of a Makefile or a TOML file, each with its line."""
    for number, line in enumerate(source.splitlines(), 1):
        _, sign, comment = line.partition("#")
        if sign:
            yield number, comment


_READERS: Mapping[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    ".py": python_prose,
    ".md": markdown_prose,
    ".toml": comments,
    "": comments,
}
"""By suffix: what yields the prose of a file, with the lines that it begins on."""


def files(root: Path) -> Iterator[Path]:
    """The files that are checked: sources, manual and the pages beside them."""
    for name in _CHECKED:
        path = root / name
        if path.is_file():
            yield path
        for each in sorted(path.rglob("*")) if path.is_dir() else ():
            if each.suffix and each.suffix in _READERS and not _BUILT & {*each.parts}:
                yield each


def check(tree: SourceTree, vocabulary: Vocabulary) -> list[str]:
    """One line for each problem, as `file:line: words (write: …)`."""
    problems = []
    for path in files(tree.root):
        name = path.relative_to(tree.root).as_posix()
        if vocabulary.is_pending(name):
            continue
        source = tree.text(path)
        found = [*vocabulary.wrong_names(source)] if path.suffix == ".py" else []
        if vocabulary.any_term.search(source):
            found += vocabulary.problems(_READERS[path.suffix](source))
        problems += [f"{name}:{line}: {words!r} (write: {use})" for line, words, use in found]
    return problems


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the project's prose."""
    return check(tree, Vocabulary.load())


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
