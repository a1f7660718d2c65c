"""Validation of templates (`POST /validate`): what can be checked without values, as in Heat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import BadValue, TemplateInvalid
from stoker.contract.stacks import ValidateTemplate
from stoker.contract.views import JSONObject
from stoker.engine.records.services import EngineServices
from stoker.operations.problems import RequestCheck, RequestValues, with_all_problems
from stoker.operations.requests import examine_environment, given_by, parse_request
from stoker.operations.trees import child_environment, require_depth, template_of
from stoker.operations.value_checks import SERVICE_UNAVAILABLE, Questions, check_services
from stoker.plugins import capabilities
from stoker.plugins.resource import ResourceType
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope
from stoker.template.names import TypeLookup, check_names
from stoker.template.nested import inside
from stoker.template.parameters import PseudoParameters
from stoker.template.properties import finalize
from stoker.template.validation import describe_environment, describe_parameters

_SCOPE = UnknownScope()


async def validate_template(services: EngineServices, context: RequestContext, request: ValidateTemplate) -> JSONObject:
    """Check a template without values; return its parameters, and if requested those of its nested stacks.

    Values of parameters and properties may still be missing, and are not checked: previews and creations do that. Of
    nested templates, only whether they can be read is checked. `ignore_errors` has the codes of checks to skip. Raises
    TemplateInvalid, ResourceTypeUnavailable, and BadValue for an unknown code.
    """
    if unknown := sorted(set(request.ignore_errors) - {SERVICE_UNAVAILABLE}):
        raise BadValue(f"ignore_errors: unknown codes {', '.join(unknown)}; only {SERVICE_UNAVAILABLE} can be ignored.")
    parsed = await parse_request(services, context, request, partial(given_by, request, {}), _NAMES)
    environment, wrong = await examine_environment(services, context, request, parsed)
    bound = services.loader.over_operator(environment)
    pseudo = PseudoParameters("", "template_validate", context.project_id, services.settings.region_name, "")

    def checked() -> Definition:
        if wrong:
            raise TemplateInvalid(wrong)
        definition = Definition.bind(
            parsed,
            bound,
            parameters=request.parameters or {},
            files=services.loader.files(request.files or {}),
            pseudo=pseudo,
            strict=False,
            missing_ok=True,
        )
        if found := _NAMES.check(services, context, definition):
            raise TemplateInvalid(found)
        return definition

    try:
        definition = await services.evaluator.evaluate(context.project_id, checked, len(parsed.resources))
    except TemplateInvalid as error:
        raise await with_all_problems(
            services,
            context,
            error,
            parsed.document,
            lambda _: RequestValues(environment, request.parameters or {}, wrong),
            request.files or {},
            _NAMES,
        ) from error
    if SERVICE_UNAVAILABLE not in request.ignore_errors:
        questions = Questions(services.settings.validation_seconds)
        await check_services(services, context, [definition], questions)
    described = describe_parameters(definition)
    if request.show_nested:
        nested = partial(_nested_parameters, services, context, definition)
        described |= await services.evaluator.evaluate(context.project_id, nested)
    return {**described, "Environment": describe_environment(definition)}


def _names(services: EngineServices, context: RequestContext, definition: Definition) -> list[Diagnostic]:
    return check_names(definition, _lookup(services, definition), type_names=services.types.offered_names())


_NAMES = RequestCheck(strict=False, check=_names)


def _lookup(services: EngineServices, definition: Definition) -> TypeLookup:
    """Return the function that finds types. A type that policy denies is found: its use is refused, not its name."""
    return lambda name, resource: services.types.lookup(definition.environment, definition.files, name, resource)[1]


def _nested_parameters(
    services: EngineServices, context: RequestContext, definition: Definition, depth: int = 0
) -> dict[str, object]:
    """Return the parameters of the nested templates of a definition, `depth` levels down, as an entry of the response.

    Raises TemplateInvalid for a type that does not exist, RequestLimitExceeded for templates that are nested too deep.
    """
    nested = {}
    for resource, kind in _nested_types(services, definition):
        child = _child(services, context, definition, resource, kind, depth)
        if child is not None:
            unknown = [item for item in _names(services, context, child) if item.rule == "unknown-type"]
            if unknown:
                raise TemplateInvalid([inside(definition.files, definition, resource, item) for item in unknown])
            nested[resource.name] = {
                "Type": resource.type,
                **describe_parameters(child),
                **_nested_parameters(services, context, child, depth + 1),
            }
    return {"NestedParameters": nested} if nested else {}


def _nested_types(
    services: EngineServices, definition: Definition
) -> Iterator[tuple[ResourceDefinition, ResourceType]]:
    lookup = _lookup(services, definition)
    for resource in definition.resources.values():
        kind = lookup(resource.type, resource.name)
        if kind is not None and kind.nested and resource.external_id is None:
            yield resource, kind


def _child(
    services: EngineServices,
    context: RequestContext,
    parent: Definition,
    resource: ResourceDefinition,
    kind: ResourceType,
    depth: int,
) -> Definition | None:
    """Return the nested stack of a resource, whose values may be missing or wrong; None if there is none yet."""
    request = capabilities.sample_of(kind, finalize(parent, resource, kind, _SCOPE).usable())
    if request is None or request.template is None:
        return None
    require_depth(services, depth, resource)
    child, _ = Definition.examine(
        template_of(services, parent, request),
        child_environment(parent, resource, request),
        parameters=request.parameters,
        files=parent.files,
        pseudo=PseudoParameters("", resource.name, context.project_id),
        strict=False,
        missing_ok=True,
    )
    return child
