"""Generate the page about test files, from the declarations that the reader and the JSON Schema are made of."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.authoring.test_files.declarations import FILE, STEP
from stoker.authoring.test_files.grammar import Choice, Either, Kind, ListOf, MapOf, Section, sections
from stoker_reference.markdown import code, page, section, table

_TITLES = {"file": "The file"}
_INTRODUCTION = """\
`stoker test` runs the tests in files `*.test.yaml` and `*.test.yml`. [](../tutorial/test-a-template.md) is an
introduction. `stoker schema test` prints the JSON Schema of these files, for editors.

Paths of files are relative to the test file. A resource in a nested stack has the path `group.0.port`. Unknown keys are
errors. Expected maps need not have all keys, expected lists are complete, and `*` in an expected string stands for any
characters.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page."""
    parts = [section(_title(each), _body(each)) for each in sections(FILE)]
    yield "test-file.md", page("Test files", _INTRODUCTION, *parts)


def _title(part: Section) -> str:
    return _TITLES.get(part.name, part.name.capitalize())


def _body(part: Section) -> str:
    """Return the keys of a section; those of a step are described for tests, and an update has the same."""
    if part.keys is STEP:
        return f"{part.help} The keys are {', '.join(map(code, STEP))}, as in [a test](#test)."
    rows = [
        [code(name), _words(key.kind), f"**Required.** {key.help}" if key.required else key.help]
        for name, key in part.keys.items()
    ]
    return f"{part.help}\n\n{table(['Key', 'Value', 'Meaning'], rows)}"


def _words(kind: Kind) -> str:
    """Return what a value must be, with links to the sections of the page."""
    if isinstance(kind, Section):
        return f"[{kind.name}](#{kind.name})"
    if isinstance(kind, ListOf):
        return f"list of: {_words(kind.item)}"
    if isinstance(kind, MapOf):
        return f"map by {kind.names}: {_words(kind.item)}"
    if isinstance(kind, Either):
        return f"{_words(kind.first)}, or {_words(kind.second)}"
    if isinstance(kind, Choice):
        return f"one of {', '.join(map(code, kind.choices))}"
    return kind.words
