"""All problems of a request at once: what else is wrong in a template that cannot be read or bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import StokerError, TemplateInvalid
from stoker.engine.core import Engine
from stoker.operations.checking import TreeChecker, form_problems
from stoker.template.definition import Definition
from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.parameters import PseudoParameters
from stoker.template.problems import further
from stoker.template.template import Template

Source = str | Mapping[str, Any] | Document


async def with_all_problems(
    engine: Engine,
    context: RequestContext,
    error: TemplateInvalid,
    source: Source,
    environment: Callable[[Template], Environment],
    files: Mapping[str, str],
    parameters: Mapping[str, Any],
    *,
    strict: bool = True,
) -> TemplateInvalid:
    """Return `error`, with which a template could not be read or bound, with all other problems of the template.

    `environment` returns the environment for a template. Parts of the template with problems count as unknown, so that
    they cause no others. Without `strict` values of parameters are not checked, and missing ones are unknown.
    """

    def found() -> list[Diagnostic]:
        template, problems = Template.examine(source, limits=engine.loader.limits)
        definition, unbound = Definition.examine(
            template,
            engine.loader.over_operator(environment(template)),
            parameters=parameters,
            files=engine.loader.files(files),
            pseudo=PseudoParameters("", "", context.project_id, engine.settings.region_name, ""),
            strict=strict,
            missing_ok=not strict,
            broken=[item.path[:2] for item in problems],
        )
        problems += further(unbound, problems)
        checker = TreeChecker(engine, context)
        return problems + further([*checker.check(definition), *form_problems(checker)], problems)

    try:
        others = await engine.evaluator.evaluate(context.project_id, found)
    except StokerError:  # the error itself is what can be reported
        return error
    return TemplateInvalid(list(dict.fromkeys([*error.diagnostics, *others])))
