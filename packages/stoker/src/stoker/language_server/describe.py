"""Descriptions in Markdown: of resource types, properties, attributes, functions and declarations."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.authoring.constraint_words import rules
from stoker.language_server.names import Name, NameKind
from stoker.language_server.outline import Role, Token
from stoker.language_server.project import Project, TextDocument
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Change, Property, Support
from stoker.template.functions.registered import functions
from stoker.template.versions import Version
from stoker.template.yaml_reader import SHORT_TAGS

_MOST_LINES = 20
_CHANGES: Mapping[Change, str] = {
    Change.UPDATE: "A change updates the resource in place.",
    Change.REPLACE: "A change replaces the resource.",
    Change.REFUSE: "It cannot be changed.",
}


def of_type(kind: ResourceType) -> str:
    """Describe a resource type."""
    required = [f"`{name}`" for name, prop in kind.properties.items() if prop.required]
    return _paragraphs(
        f"**{kind.type_name}**",
        kind.description,
        _support(kind.support),
        f"Required properties: {', '.join(required)}" if required else "",
        f"Attributes: {', '.join(f'`{name}`' for name in kind.attributes)}" if kind.attributes else "",
    )


def of_property(name: str, prop: Property) -> str:
    """Describe a property of a resource."""
    head = f"**{name}** · {prop.type.value.lower()}{' · required' if prop.required else ''}"
    default = "" if prop.default is None or prop.secret else f"Default: `{_shown(prop.default)}`"
    limits = [f"{rule[0].upper()}{rule[1:]}." for rule in rules(prop, lambda value: f"`{_shown(value)}`")]
    keys = f"Keys: {', '.join(f'`{key}`' for key in prop.schema)}" if prop.schema else ""
    return _paragraphs(head, prop.description, _support(prop.support), default, *limits, keys, _CHANGES[prop.change])


def of_attribute(name: str, attribute: Attribute) -> str:
    """Describe an attribute of a resource."""
    kind = f" · {attribute.type.value.lower()}" if attribute.type else ""
    return _paragraphs(f"**{name}**{kind}", attribute.description, _support(attribute.support))


def of_function(name: str, version: Version) -> str | None:
    """Describe a function of a template of this version; None if it has none of this name."""
    found = {**version.condition_functions, **version.rule_functions, **version.functions}.get(name)
    if found is None:
        return None
    return _paragraphs(f"**{name}**", " ".join((functions()[found].__doc__ or "").split()))


def of_declaration(document: TextDocument, token: Token) -> str:
    """Show the lines of a declaration."""
    end = max((below.end for below in document.outline.below(token.path)), default=token.end)
    start = document.text.rfind("\n", 0, token.start) + 1
    lines = document.text[start:end].splitlines()
    cut = [*lines[:_MOST_LINES], "…"] if len(lines) > _MOST_LINES else lines
    margin = min((len(line) - len(line.lstrip()) for line in cut if line.strip() and line != "…"), default=0)
    language = "json" if document.is_json else "yaml"
    body = "\n".join(line[margin:] if line != "…" else line for line in cut)
    return f"```{language}\n{body}\n```"


def hover(project: Project, document: TextDocument, offset: int) -> tuple[str, Token] | None:
    """Return the description of what stands at an offset, with its token; None if there is nothing to describe."""
    token = document.outline.at(offset)
    if token is None:
        return None
    name = document.names.at(offset)
    text = (name and _of_name(project, document, name)) or _of_key(project, document, token)
    return (text, token) if text else None


def _of_name(project: Project, document: TextDocument, name: Name) -> str | None:
    names = document.names
    if name.kind is NameKind.TYPE or name.kind is NameKind.FILE:
        kind = project.kind_named(document, name.text)
        return of_type(kind) if kind else None
    if name.kind is NameKind.ATTRIBUTE:
        kind = project.kind(document, name.owner)
        attribute = kind.attributes.get(name.text) if kind else None
        return of_attribute(name.text, attribute) if attribute else None
    declared = names.declared(name.kind).get(name.text)
    if declared is None or declared.start == name.start:
        kind = project.kind(document, name.text) if declared and name.kind is NameKind.RESOURCE else None
        return of_type(kind) if kind else None
    return of_declaration(document, declared)


def _of_key(project: Project, document: TextDocument, token: Token) -> str | None:
    """Describe the function or the property that a key names, or a value belongs to."""
    names, path = document.names, token.path
    if names.version is None or not path:
        return None
    last = SHORT_TAGS.get(token.text, path[-1])
    if isinstance(last, str) and (found := of_function(last, names.version)) and len(path) > 2:
        return found
    if len(path) > 3 and path[0] == names.section(NameKind.RESOURCE) and path[2] == names.resource_key("properties"):
        inner = project.kind_named(document, token.text) if path[-1] == names.resource_key("type") else None
        if inner is not None and token.role is Role.VALUE:
            return of_type(inner)
        prop = project.property(document, path)
        named = [part for part in path if isinstance(part, str)]
        return of_property(named[-1], prop) if prop else None
    return None


def _support(support: Support) -> str:
    if support.status == "SUPPORTED":
        return ""
    return f"*{support.status.capitalize()}.* {support.message or ''}".strip()


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
