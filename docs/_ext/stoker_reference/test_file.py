"""Generate the page about test files, from the declarations that the reader and the JSON Schema are made of."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.authoring.document_grammar import Section, sections
from stoker.authoring.test_files.declarations import FILE, STEP
from stoker_reference.markdown import code, page, section
from stoker_reference.sections import body, title

_INTRODUCTION = """\
`stoker test` runs the tests in files `*.test.yaml` and `*.test.yml`. [](../tutorial/test-a-template.md) is an
introduction. `stoker schema test` prints the JSON Schema of these files, for editors.

Paths of files are relative to the test file. A resource in a nested stack has the path `group.0.port`. Unknown keys are
errors. Expected maps need not have all keys, expected lists are complete, and `*` in an expected string stands for any
characters.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page."""
    parts = [section(title(each), _body(each)) for each in sections(FILE)]
    yield "test-file.md", page("Test files", _INTRODUCTION, *parts)


def _body(part: Section) -> str:
    """Return the keys of a section; those of a step are described for tests, and an update has the same."""
    if part.keys is STEP:
        return f"{part.help} The keys are {', '.join(map(code, STEP))}, as in [a test](#test)."
    return body(part)
