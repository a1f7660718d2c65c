"""The definitions of stacks, from the templates, files and environments in Heat's database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.loader import LoadedInputs, Prepared
from stoker.engine.records.services import EngineServices
from stoker.store.records import Stack
from stoker.takeover.decoding import Decoder
from stoker.takeover.heat import HeatStack, Row, parsed
from stoker.takeover.mapped import NotTransferable, record_id
from stoker.template.environment import Environment


class Definitions:
    """Reads definitions with the limits and types of an engine."""

    def __init__(self, services: EngineServices, decoder: Decoder) -> None:
        self._services = services
        self._decoder = decoder

    def prepared(self, source: HeatStack, template_id: int) -> Prepared:
        """Return the inputs of one of a stack's templates. Raises NotTransferable if it is missing."""
        raw = source.templates.get(template_id)
        if raw is None:
            raise NotTransferable(f"stack {source.row['name']}: its template is missing in Heat's database")
        return self.inputs(source, raw, "inputs", template_id)

    def inputs(self, source: HeatStack, raw: Row, *place: object) -> Prepared:
        """Return inputs from a template, files and an environment; `place` distinguishes them from others."""
        loader = self._services.loader
        environment = dict(parsed(raw["environment"]) or {})
        parameters = dict(environment.pop("parameters", None) or {})
        for name in environment.pop("encrypted_param_names", None) or ():
            if isinstance(parameters.get(name), list):
                parameters[name] = self._decoder.parameter(parameters[name])
        template = parsed(raw["template"]) or {}
        nested = source.row["owner_id"] is not None
        parsed_template = loader.generated(template) if nested else loader.parse(template)
        shared = Environment.from_data(_as_sent(environment))
        files = loader.files(parsed(raw["files"]) or {})
        prepared = loader.prepare(parsed_template, shared, files, parameters, ())
        return replace(prepared, row=replace(prepared.row, id=record_id(source, *place)))

    def desired_state(self, stack: Stack, inputs: LoadedInputs) -> DesiredState:
        """Return what inputs define. Raises NotTransferable if a type is not known."""
        definition = self._services.loader.bind(stack, inputs, strict=False)
        desired = DesiredState.of(self._services, definition, inputs)
        for name, resource in definition.resources.items():
            if name not in desired.types:
                raise NotTransferable(
                    f"stack {stack.name}: the resource type {resource.type} of resource {name} is not known here"
                )
        return desired


def _as_sent(environment: Mapping[str, Any]) -> dict[str, object]:
    """Return an environment without the empty sections that Heat adds, so that it equals the one that users send."""
    registry = {name: value for name, value in (environment.get("resource_registry") or {}).items() if value != {}}
    return {name: value for name, value in {**environment, "resource_registry": registry}.items() if value}
