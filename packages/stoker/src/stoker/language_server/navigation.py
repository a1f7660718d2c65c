"""Definitions, references and renaming of names; the symbols of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from stoker.authoring.sources import is_remote, resolve_path
from stoker.base.errors import StokerError
from stoker.language_server.names import Name, NameKind
from stoker.language_server.outline import Role, Token
from stoker.language_server.project import Project, TextDocument
from stoker.template.registry import is_template_name

RENAMED = frozenset({NameKind.PARAMETER, NameKind.RESOURCE, NameKind.CONDITION, NameKind.MAPPING, NameKind.OUTPUT})
_HOT_NAME = re.compile(r"[^\s/:{}\[\],&*#?|<>=!%@\"'`\\-][^\s/:{}\[\],#\"'\\]*")
_CFN_NAME = re.compile(r"[A-Za-z0-9_-]+")


class CannotRename(StokerError):
    """The name at the cursor cannot be renamed, or not to the new name."""


@dataclass(frozen=True, slots=True)
class Location:
    """A range in a file; `start` and `end` are offsets in `document`, or 0 for a file that is not a document."""

    path: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Symbol:
    """A section or an entry of one, from `start` to `end`; its name is a token."""

    name: Token
    end: int
    detail: str
    kind: NameKind | None
    children: tuple[Symbol, ...] = ()


def definition(project: Project, document: TextDocument, offset: int) -> Location | None:
    """Return where the name at an offset is declared, or the file that it names."""
    token = document.outline.at(offset)
    if token is None:
        return None
    name = document.names.at(offset)
    if name is None:
        return _property_of_nested(project, document, token) or _in_environment(document, token)
    if name.kind is NameKind.FILE:
        return _file(resolve_path(document.folder, name.text)) if not is_remote(name.text) else None
    if name.kind is NameKind.TYPE:
        found = project.implementation(document, name.text)
        return _file(found) if is_template_name(found) and not is_remote(found) else None
    if name.kind is NameKind.ATTRIBUTE:
        return _output_of_nested(project, document, name)
    declared = document.names.declared(name.kind).get(name.text)
    return Location(document.path, declared.start, declared.end) if declared else None


def references(
    project: Project, document: TextDocument, offset: int, *, with_declaration: bool = True
) -> list[tuple[TextDocument, list[Name]]]:
    """Return the uses of the name at an offset, by document."""
    name = document.names.at(offset)
    if name is None:
        return []
    found = list(_by_document(project, document, name))
    declared = document.names.declared(name.kind).get(name.text) if name.kind in RENAMED else None
    if with_declaration or declared is None:
        return found
    (_, own), *others = found
    return [(document, [use for use in own if use.start != declared.start]), *others]


def renaming(document: TextDocument, offset: int) -> Name:
    """Return the name at an offset, which can be renamed. Raises CannotRename."""
    name = document.names.at(offset)
    if name is None or name.kind not in RENAMED:
        raise CannotRename("Only parameters, resources, conditions, mappings and outputs can be renamed.")
    if name.text not in document.names.declared(name.kind):
        raise CannotRename(f"{name.text!r} is not declared in this template.")
    return name


def rename(project: Project, document: TextDocument, offset: int, new: str) -> list[tuple[TextDocument, list[Name]]]:
    """Return the places to replace by the new name, by document. Raises CannotRename."""
    name = renaming(document, offset)
    names = document.names
    pattern = _HOT_NAME if names.is_hot else _CFN_NAME
    if not pattern.fullmatch(new):
        raise CannotRename(f"{new!r} cannot be the name of an entry without quotes.")
    taken = (
        [NameKind.PARAMETER, NameKind.RESOURCE] if name.kind in (NameKind.PARAMETER, NameKind.RESOURCE) else [name.kind]
    )
    if any(new in names.declared(kind) for kind in taken):
        raise CannotRename(f"There is already an entry {new!r}.")
    return list(_by_document(project, document, name))


def symbols(document: TextDocument) -> list[Symbol]:
    """Return the sections with their entries."""
    return [_section(document, token) for token in document.outline.keys(())]


def _section(document: TextDocument, token: Token) -> Symbol:
    names, outline = document.names, document.outline
    kind = next((kind for kind in RENAMED if names.section(kind) == token.path[0]), None)
    children = tuple(_entry(document, entry, kind) for entry in outline.keys(token.path)) if kind else ()
    end = max((below.end for below in outline.below(token.path)), default=token.end)
    return Symbol(token, end, outline.text_at(token.path) or "", None, children)


def _entry(document: TextDocument, token: Token, kind: NameKind | None) -> Symbol:
    outline = document.outline
    end = max((below.end for below in outline.below(token.path)), default=token.end)
    key = document.names.resource_key("type")
    return Symbol(token, end, outline.text_at((*token.path, key)) or "", kind)


def _file(path: str) -> Location | None:
    return Location(path) if FilePath(path).is_file() else None


def _nested(project: Project, document: TextDocument, resource: str) -> TextDocument | None:
    written = document.names.type_of(resource)
    path = project.implementation(document, written, resource) if written else ""
    return project.document(path) if is_template_name(path) and not is_remote(path) else None


def _property_of_nested(project: Project, document: TextDocument, token: Token) -> Location | None:
    """Return the parameter of a nested template that a property gives the value of."""
    names, path = document.names, token.path
    is_property = len(path) == 4 and path[0] == names.section(NameKind.RESOURCE)
    if token.role is not Role.KEY or not is_property or path[2] != names.resource_key("properties"):
        return None
    nested = _nested(project, document, str(path[1]))
    declared = nested.names.parameters.get(str(path[3])) if nested else None
    return Location(nested.path, declared.start, declared.end) if nested and declared else None


def _output_of_nested(project: Project, document: TextDocument, name: Name) -> Location | None:
    nested = _nested(project, document, name.owner)
    output_name = name.text.removeprefix("Outputs.")
    declared = nested.names.declared(NameKind.OUTPUT).get(output_name) if nested else None
    return Location(nested.path, declared.start, declared.end) if nested and declared else None


def _in_environment(document: TextDocument, token: Token) -> Location | None:
    """Return the template that a value of an environment's registry names."""
    path = token.path
    if not document.is_environment or not path or path[0] != "resource_registry" or token.role is Role.KEY:
        return None
    base = document.outline.text_at(("resource_registry", "base_url")) or ""
    if not is_template_name(token.text) or is_remote(token.text) or is_remote(base):
        return None
    return _file(resolve_path(resolve_path(document.folder, base), token.text))


def _by_document(project: Project, document: TextDocument, name: Name) -> Iterator[tuple[TextDocument, list[Name]]]:
    """Yield the uses of a name in its document, and of a parameter as property in open templates that nest it."""
    yield document, document.names.uses(name)
    if name.kind is not NameKind.PARAMETER:
        return
    for path in project.opened():
        other = project.document(path)
        if other is None or path == document.path or other.names.version is None:
            continue
        found = [
            Name(NameKind.PARAMETER, name.text, key.start, key.end)
            for resource in other.names.resources
            if (key := other.outline.key(_property_path(other, resource, name.text))) is not None
            and (written := other.names.type_of(resource)) is not None
            and project.implementation(other, written, resource) == document.path
        ]
        if found:
            yield other, found


def _property_path(document: TextDocument, resource: str, name: str) -> tuple[str, str, str, str]:
    names = document.names
    return (names.section(NameKind.RESOURCE), resource, names.resource_key("properties"), name)
