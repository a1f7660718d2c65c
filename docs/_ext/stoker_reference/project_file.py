"""Generate the page about project files, from the declarations that the reader and the JSON Schema are made of."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.authoring.document_grammar import sections
from stoker.authoring.project_files.declarations import FILE
from stoker_reference.markdown import page, section
from stoker_reference.sections import body, title

_INTRODUCTION = """\
`stoker deploy -f project.yaml` deploys the stacks of a project file together, as [](../how-to/deploy-projects.md)
describes. `stoker schema project` prints the JSON Schema of these files, for editors, and `stoker lint` checks them.

Paths of files are relative to the project file. Unknown keys are errors.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page."""
    parts = [section(title(each), body(each)) for each in sections(FILE)]
    yield "project-file.md", page("Project files", _INTRODUCTION, *parts)
