"""Find what repeats in a generated template: resources that are equal but for a number in their names, and what belongs
to each of them. Every function here is pure.

A family has resources of one type whose properties have the same shape, each with a key that is the number in the name
of its object; a resource without one has the key of the only one that it refers to, or that refers to it. The families
whose resources refer to those with the same key form a cluster.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

FEWEST = 3
"""How often something is at least there that is written once."""
RESOURCE, PARAMETER, ATTRIBUTE = "get_resource", "get_param", "get_attr"
_FUNCTIONS = frozenset([RESOURCE, PARAMETER, ATTRIBUTE])
_VARIABLES = ("%key%", "%value", "%index%")
_NUMBER = re.compile(r"\d{1,64}")

Path: TypeAlias = "tuple[str | int, ...]"
Family: TypeAlias = "Hashable"
Keyed: TypeAlias = "dict[str, str]"
"""The names of a family's resources by their keys."""


@dataclass(frozen=True, eq=False)
class Repeatable:
    """A resource of a template: its name, that of its object, and its definition. `is_hidden` tells whether a value of
    it comes from a hidden parameter.
    """

    name: str
    shown_name: str
    definition: Mapping[str, Any]
    is_hidden: bool

    @property
    def object_name(self) -> str:
        """The name of the object, if that is a property: others have an address, say, which is none that was given."""
        return self.shown_name if self.definition.get("properties", {}).get("name") == self.shown_name else ""

    @cached_property
    def leaves(self) -> Mapping[Path, object]:
        """The values in its properties that have no other values in them, and references."""
        return dict(_leaves(self.definition.get("properties", {}), ()))

    @cached_property
    def shape(self) -> Hashable:
        """What equal resources have in common besides their values; None for one that cannot be written once."""
        texts = (each for each in self.leaves.values() if isinstance(each, str))
        if self.is_hidden or any(variable in text for text in texts for variable in _VARIABLES):
            return None
        rest = (self.definition["type"], self.definition.get("deletion_policy"))
        return (*rest, frozenset((path, kind_of(leaf)) for path, leaf in self.leaves.items()))

    def references(self) -> Iterator[tuple[Path, str]]:
        """Yield the resources that it refers to, with the places of the references."""
        for path, leaf in self.leaves.items():
            if (target := referred(leaf)) is not None:
                yield path, target[0]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Families with the same keys, each with its resources by key, that are written once. The first one names it."""

    keys: tuple[str, ...]
    families: tuple[Mapping[str, Repeatable], ...]


def clusters_in(resources: Mapping[str, Repeatable]) -> list[Cluster]:
    """Return what repeats at least `FEWEST` times, and which no other resource refers to."""
    families = _families(resources)
    while True:
        owner = {name: (family, key) for family, keyed in families.items() for key, name in keyed.items()}
        root = _joined(resources, families, owner)
        referred = _referred_from_outside(resources, owner, root)
        if not referred:
            break
        families = {family: keyed for family, keyed in families.items() if family not in referred}
    grouped: dict[Family, list[Keyed]] = defaultdict(list)
    for family, keyed in families.items():
        grouped[root[family]].append(keyed)
    return [_cluster(resources, members) for members in grouped.values()]


def referred(leaf: object) -> tuple[str, tuple[str, ...]] | None:
    """Return the resource that a value refers to, and the path to its attribute, which is empty for the resource
    itself; None for a value that refers to none.
    """
    if not isinstance(leaf, Mapping):
        return None
    if ATTRIBUTE in leaf:
        name, *path = leaf[ATTRIBUTE]
        return name, tuple(path)
    return (leaf[RESOURCE], ()) if RESOURCE in leaf else None


def reference(name: str, path: tuple[str, ...]) -> dict[str, Any]:
    """Return the reference to a resource, or to its attribute at a path."""
    return {ATTRIBUTE: [name, *path]} if path else {RESOURCE: name}


def _leaves(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    if value and isinstance(value, Mapping) and not (value.keys() <= _FUNCTIONS):
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif value and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, number))
    else:
        yield path, value


def kind_of(leaf: object) -> str:
    """Return the function that a value is, or the name of its type in Python."""
    return next(iter(leaf)) if isinstance(leaf, Mapping) and leaf else type(leaf).__name__


def _families(resources: Mapping[str, Repeatable]) -> dict[Family, Keyed]:
    found = _numbered(resources)
    while more := _following(resources, found):
        found |= more
    return found


def _numbered(resources: Mapping[str, Repeatable]) -> dict[Family, Keyed]:
    """Return the families of objects whose names differ in one number: each object is in its largest one."""
    possible: dict[Family, list[tuple[str, str]]] = defaultdict(list)
    for each in resources.values():
        for match in _NUMBER.finditer(each.object_name) if each.shape is not None else ():
            around = each.object_name[: match.start()], each.object_name[match.end() :]
            possible[each.shape, *around].append((match[0], each.name))
    return _distinct(possible, {})


def _following(resources: Mapping[str, Repeatable], known: Mapping[Family, Keyed]) -> dict[Family, Keyed]:
    """Return the families of other resources, each of which belongs to one resource of a known family."""
    owner = {name: (family, key) for family, keyed in known.items() for key, name in keyed.items()}
    possible: dict[Family, list[tuple[str, str]]] = defaultdict(list)
    for each in resources.values():
        for path, target in each.references():
            if target in owner and each.name not in owner and each.shape is not None:
                family, key = owner[target]
                possible["refers", each.shape, path, family].append((key, each.name))
            other = resources.get(target)
            if each.name in owner and target not in owner and other is not None and other.shape is not None:
                family, key = owner[each.name]
                possible["referred", other.shape, path, family].append((key, target))
    whole = {family: pairs for family, pairs in possible.items() if len(pairs) == len(known[_last(family)])}
    return _distinct(whole, owner)


def _last(family: Any) -> Family:
    found: Family = family[-1]
    return found


def _distinct(possible: Mapping[Family, list[tuple[str, str]]], taken: Mapping[str, object]) -> dict[Family, Keyed]:
    """Return the families that are large enough, and whose keys and resources are distinct; the largest ones first."""
    found: dict[Family, Keyed] = {}
    used = set(taken)
    for family, pairs in sorted(possible.items(), key=lambda item: (-len(item[1]), item[1])):
        free = {key: name for key, name in pairs if name not in used}
        if len(free) >= FEWEST and len(free) == len(set(free.values())) == len(pairs):
            found[family] = free
            used |= set(free.values())
    return found


def _joined(
    resources: Mapping[str, Repeatable], families: Mapping[Family, Keyed], owner: Mapping[str, tuple[Family, str]]
) -> dict[Family, Family]:
    """Return one family of each cluster, by each family in it."""
    root = {family: family for family in families}
    for name, (family, key) in owner.items():
        for _, target in resources[name].references():
            other, other_key = owner.get(target, (None, ""))
            if other is not None and key == other_key and families[family].keys() == families[other].keys():
                former, new = root[other], root[family]
                root = {each: new if family_root == former else family_root for each, family_root in root.items()}
    return root


def _referred_from_outside(
    resources: Mapping[str, Repeatable], owner: Mapping[str, tuple[Family, str]], root: Mapping[Family, Family]
) -> set[Family]:
    """Return the families with a resource that one outside of its member refers to."""
    found = set()
    for each in resources.values():
        family, key = owner.get(each.name, (None, ""))
        for _, target in each.references():
            other, other_key = owner.get(target, (None, ""))
            if other is not None and (family is None or key != other_key or root[family] != root[other]):
                found.add(other)
    return found


def _cluster(resources: Mapping[str, Repeatable], members: list[Keyed]) -> Cluster:
    keys = sorted(members[0], key=lambda key: (int(key), key))
    referred = {target for keyed in members for name in keyed.values() for _, target in resources[name].references()}

    def rank(keyed: Keyed) -> tuple[bool, bool, int]:
        first = resources[keyed[keys[0]]]
        return first.name in referred, not first.object_name, -len(first.leaves)

    ordered = sorted(members, key=rank)
    return Cluster(tuple(keys), tuple({key: resources[keyed[key]] for key in keys} for keyed in ordered))
