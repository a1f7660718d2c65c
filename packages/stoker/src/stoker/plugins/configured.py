"""Types and constraints that depend on the operator's options: entry points whose objects are asked for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from stoker.plugins.constraints import CustomCheck
from stoker.plugins.resource import ResourceType


class ConfiguredTypes(ABC):
    """The object of an entry point in `stoker.resources` whose types are known once the options are."""

    @abstractmethod
    def types(self, options: Mapping[str, object]) -> Iterable[type[ResourceType]]:
        """Return the types for these options (heat.conf names); none are given to tools that work without a server.

        Raises PluginInvalid.
        """


class ConfiguredConstraints(ABC):
    """The object of an entry point in `stoker.constraints` whose constraints are known once the options are."""

    @abstractmethod
    def constraints(self, options: Mapping[str, object]) -> Mapping[str, CustomCheck]:
        """Return the constraints for these options, by name. Raises PluginInvalid."""
