"""The entry points of this package: what modules in `plugin_dirs`, and other packages, offer for Heat."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from oslo_config import cfg

from heat.engine import resource
from heat.engine.resources.stack_resource import StackResource
from stoker.base.config import register_options
from stoker.base.extensions import PluginInvalid
from stoker.plugins.configured import ConfiguredConstraints, ConfiguredTypes
from stoker.plugins.constraints import CustomCheck
from stoker.plugins.resource import ResourceType
from stoker_heat_plugins import built_in_names
from stoker_heat_plugins.built_in import BuiltIn
from stoker_heat_plugins.constraint import HeatConstraint
from stoker_heat_plugins.content_copy import HANDLERS, made_copy
from stoker_heat_plugins.derived_checks import unsupported
from stoker_heat_plugins.derived_type import made_derived
from stoker_heat_plugins.entry_points import package_of
from stoker_heat_plugins.known import CLASSES
from stoker_heat_plugins.modules import modules
from stoker_heat_plugins.names import MANUAL
from stoker_heat_plugins.nested_stack import HeatStackType
from stoker_heat_plugins.resource_type import HeatResourceType, made_type
from stoker_heat_plugins.schema import Unsupported, defines, to_attributes, to_properties, to_support


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the modules in the directories and the entry points offer."""

    types: tuple[type[ResourceType], ...]
    constraints: Mapping[str, CustomCheck]
    problems: tuple[str, ...] = field(default=())


@cache
def loaded(directories: tuple[str, ...], config_files: tuple[str, ...] = ()) -> Loaded:
    """Import the modules in `directories`; they read options of their own from `config_files`."""
    if config_files:
        register_options(cfg.CONF)
        cfg.CONF([], project="heat", default_config_files=list(config_files), default_config_dirs=[])
    built_in_names.install()
    problems: list[str] = []
    types: dict[str, type[ResourceType]] = {}
    checks: dict[str, CustomCheck] = {}
    for entry_point in metadata.entry_points(group="heat.constraints"):
        try:
            checks[entry_point.name] = HeatConstraint(entry_point.load())
        except Exception as error:
            problems.append(f"{package_of(entry_point)} (heat.constraints: {entry_point.name}): {error}")
    for module in modules([Path(directory) for directory in directories], problems):
        place = str(module.__file__)
        mapping = getattr(module, "available_resource_mapping", None) or getattr(module, "resource_mapping", None)
        for name, plugin in _called(mapping, place, problems).items():
            try:
                types[name] = _type(name, plugin)
            except Unsupported as error:
                problems.append(f"{place}: {name}: {error} ({MANUAL})")
        for name, check in _called(getattr(module, "constraint_mapping", None), place, problems).items():
            checks[name] = HeatConstraint(check)
    return Loaded(tuple(types.values()), checks, tuple(problems))


def _called(mapping: Any, place: str, problems: list[str]) -> Mapping[str, Any]:
    if mapping is None:
        return {}
    try:
        return dict(mapping())
    except Exception as error:
        problems.append(f"{place}: {mapping.__name__}() fails: {type(error).__name__}: {error}")
        return {}


def _type(name: str, plugin: object) -> type[ResourceType]:
    """Return the resource type for a class. Raises Unsupported."""
    if not (isinstance(plugin, type) and issubclass(plugin, resource.Resource)):
        raise Unsupported(f"{plugin!r} must be a class derived from heat.engine.resource.Resource")
    nested = issubclass(plugin, StackResource)
    if defines(plugin, "child_template") and not nested:
        raise Unsupported(f"{plugin.__qualname__} must be derived from StackResource to have a child_template")
    declarations: dict[str, object] = {
        "properties": to_properties(plugin),
        "attributes": to_attributes(plugin),
        "support": to_support(plugin.support_status),
        "description": inspect.getdoc(plugin) or "",
        "physical_name_limit": plugin.physical_resource_name_limit,
        "always_replace_on_check_failed": plugin.always_replace_on_check_failed,
        "signalable": defines(plugin, "handle_signal"),
        "no_signals_during": frozenset(plugin.no_signal_actions),
    }
    if issubclass(plugin, BuiltIn):
        return _derived(name, plugin, declarations)
    neutron = plugin.default_client_name == "neutron" and plugin.required_service_extension
    copied = any(defines(plugin, handler) for handler in HANDLERS)
    CLASSES[name] = plugin
    return made_type(
        HeatStackType if nested else HeatResourceType,
        name,
        plugin,
        copy=made_copy(name, plugin) if copied else None,
        consults=defines(plugin, "validate"),
        service="neutron" if neutron else None,
        extension=plugin.required_service_extension if neutron else None,
        **declarations,
    )


def _derived(name: str, plugin: type[BuiltIn], declarations: Mapping[str, object]) -> type[ResourceType]:
    """Return the resource type for a class derived from that of one of Stoker's own. Raises Unsupported."""
    problems = list(unsupported(plugin))
    if problems:
        raise Unsupported("; ".join(problems))
    CLASSES[name] = plugin
    validates = plugin.validate is not plugin.own_class.validate
    return made_derived(name, plugin, {**declarations, "consults": validates})


def _loaded(options: Mapping[str, Any]) -> Loaded:
    """Return what is offered with the operator's options. Raises PluginInvalid with all problems."""
    found = loaded(tuple(options.get("plugin_dirs") or ()), tuple(options.get("config_files") or ()))
    if found.problems:
        raise PluginInvalid(found.problems)
    return found


class _Types(ConfiguredTypes):
    def types(self, options: Mapping[str, object]) -> Iterable[type[ResourceType]]:
        return _loaded(options).types


class _Constraints(ConfiguredConstraints):
    def constraints(self, options: Mapping[str, object]) -> Mapping[str, CustomCheck]:
        return _loaded(options).constraints


TYPES = _Types()
CONSTRAINTS = _Constraints()
