"""What a template declares, and where it refers to it: parameters, resources, conditions, mappings, files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from stoker.base.diagnostics import Path
from stoker.language_server.outline import Outline, Role, Token
from stoker.template.document import named_formats
from stoker.template.environment import SECTIONS as ENVIRONMENT_SECTIONS
from stoker.template.registry import is_template_name
from stoker.template.versions import CFN, HOT, Dialect, Version, by_name

PLACE_IN_SUB = re.compile(r"\$\{([^!}\s][^}\n]*)\}")


class NameKind(StrEnum):
    """The kinds of names; those of declarations are HOT's names of their sections."""

    PARAMETER = "parameters"
    RESOURCE = "resources"
    CONDITION = "conditions"
    MAPPING = "mappings"
    OUTPUT = "outputs"
    ATTRIBUTE = "attribute"
    TYPE = "type"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Name:
    """A name at a place in a template; of an ATTRIBUTE, `owner` is the resource."""

    kind: NameKind
    text: str
    start: int
    end: int
    owner: str = ""


_BY_FUNCTION: Mapping[str, tuple[NameKind, ...]] = {
    "get_param": (NameKind.PARAMETER,),
    "get_resource": (NameKind.RESOURCE,),
    "get_attr": (NameKind.RESOURCE, NameKind.ATTRIBUTE),
    "get_file": (NameKind.FILE,),
    "if": (NameKind.CONDITION,),
    "Ref": (NameKind.RESOURCE,),
    "Fn::GetAtt": (NameKind.RESOURCE, NameKind.ATTRIBUTE),
    "Fn::If": (NameKind.CONDITION,),
    "Fn::FindInMap": (NameKind.MAPPING,),
    "Fn::ValueOf": (NameKind.PARAMETER,),
    "Condition": (NameKind.CONDITION,),
}
"""What the first arguments of functions name; a single argument need not be in a list."""

_CONNECTIVES = ("and", "or", "not")


@dataclass(frozen=True)
class TemplateNames:
    """The names in a template; `dialect` is None for an environment and for other documents."""

    outline: Outline

    @cached_property
    def version(self) -> Version | None:
        """The version of the template; the newest one of the dialect if the stated one does not exist."""
        top = {str(token.path[-1]): self.outline.text_at(token.path) or "" for token in self.outline.keys(())}
        for key, value in named_formats(top).items():
            known = [version for (name, _), version in by_name().items() if name == key]
            found = by_name().get((key, value)) or known[-1]
            return found.extended if "Transform" in top else found
        return None

    @property
    def dialect(self) -> Dialect | None:
        """The template's names of sections and keys."""
        return self.version.dialect if self.version else None

    @property
    def is_hot(self) -> bool:
        """Whether this is a HOT template."""
        return self.dialect is HOT

    @property
    def is_environment(self) -> bool:
        """Whether this is an environment: a document with sections of environments alone, or with one that no other
        kind of document has.
        """
        top = {str(token.path[-1]) for token in self.outline.keys(())}
        own = top.intersection(("resource_registry", "parameter_defaults"))
        return self.version is None and bool(own or (top and top <= set(ENVIRONMENT_SECTIONS)))

    def section(self, kind: NameKind) -> str:
        """Return the template's name of a section."""
        dialect = self.dialect or HOT
        return dialect.sections.get(kind, CFN.sections.get(kind, kind.value))

    def declared(self, kind: NameKind) -> Mapping[str, Token]:
        """Return the keys of a section by name."""
        return {str(token.path[-1]): token for token in reversed(self.outline.keys((self.section(kind),)))}

    @cached_property
    def resources(self) -> Mapping[str, Token]:
        """The resources by name."""
        return self.declared(NameKind.RESOURCE)

    @cached_property
    def parameters(self) -> Mapping[str, Token]:
        """The parameters by name."""
        return self.declared(NameKind.PARAMETER)

    def resource_key(self, name: str) -> str:
        """Return the template's name of a key of resources: `Type` for `type`."""
        dialect = self.dialect or HOT
        return dialect.resource_keys.get(name, name)

    def type_of(self, resource: str) -> str | None:
        """Return the type of a resource as it is written; None if it is missing."""
        return self.outline.text_at((self.section(NameKind.RESOURCE), resource, self.resource_key("type")))

    def at(self, offset: int) -> Name | None:
        """Return the name at an offset."""
        token = self.outline.at(offset)
        found = self.of_token(token) if token else ()
        return next((name for name in found if name.start <= offset <= name.end), None)

    def uses(self, name: Name) -> list[Name]:
        """Return the places of a name, that of its declaration included, from top to bottom."""
        return [
            found
            for token in self.outline.tokens
            for found in self.of_token(token)
            if (found.kind, found.text, found.owner) == (name.kind, name.text, name.owner)
        ]

    def of_token(self, token: Token) -> Iterator[Name]:
        """Yield the names in a token."""
        path = token.path
        if token.role is Role.KEY:
            yield from self._declaration(token)
            return
        if not path or self.dialect is None:
            return
        section, is_resource = path[0], len(path) > 2 and path[0] == self.section(NameKind.RESOURCE)
        if is_resource and path[2:] == (self.resource_key("type"),):
            yield self._named(NameKind.FILE if is_template_name(token.text) else NameKind.TYPE, token)
        elif is_resource and path[2] == self.resource_key("depends_on"):
            yield self._named(NameKind.RESOURCE, token)
        elif len(path) == 3 and path[2] in (self.resource_key("condition"),):
            yield self._named(NameKind.CONDITION, token)
        elif section == "parameter_groups":
            if len(path) > 2 and path[2] == "parameters":
                yield self._named(NameKind.PARAMETER, token)
        elif section not in (self.section(NameKind.PARAMETER), self.section(NameKind.MAPPING)):
            yield from self._arguments(token)

    def _declaration(self, token: Token) -> Iterator[Name]:
        if len(token.path) == 2:
            for kind in (NameKind.PARAMETER, NameKind.RESOURCE, NameKind.CONDITION, NameKind.MAPPING, NameKind.OUTPUT):
                if token.path[0] == self.section(kind) and self.dialect is not None:
                    yield self._named(kind, token)

    def _arguments(self, token: Token) -> Iterator[Name]:
        function, index = function_at(token.path)
        if function == "Fn::Sub" and index == 0:
            yield from self._in_sub(token)
        elif function == "Fn::GetAtt" and isinstance(token.path[-1], str):
            yield from self._dotted(token.text, token.start)
        elif function in _CONNECTIVES and token.path[0] == self.section(NameKind.CONDITION):
            yield self._named(NameKind.CONDITION, token)
        elif function in _BY_FUNCTION and index < len(_BY_FUNCTION[function]):
            kind = _BY_FUNCTION[function][index]
            owner = ""
            if kind is NameKind.ATTRIBUTE:
                owner = self.outline.text_at((*token.path[:-1], 0)) or ""
            elif function == "Ref":
                kind = self._kind_of(token.text)
            yield self._named(kind, token, owner)

    def _kind_of(self, name: str) -> NameKind:
        return NameKind.PARAMETER if name in self.parameters and name not in self.resources else NameKind.RESOURCE

    def _in_sub(self, token: Token) -> Iterator[Name]:
        """Yield the names in a string with `${…}`, except those that the call's own map defines."""
        own: set[str] = set()
        if token.path[-1] == 0:
            own = {str(key.path[-1]) for key in self.outline.keys((*token.path[:-1], 1))}
        for found in PLACE_IN_SUB.finditer(token.text):
            name = found[1].strip()
            start = token.start + found.start(1) + found[1].index(name)
            if name in own:
                continue
            if "." in name:
                yield from self._dotted(name, start)
            else:
                yield Name(self._kind_of(name), name, start, start + len(name))

    @staticmethod
    def _dotted(text: str, start: int) -> Iterator[Name]:
        resource, dot, attribute = text.partition(".")
        yield Name(NameKind.RESOURCE, resource, start, start + len(resource))
        if dot:
            begin = start + len(resource) + 1
            yield Name(NameKind.ATTRIBUTE, attribute, begin, begin + len(attribute), resource)

    @staticmethod
    def _named(kind: NameKind, token: Token, owner: str = "") -> Name:
        return Name(kind, token.text, token.start, token.end, owner)


def function_at(path: Path) -> tuple[str, int]:
    """Return the last function in the path of an argument, and the argument's index: 0 for a single one."""
    if isinstance(path[-1], int):
        return (str(path[-2]), path[-1]) if len(path) > 1 and isinstance(path[-2], str) else ("", 0)
    return str(path[-1]), 0
