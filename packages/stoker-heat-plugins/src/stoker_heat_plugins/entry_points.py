"""What packages offer for Heat by entry points: lifecycle plug-ins and event sinks, by name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import metadata
from typing import Generic, TypeVar

from stoker.base.extensions import PluginInvalid
from stoker_heat_plugins.event_sink import HeatEventSink
from stoker_heat_plugins.lifecycle import HeatLifecyclePlugin

LOG = logging.getLogger(__name__)

Made = TypeVar("Made")


class Offered(Mapping[str, Made], Generic[Made]):
    """The objects of one group, made by `make` from what its entry points refer to, when they are needed first."""

    def __init__(self, group: str, make: Callable[[object], Made], *, required: bool) -> None:
        """Those that cannot be loaded prevent the start if they are `required`, and are logged otherwise."""
        self._group, self._make, self._required = group, make, required

    @cached_property
    def _made(self) -> Mapping[str, Made]:
        made: dict[str, Made] = {}
        problems: list[str] = []
        for entry_point in metadata.entry_points(group=self._group):
            try:
                made[entry_point.name] = self._make(entry_point.load())
            except Exception as error:
                problems.append(
                    f"{package_of(entry_point)} ({self._group}: {entry_point.name} = {entry_point.value}): the plug-in "
                    f"cannot be loaded: {type(error).__name__}: {error}"
                )
        if problems and self._required:
            raise PluginInvalid(problems)
        for problem in problems:
            LOG.error("%s", problem)
        return made

    def __getitem__(self, name: str) -> Made:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def forget(self) -> None:
        """Read the entry points again when they are needed next."""
        self.__dict__.pop("_made", None)


def package_of(entry_point: metadata.EntryPoint) -> str:
    """Return the name of the package that an entry point belongs to."""
    return str(entry_point.dist.metadata["Name"]) if entry_point.dist is not None else "a package"


LIFECYCLE = Offered("heat.stack_lifecycle_plugins", HeatLifecyclePlugin, required=True)
EVENT_SINKS = Offered("heat.event_sinks", HeatEventSink, required=False)
