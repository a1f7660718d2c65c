"""Classes for Stoker's own resource types, from which plug-ins derive theirs.

A class has the properties and attributes of its type. Its handlers have the engine carry out the action of the type,
so that a derived class calls them with `super()`: `handle_<action>` begins the action, and a creation has an ID when it
returns; `check_<action>_complete` continues it, and returns whether it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

from heat.common import exception
from heat.engine import attributes, resource
from heat.engine.resources.openstack.neutron.neutron import NeutronResource
from stoker.base.extensions import offers
from stoker.plugins.on_demand import TypesOnDemand
from stoker.plugins.registry import RESOURCES
from stoker.plugins.resource import AttributeKey, ResourceType, Snapshot
from stoker_heat_plugins.built_in_schema import BuiltInAttribute, BuiltInSchema
from stoker_heat_plugins.names import MANUAL
from stoker_heat_plugins.performance import Request


class _Named(type):
    """Refuses names that the classes do not have."""

    def __getattr__(cls, name: str) -> object:
        raise AttributeError(f"stoker-heat-plugins does not offer {cls.__name__}.{name} (see {MANUAL})")


class BuiltIn(resource.Resource, metaclass=_Named):
    """Base of the classes that `class_for` makes."""

    kind: ClassVar[type[ResourceType]]
    """The type that the class stands for."""
    own_class: ClassVar[type[BuiltIn]]
    """The class that `class_for` has made, of which the plug-in's is derived."""
    ask: Callable[[Request], bool] | None = None
    """Has the engine carry out a request; for the adapter. None outside of actions."""
    reader: Callable[[AttributeKey], Any] | None = None
    """Reads an attribute of the type; for the adapter."""

    # -- reading ------------------------------------------------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        return self._attribute(name) if name in self.own_class.attributes_schema else None

    def _show_resource(self) -> Any:
        return self._attribute(self.SHOW)

    def get_live_resource_data(self) -> object:
        """Return the object as its service shows it."""
        return self._show_resource()

    def _attribute(self, name: str) -> Any:
        if self.reader is None:
            raise exception.NotSupported(feature=f"Reading attributes of another resource ({MANUAL})")
        return self.reader((name,))

    def get_reference_id(self) -> object:
        record = self.record
        known = Snapshot(
            self.name, record.physical_name, record.resource_id, dict(record.data), dict(self.properties.data)
        )
        return self.kind().reference_id(known)

    # -- handlers: the engine carries out the type's actions ----------------------------------------------------

    def _begin(self, action: str, changed: Mapping[str, Any] | None = None) -> Any:
        self._carry_out(Request(action, dict(self.properties.data), changed, begins=True))
        return self.resource_id

    def _carry_out(self, request: Request) -> bool:
        if self.ask is None:
            raise exception.NotSupported(feature=f"{request.action} outside of that action ({MANUAL})")
        return self.ask(request)

    def _continue(self, action: str) -> bool:
        return self._carry_out(Request(action, {}, None, begins=False))

    def handle_create(self) -> Any:
        """Create the object; return its ID."""
        return self._begin("create")

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> object:
        """Update the object with the changed properties in `prop_diff`."""
        return self._begin("update", dict(prop_diff))

    def handle_delete(self) -> object:
        """Delete the object."""
        return self._begin("delete")

    def handle_suspend(self) -> object:
        """Suspend the object."""
        return self._begin("suspend")

    def handle_resume(self) -> object:
        """Resume the object."""
        return self._begin("resume")

    def handle_check(self) -> object:
        """Check the object."""
        return self._begin("check")

    def handle_adopt(self, resource_data: Any = None) -> object:
        """Adopt the object."""
        return self._begin("adopt")

    def check_create_complete(self, token: Any = None) -> bool:
        """Continue the creation."""
        return self._continue("create")

    def check_update_complete(self, token: Any = None) -> bool:
        """Continue the update."""
        return self._continue("update")

    def check_delete_complete(self, token: Any = None) -> bool:
        """Continue the deletion."""
        return self._continue("delete")

    def check_suspend_complete(self, token: Any = None) -> bool:
        """Continue to suspend."""
        return self._continue("suspend")

    def check_resume_complete(self, token: Any = None) -> bool:
        """Continue to resume."""
        return self._continue("resume")

    def check_check_complete(self, token: Any = None) -> bool:
        """Continue the check."""
        return self._continue("check")

    def check_adopt_complete(self, token: Any = None) -> bool:
        """Continue the adoption."""
        return self._continue("adopt")

    def validate(self) -> Any:
        """Return None: the engine checks the properties of the type itself."""
        return None


class _Server(BuiltIn):
    """A server, of which plug-ins get the object of novaclient, too."""

    def get_live_resource_data(self) -> object:
        """Return the server as novaclient has it, and as Nova shows it."""
        return self.client().servers.get(self.resource_id), self._show_resource()


_BASES: Mapping[str, type[BuiltIn]] = {"OS::Nova::Server": _Server}


@cache
def class_for(module: str, name: str, type_name: str) -> type[BuiltIn]:
    """Return the class for one of Stoker's own types. Raises LookupError if there is no such type."""
    kind = next(
        (
            offer.value.places[type_name].load()
            for offer in offers(RESOURCES)
            if isinstance(offer.value, TypesOnDemand) and type_name in offer.value.places
        ),
        None,
    )
    if kind is None:
        raise LookupError(f"there is no type {type_name}")
    declared = kind()
    bases: tuple[type, ...] = (_BASES.get(type_name, BuiltIn),)
    if kind.service == "neutron":
        bases += (NeutronResource,)
    made: dict[str, Any] = {
        "__module__": module,
        "__doc__": declared.description,
        "kind": kind,
        "default_client_name": kind.service,
        "physical_resource_name_limit": declared.physical_name_limit,
        "always_replace_on_check_failed": kind.always_replace_on_check_failed,
        "no_signal_actions": tuple(kind.no_signals_during),
        "PROPERTIES": tuple(declared.properties),
        "ATTRIBUTES": tuple(attribute for attribute in declared.attributes if attribute != attributes.SHOW_ATTR),
        "properties_schema": {key: BuiltInSchema(value) for key, value in declared.properties.items()},
        "attributes_schema": {
            key: BuiltInAttribute(value) for key, value in declared.attributes.items() if key != attributes.SHOW_ATTR
        },
        **{_constant(key): key for key in declared.properties},
    }
    found: type[BuiltIn] = _Named(name, bases, made)  # type: ignore[assignment]
    found.own_class = found
    return found


def _constant(name: str) -> str:
    return name.upper().replace("-", "_").replace(".", "_")
