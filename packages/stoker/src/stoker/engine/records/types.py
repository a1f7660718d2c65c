"""The resource types of the resources in a definition."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from stoker.base.context import is_denied
from stoker.base.errors import Forbidden
from stoker.engine.records.loader import Loader, template_size
from stoker.engine.records.state import ResourceState
from stoker.plugins.outcome import Failed, Outcome
from stoker.plugins.registry import Registry
from stoker.plugins.resource import Call, ResourceType
from stoker.store.records import Resource
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.registry import is_template_name
from stoker.template.template import Template
from stoker_foundation.recent import Recent


def require_permitted(denied_types: Collection[str], names: Sequence[str], kind: ResourceType | None) -> None:
    """Raise Forbidden if policy denies a type under any name that leads to it, so that an alias cannot evade it.

    `names` are the type as written and its mappings in the environment's registry, step by step. Intermediate names
    count because operators also restrict their own names for templates.
    """
    for name in (*names, *((kind.type_name,) if kind is not None else ())):
        if is_denied(name, denied_types):
            written = f", to which the environment maps {names[0]}" if name != names[0] else ""
            raise Forbidden(f"You are not allowed to use the resource type {name}{written}.")


class MissingType(ResourceType):
    """Placeholder for the type of a recorded resource whose plug-in is missing: all actions fail."""

    type_name = "(missing)"
    any_properties = True

    async def delete(self, call: Call) -> Outcome:
        return Failed(f"the plug-in of {call.type} is not installed any more", kind="EntityNotFound")

    async def check(self, call: Call) -> Outcome:
        return await self.delete(call)


@dataclass(slots=True)
class TypeTable:
    """Resolves type names with an environment's registry, including templates among the files.

    `missing` is the type of recorded resources whose own type does not exist any more.
    """

    registry: Registry
    loader: Loader
    missing: ResourceType = field(default_factory=MissingType)
    _templates: Recent[tuple[ResourceType, Template]] = field(
        default_factory=lambda: Recent(512, lambda made: template_size(made[1]))
    )

    def offered(self) -> Mapping[str, ResourceType]:
        """Return all types by name, including those of the operator's environment."""
        environment = self.loader.default_environment
        added = {name: self.lookup(environment, {}, name, "")[1] for name in environment.registry.operator_types()}
        return {**self.registry.types(), **{name: kind for name, kind in added.items() if kind is not None}}

    def lookup(
        self, environment: Environment, files: Mapping[str, str], type_name: str, resource_name: str
    ) -> tuple[str, ResourceType | None]:
        """Return `(implementation, type)`; the type is None if there is no such type or file."""
        implementation = environment.registry.resolve(type_name, resource_name)
        return implementation, self.implementation(implementation, files)

    def require_permitted(
        self, denied_types: Collection[str], template: Template, environment: Environment, files: Mapping[str, str]
    ) -> None:
        """Raise Forbidden when a template has a resource of a type that policy denies, under any name."""
        if not denied_types:
            return
        for name, resource in template.resources.items():
            _, kind = self.lookup(environment, files, resource.type, name)
            require_permitted(denied_types, environment.registry.steps(resource.type, name), kind)

    def of_definition(
        self, definition: Definition, environment: Environment, files: Mapping[str, str]
    ) -> dict[str, tuple[str, ResourceType]]:
        """Return `(implementation, type)` of each resource by its name, without resources of unknown types."""
        found = {
            name: self.lookup(environment, files, resource.type, name)
            for name, resource in definition.resources.items()
        }
        return {name: (implementation, kind) for name, (implementation, kind) in found.items() if kind is not None}

    def recorded(self, state: ResourceState, files: Mapping[str, str]) -> ResourceType:
        """Return the type with which a recorded resource was created; `state.type` if it does not exist any more."""
        return self.of_row(state.row) or self.implementation(state.implementation, files) or state.type

    def of_row(self, row: Resource) -> ResourceType | None:
        """Return a recorded resource's type if its row tells it; None if its state must be opened."""
        return self.registry.get(row.type) if row.substituted is False else None

    def implementation(self, implementation: str, files: Mapping[str, str]) -> ResourceType | None:
        """Return the type with a resolved name, or None. Raises TemplateInvalid for an invalid template."""
        if not is_template_name(implementation):
            return self.registry.get(implementation)
        template = self.loader.template_named(files, implementation)
        return self.of_template(template, implementation) if template is not None else None

    def of_template(self, template: Template, implementation: str) -> ResourceType:
        """Return the type that a template defines under the name of its file."""
        made, _ = self._templates.get(
            (id(template), implementation), lambda: (self.registry.template_type(template, implementation), template)
        )
        return made
