"""The page about test files has what their declarations say."""

from __future__ import annotations

from stoker_reference.test_file import pages

from stoker.authoring.document_grammar import sections
from stoker.authoring.test_files.declarations import FILE


def test_every_section_and_key_is_described() -> None:
    ((name, text),) = pages()
    assert name == "test-file.md"
    for section in sections(FILE):
        title = "The file" if section.name == "file" else section.name.capitalize()
        own = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
        assert all(f"`{key}`" in own for key in section.keys)
    assert "| `range` |" not in text
    assert "list of: [fault](#fault)" in text
