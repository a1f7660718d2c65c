"""All problems of a request at once: what else is wrong in a template that cannot be read or bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import StokerError, TemplateInvalid
from stoker.engine.records.services import EngineServices
from stoker.operations.trees import TreeChecker, form_problems
from stoker.template.definition import Definition
from stoker.template.document import Document
from stoker.template.environment import Environment, hides_types
from stoker.template.parameters import PseudoParameters
from stoker.template.problems import further
from stoker.template.registry import INVALID_TYPE
from stoker.template.template import Template

Source = str | Mapping[str, Any] | Document


class RequestValues(NamedTuple):
    """What a request gives to a template."""

    environment: Environment
    """What can be used of the request's environment."""
    parameters: Mapping[str, Any]
    """The values of the request, and the previous values that it keeps."""
    problems: list[Diagnostic]
    """The problems of the environment."""


@dataclass(frozen=True, slots=True)
class RequestCheck:
    """How requests of a kind are checked, after they could be read.

    strict: whether the values of parameters are checked; otherwise, missing ones are unknown.
    check: returns the problems of the definition.
    """

    strict: bool
    check: Callable[[EngineServices, RequestContext, Definition], list[Diagnostic]]


def _whole_tree(services: EngineServices, context: RequestContext, definition: Definition) -> list[Diagnostic]:
    checker = TreeChecker(services, context)
    return [*checker.check(definition), *form_problems(checker)]


WHOLE = RequestCheck(strict=True, check=_whole_tree)
"""For requests that change stacks: all values are checked, in nested stacks too."""


async def with_all_problems(
    services: EngineServices,
    context: RequestContext,
    error: TemplateInvalid,
    source: Source,
    values_of: Callable[[Template], RequestValues],
    files: Mapping[str, str],
    check: RequestCheck,
) -> TemplateInvalid:
    """Return `error`, with which a template or its environment could not be used, with all other problems of both.

    `values_of` returns what the request gives to the template. Parts with problems count as unknown, so that they cause
    no others.
    """

    def found() -> list[Diagnostic]:
        template, problems = Template.examine(source, limits=services.loader.limits)
        environment, parameters, wrong = values_of(template)
        definition, unbound = Definition.examine(
            template,
            services.loader.over_operator(environment),
            parameters=parameters,
            files=services.loader.files(files),
            pseudo=PseudoParameters("", "", context.project_id, services.settings.region_name, ""),
            strict=check.strict,
            missing_ok=not check.strict,
            broken=[item.path[:2] for item in problems],
        )
        problems += further(unbound, problems)
        problems += further(check.check(services, context, definition), problems)
        hidden = hides_types(wrong)
        return wrong + [
            item
            for item in problems
            if item.rule != "unknown-type" or not (hidden or _has_invalid_type(definition, item.path))
        ]

    try:
        others = await services.evaluator.evaluate(context.project_id, found)
    except StokerError:  # the error itself is what can be reported
        return error
    return TemplateInvalid(list(dict.fromkeys([*error.diagnostics, *others])))


def _has_invalid_type(definition: Definition, path: Path) -> bool:
    """Return whether the environment maps the type of the resource at `path` to something that is no type."""
    resource = definition.resources.get(str(path[1])) if len(path) > 1 else None
    if resource is None:
        return False
    return definition.environment.registry.resolve(resource.type, resource.name) == INVALID_TYPE
