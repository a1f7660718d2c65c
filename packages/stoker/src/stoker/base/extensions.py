"""Extensions: the objects that installed packages offer in groups of entry points, Stoker's own package like any other.

The metadata of the installed packages are read once in a process, and a group is loaded when it is needed first. What
packages may offer is described in docs/how-to/write-a-plug-in.md, the format of entry points in the Python Packaging
User Guide.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any, Generic, TypeVar

from stoker.base.errors import StokerError

LOG = logging.getLogger(__name__)

Object = TypeVar("Object")
Made = TypeVar("Made")

_OWN_PACKAGE = "stoker"
_FILE = "entry_points.txt"


class PluginInvalid(StokerError):
    """Plug-ins cannot be used; `problems` has one sentence per problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("Plug-ins cannot be used:\n" + "\n".join(f"  {problem}" for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Offer(Generic[Object]):
    """What one package offers under one name; the name is an entry point's, or a key of an entry point's mapping."""

    name: str
    value: Object
    package: str
    entry_point: str

    @property
    def origin(self) -> str:
        """The package and its entry point, for messages."""
        return f"{self.package} ({self.entry_point})"

    @property
    def own(self) -> bool:
        """Whether it is a part of Stoker itself."""
        return self.package == _OWN_PACKAGE


_derived: list[Callable[[], None]] = []


def remembered(make: Callable[[], Made]) -> Callable[[], Made]:
    """Decorator of functions without arguments: make a value from extensions when it is needed first, and keep it."""
    cached = cache(make)
    _derived.append(cached.cache_clear)
    return cached


def forget() -> None:
    """Read everything again when it is needed next: packages have been installed or removed."""
    for clear in _derived:
        clear()
    _loaded.cache_clear()


@remembered
def _declared() -> Mapping[str, list[tuple[str, metadata.EntryPoint]]]:
    """Every entry point of a group whose name begins with `stoker.`, with its package, by group."""
    groups: dict[str, list[tuple[str, metadata.EntryPoint]]] = {}
    packages: set[str] = set()
    for distribution in metadata.distributions():
        if f"[{_OWN_PACKAGE}." not in (distribution.read_text(_FILE) or ""):
            continue
        package = str(distribution.metadata["Name"])
        if package in packages:  # the one that comes first on the path is the one that is imported
            continue
        packages.add(package)
        for entry_point in distribution.entry_points:
            groups.setdefault(entry_point.group, []).append((package, entry_point))
    for found in groups.values():
        found.sort(key=lambda item: (item[0] != _OWN_PACKAGE, item[0], item[1].name))
    return groups


@cache
def _loaded(group: str) -> tuple[tuple[Offer[object], ...], tuple[str, ...]]:
    """The objects of a group's entry points, and the problems of those that cannot be loaded."""
    offers: list[Offer[object]] = []
    problems: list[str] = []
    for package, entry_point in _declared().get(group, ()):
        place = f"{group}: {entry_point.name} = {entry_point.value}"
        try:
            offers.append(Offer(entry_point.name, entry_point.load(), package, place))
        except Exception as error:
            LOG.debug("%s: %s cannot be loaded", package, place, exc_info=True)
            problems.append(not_loaded(package, place, error))
    return tuple(offers), tuple(problems)


def not_loaded(package: str, place: str, error: Exception) -> str:
    """Return the message about a plug-in at `place` (an entry point) that cannot be imported."""
    return (
        f"{package} ({place}): the plug-in cannot be loaded: {type(error).__name__}: {error}; install a "
        f"release of {package} that works with this release of Stoker, or uninstall it"
    )


def offers(group: str) -> tuple[Offer[Any], ...]:
    """Return the objects of a group's entry points: those of Stoker's own package first, then by package and name.

    Raises PluginInvalid when one of them cannot be loaded.
    """
    found, problems = _loaded(group)
    if problems:
        raise PluginInvalid(problems)
    return found


def working_offers(group: str) -> tuple[Offer[object], ...]:
    """As `offers`, for groups in which a plug-in may be missing: what cannot be loaded is logged, and left out."""
    found, problems = _loaded(group)
    for problem in problems:
        LOG.error("%s", problem)
    return found


def entries(found: Iterable[Offer[Any]], kind: type[Object]) -> Iterator[Offer[Object]]:
    """Yield the entries of mappings from names to objects of a kind, which the entry points of most groups refer to.

    Raises PluginInvalid for an object of another kind, and for a name that two packages offer.
    """
    known: dict[str, Offer[Object]] = {}
    problems: list[str] = []
    for offer in found:
        if not isinstance(offer.value, Mapping):
            problems.append(f"{offer.origin}: must be a mapping from names to {kind.__name__} objects")
            continue
        for name, value in offer.value.items():
            entry = Offer(str(name), value, offer.package, offer.entry_point)
            if not isinstance(value, kind):
                problems.append(f"{offer.origin}: {name!r} must be a {kind.__name__}, not {type(value).__name__}")
            elif name in known and known[name].value is not value:
                problems.append(twice(name, known[name], entry))
            else:
                known[name] = entry
    if problems:
        raise PluginInvalid(problems)
    yield from known.values()


def twice(name: str, first: Offer[Any], second: Offer[Any]) -> str:
    """Return the message about a name that two packages offer."""
    return (
        f"{name!r} is offered by {first.origin} and by {second.origin}; uninstall one of the packages, or install a "
        f"release of {second.package} that uses another name"
    )


def table(group: str, kind: type[Object]) -> Mapping[str, Object]:
    """Return the objects that all packages offer in a group of mappings, by name.

    Raises PluginInvalid, also when there are none: Stoker's own are registered in the same way.
    """
    found = {entry.name: entry.value for entry in entries(offers(group), kind)}
    if not found:
        raise PluginInvalid(
            [f"no installed package has an entry point in {group}, not even Stoker itself: install Stoker again"]
        )
    return found
