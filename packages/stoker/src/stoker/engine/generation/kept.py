"""Generate the template that a project keeps: from objects that were read now, and others that were read before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Self

from stoker.cloud.session import Cloud
from stoker.engine.generation.descriptions import describe
from stoker.engine.generation.notation import CFN, HOT, Notation
from stoker.engine.generation.scan import Found, Scan, Scanned, scan
from stoker.engine.generation.template import Generated, Style, free_name, name_of, write
from stoker.store.records import COMPLETE, FAILED, PENDING

Functions = Callable[[Notation], Sequence[str]]
Evaluate = Callable[[Callable[[], Generated]], Awaitable[Generated]]
"""Returns what a function returns that writes a template."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A resource of a kept template. `name` is None until it has one, `values` are those of its properties, None until
    the object has been read; `dropped` are properties that were left out, with the reasons. `object_name` is the name
    of the object.
    """

    type: str
    id: str
    name: str | None
    object_name: str = ""
    values: Mapping[str, Any] | None = None
    dropped: Mapping[str, str] = field(default_factory=dict)
    status: str = PENDING
    reason: str = ""

    def to_data(self) -> dict[str, Any]:
        """Return plain data, which `of_data` reads."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """Return the item of `to_data`."""
        return cls(**data)

    @property
    def key(self) -> tuple[str, str]:
        """The object."""
        return self.type, self.id


@dataclass(frozen=True)
class Base:
    """The template of a stack to which resources are added. `owned` are the names of the resources that own objects, by
    type and ID; `finders` are what other properties refer to the objects of types as.
    """

    template: Mapping[str, Any]
    owned: Mapping[tuple[str, str], str] = field(default_factory=dict)
    finders: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def notation(self) -> Notation:
        """The format of the template, and of what is added to it."""
        return HOT if "heat_template_version" in self.template else CFN

    def section(self, name: str) -> Mapping[str, object]:
        """Return a section of the template, empty if it has none."""
        found: Mapping[str, object] = self.template.get(name) or {}
        return found

    @property
    def taken(self) -> set[str]:
        """The names of resources and parameters."""
        return {*self.section(self.notation.resources), *self.section(self.notation.parameters)}

    def references(self) -> dict[tuple[str, str], str]:
        """Return the names of the resources by what refers to their objects, and the IDs of these."""
        return {
            (finder, identifier): name
            for (type_name, identifier), name in self.owned.items()
            if (finder := self.finders.get(type_name)) is not None
        }


@dataclass(frozen=True)
class Order:
    """What is generated: `items` from types that are `scanned`, onto a base, with the policies of resources."""

    items: Sequence[Item]
    scanned: Sequence[Scanned]
    base: Base
    deletion_policy: str
    update_replace_policy: str | None


async def generate(
    order: Order, cloud: Cloud, project_id: str, functions: Functions, evaluate: Evaluate
) -> tuple[list[Item], dict[str, object]]:
    """Return the items, each COMPLETE or FAILED, and the template with all that are complete."""
    base, kinds = order.base, {each.kind.type_name: each for each in order.scanned}
    items = [_in_base(item, base) for item in order.items]
    missing = [item for item in items if item.values is None and item.key not in base.owned]
    if missing:
        read = await _read(missing, cloud, order.scanned, project_id)
        items = [read.get(item.key, item) for item in items]
    found = {
        Found(kinds[item.type], item.id, item.object_name, {}): item
        for item in items
        if item.values is not None and item.key not in base.owned
    }
    named = {each: item.name for each, item in found.items() if item.name is not None}
    style = Style(
        notation=base.notation,
        deletion_policy=order.deletion_policy,
        update_replace_policy=order.update_replace_policy,
        chosen=named,
        present=base.references(),
        taken=base.taken,
    )
    described = {each: item.values or {} for each, item in found.items()}
    written: Generated = await evaluate(partial(write, described, (), functions(base.notation), style))
    names = {(each.type_name, each.id): name for each, name in written.names.items()}
    done = _named([replace(item, name=names.get(item.key, item.name)) for item in items], kinds, base)
    return done, _merged(base, base.notation.with_defaults(written.template, written.environment.get("parameters", {})))


def _in_base(item: Item, base: Base) -> Item:
    """Return an item with what the base says of it: one whose object a resource of it owns stays as it is there."""
    if item.key in base.owned:
        return replace(item, name=base.owned[item.key], status=COMPLETE, reason="", values=None, dropped={})
    return replace(item, name=None) if item.name in base.taken else item


async def _read(
    missing: Sequence[Item], cloud: Cloud, scanned: Iterable[Scanned], project_id: str
) -> dict[tuple[str, str], Item]:
    """Read objects, and return their items."""
    missing_by_key = {item.key: item for item in missing}
    read = await scan(cloud, scanned, lambda each: True)
    found = {(each.type_name, each.id): each for each in read.found if (each.type_name, each.id) in missing_by_key}
    able = [each for each in found.values() if not each.reason]
    described, dropped = await describe(cloud, able, read.found, project_id)
    done: dict[tuple[str, str], Item] = {}
    for key, item in missing_by_key.items():
        each = found.get(key)
        if each is None:
            done[key] = replace(item, status=FAILED, reason=_absence(read, item))
        elif each.reason:
            done[key] = replace(item, status=FAILED, reason=each.reason, object_name=each.name)
        else:
            done[key] = replace(
                item,
                status=COMPLETE,
                reason="",
                object_name=each.name,
                values=described[each],
                dropped=dict(dropped.get(each, {})),
            )
    return done


def _absence(read: Scan, item: Item) -> str:
    unread = next((each.reason for each in read.unread if item.type in each.types), None)
    return f"its service did not list it: {unread}" if unread else "the project has no such object"


def _named(items: Sequence[Item], kinds: Mapping[str, Scanned], base: Base) -> list[Item]:
    """Give names to items that have none, as they failed."""
    taken = {*base.taken, *(item.name for item in items if item.name is not None)}
    done = []
    for item in items:
        if item.name is None:
            name = free_name(base.notation, name_of(Found(kinds[item.type], item.id, item.object_name, {})), taken)
            taken.add(name)
            item = replace(item, name=name)
        done.append(item)
    return done


def _merged(base: Base, template: Mapping[str, Any]) -> dict[str, object]:
    """Return the template of the base with what was written."""
    merged = {**template, **base.template}
    for section in (base.notation.parameters, base.notation.resources):
        if parts := {**base.section(section), **(template.get(section) or {})}:
            merged[section] = parts
    return merged
