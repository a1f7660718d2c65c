"""Generate the page of one resource type from its declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from stoker.api.policies import ADMIN_ROLE, RULE_SETS
from stoker.authoring.constraint_words import ACCEPTED, accepted, rules
from stoker.plugins.live_values import has_object, live_values
from stoker.plugins.recovery import OWN_RECORD, Recovery
from stoker.plugins.resource import ResourceType
from stoker.schema.live import Live
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker_reference.markdown import code, entry, page, section, sentence
from stoker_reference.type_references import inner_schema

_RULES_FOR_ADMINISTRATORS = tuple(
    name
    for rules in RULE_SETS
    if rules.check == ADMIN_ROLE
    for name in rules.names
    if name.startswith("resource_types:")
)

CHANGES = {
    Change.UPDATE: "updated in place",
    Change.REPLACE: "a change replaces the resource",
    Change.REFUSE: "a change is refused",
}


@dataclass(frozen=True, slots=True)
class TypePage:
    """What a page shows besides the declarations.

    `example` is a template as YAML, `users` the types whose properties accept resources of this type, with the paths of
    these properties; `shown` are the types that have pages.
    """

    example: str
    users: Mapping[str, list[str]]
    shown: frozenset[str]

    def text(self, name: str, kind: ResourceType) -> str:
        """Return the page of the type `name`."""
        return page(
            name,
            sentence(kind.description),
            "\n".join(f"- {fact}" for fact in _facts(kind)),
            section("Example", f"```yaml\n{self.example}```"),
            section("Properties", self._properties(kind)),
            section("Update policy", _update_policy(kind)),
            section("Attributes", _attributes(kind.attributes)),
            section("Used by", self._users()),
            section("After a crash", _after_crash(kind)),
        )

    def _properties(self, kind: ResourceType) -> str:
        if kind.any_properties:
            return "Accepts any properties without validation."
        live = live_values(kind) if has_object(kind) else {}
        listed = "\n\n".join(_entries(kind.properties, "", self.shown, live=live))
        nested = any(inner_schema(prop)[0] for prop in kind.properties.values())
        return f"{_NESTED}\n\n{listed}" if nested and listed else listed

    def _users(self) -> str:
        return "\n".join(
            f"- {link(user)}: {', '.join(code(path) for path in paths)}" for user, paths in sorted(self.users.items())
        )


_OTHERS = "; what others add to it is no difference"
_NESTED = "Nested properties are indented; a change of one has the effect of a change of the property around it."


def file_name(type_name: str) -> str:
    """Return a file name: `os-neutron-net` for `OS::Neutron::Net`."""
    return type_name.lower().replace("::", "-")


def link(type_name: str) -> str:
    """Return a link to the page of a type."""
    return f"[{type_name}](/generated/types/{file_name(type_name)}.md)"


def way_of(kind: ResourceType) -> Recovery:
    """Return how a type finds the object of an interrupted creation."""
    way = OWN_RECORD if kind.local else kind.recovery
    assert way is not None, f"{kind} does not declare how it recovers; the registry refuses such a type"
    return way


def _facts(kind: ResourceType) -> Iterator[str]:
    if kind.service:
        extension = f", with its extension {code(kind.extension)}" if kind.extension else ""
        yield f"Needs the service {code(kind.service)}{extension}."
    if kind.for_administrators:
        yield "For administrators: by its default policies, the service lets nobody else create objects of this type."
    for rule in _RULES_FOR_ADMINISTRATORS:
        if fnmatchcase(f"resource_types:{kind.type_name}", rule):
            yield f"By default, the [policy rule](/generated/permissions.md) {code(rule)} refuses it to other users."
    yield from (f"{words}." for words in _support(kind.support))
    if kind.nested:
        yield "A resource of this type is a nested stack."
    abilities = [
        words
        for words, able in (
            ("can be checked", kind.checkable),
            ("receives signals", kind.signalable),
            ("supports deletion with a snapshot (`deletion_policy: Snapshot`)", kind.snapshot_on_delete),
        )
        if able
    ]
    if abilities:
        yield f"{', '.join(abilities).capitalize().replace('snapshot`', 'Snapshot`')}."


def _support(support: Support) -> Iterator[str]:
    """Yield the support status without a final period, empty for what has always been supported."""
    if support.status != "SUPPORTED":
        since = f" since {support.version}" if support.version else ""
        why = f": {sentence(support.message).rstrip('.')}" if support.message else ""
        yield f"{support.status.capitalize()}{since}{why}"
    elif support.version:
        yield f"Since {support.version}"


def _entries(
    schema: Mapping[str, Property],
    above: str,
    shown: frozenset[str],
    *,
    nested: bool = False,
    live: Mapping[str, Live] | None = None,
) -> Iterator[str]:
    """Yield one entry of a definition list per property, with the properties inside it indented."""
    for name, prop in schema.items():
        if prop.support.status == "HIDDEN":
            continue
        path = f"{above}{name}"
        inner, _ = inner_schema(prop)
        facts = [_type_of(prop), *(["**required**"] if prop.required else ())]
        facts += [] if nested else [CHANGES[prop.change]]
        body = [" · ".join([*facts, *map(_lower, _support(prop.support))])]
        body += [" ".join([*_notes(prop, shown), *_compared((live or {}).get(name))])]
        body += list(_entries(inner, f"{path}.", shown, nested=True))
        yield entry(name, _anchor(path), body)


def _anchor(path: str) -> str:
    """Return the anchor of a property: `networks.port` gives `prop-networks-port`."""
    return "prop-" + "".join(char if char.isalnum() or char in "_-" else "-" for char in path)


def _lower(words: str) -> str:
    return f"{words[0].lower()}{words[1:]}"


def _upper(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _type_of(prop: Property) -> str:
    name = str(prop.type).lower()
    if prop.type is not Type.LIST:
        return name
    if prop.items is not None:
        return f"list of {str(prop.items.type).lower()}s"
    return "list of strings" if prop.strings else name


def _notes(prop: Property, shown: frozenset[str]) -> Iterator[str]:
    if prop.description:
        yield sentence(prop.description)
    if not prop.implemented:
        yield "Not implemented: it is accepted for old templates and has no effect."
    if prop.default is not None:
        yield f"Default: {code(prop.default)}."
    yield from (f"{_upper(rule)}." for rule in rules(prop, code, lambda name: _accepted(name, shown)))
    if prop.replaces:
        yield f"Older name: {code(prop.replaces)}."


def _compared(live: Live | None) -> Iterator[str]:
    """Yield how the live value is known, for comparisons with the cloud; nothing where there is nothing to compare."""
    if live is None:
        return
    why = f": {live.reason}" if live.reason else ""
    yield f"Live value: {live.how}{why}{_OTHERS if live.shared else ''}."


def _accepted(name: str, shown: frozenset[str]) -> str:
    """Return what a custom constraint accepts; a package may bring constraints that are not in the table."""
    links = " or ".join(link(kind) for kind in ACCEPTED[name].types if kind in shown) if name in ACCEPTED else ""
    known = f" ({f'{links}, ' if links else ''}constraint {code(name)})" if name in ACCEPTED else ""
    return f"{accepted(name)}{known}"


def _update_policy(kind: ResourceType) -> str:
    return "\n\n".join(_entries(kind.update_policy, "update_policy.", frozenset(), nested=True))


def _attributes(attributes: Mapping[str, Attribute]) -> str:
    return "\n\n".join(
        entry(
            name,
            f"attr-{name}",
            [" · ".join([_attribute_type(item), *map(_lower, _support(item.support))]), sentence(item.description)],
        )
        for name, item in attributes.items()
        if item.support.status != "HIDDEN"
    )


def _attribute_type(item: Attribute) -> str:
    return str(item.type).lower() if item.type else "any type"


def _after_crash(kind: ResourceType) -> str:
    way = way_of(kind)
    return f"Found by {way.by.value}. {sentence(way.why)}"
