"""Describe the sections of a document's form: the keys of each, in a table."""

from __future__ import annotations

from stoker.authoring.document_grammar import Choice, Either, ListOf, MapOf, Section, ValueKind
from stoker_reference.markdown import code, table

_TITLES = {"file": "The file"}


def title(part: Section) -> str:
    """Return the heading of a section."""
    return _TITLES.get(part.name, part.name.capitalize())


def body(part: Section) -> str:
    """Return the keys of a section."""
    rows = [
        [code(name), _words(key.kind), f"**Required.** {key.help}" if key.required else key.help]
        for name, key in part.keys.items()
    ]
    return f"{part.help}\n\n{table(['Key', 'Value', 'Meaning'], rows)}"


def _words(kind: ValueKind) -> str:
    """Return what a value must be, with links to the sections of the page."""
    if isinstance(kind, Section):
        return f"[{kind.name}](#{kind.name})"
    if isinstance(kind, ListOf):
        return f"list of: {_words(kind.item)}"
    if isinstance(kind, MapOf):
        return f"map by {kind.key}: {_words(kind.item)}"
    if isinstance(kind, Either):
        return f"{_words(kind.first)}, or {_words(kind.second)}"
    if isinstance(kind, Choice):
        return f"one of {', '.join(map(code, kind.choices))}"
    return kind.words
