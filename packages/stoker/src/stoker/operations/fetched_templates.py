"""Check trees of stacks some of whose templates have to be fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import BadValue, Overloaded, StokerError, TemplateInvalid
from stoker.engine.records.services import EngineServices
from stoker.operations.trees import TreeChecker, all_problems
from stoker.plugins.resource import FetchedTemplate
from stoker.template.definition import Definition
from stoker_foundation.clock import sleep

_SECONDS = 30
"""Seconds that a request waits for all templates that are fetched for it."""
_AT_ONCE = 2
"""Templates that are fetched for one request at a time: fewer than a project may fetch by default."""
_PAUSE = 0.5
"""Seconds before a retry while the project has too many fetches in progress."""


async def checked_tree(services: EngineServices, context: RequestContext, definition: Definition) -> TreeChecker:
    """Check a definition with its nested stacks. Templates are fetched level by level, after all above them are valid.

    Raises TemplateInvalid with all diagnostics, and the errors of `TreeChecker.check`.
    """
    fetched: dict[str, str | StokerError] = {}

    def checked() -> tuple[TreeChecker, list[Diagnostic]]:
        checker = TreeChecker(services, context, fetched)
        return checker, all_problems(checker, definition)

    deadline = asyncio.get_running_loop().time() + _SECONDS
    while True:
        size = len(definition.resources)
        checker, diagnostics = await services.evaluator.evaluate(context.project_id, checked, size)
        if diagnostics:
            raise TemplateInvalid(diagnostics)
        if not checker.unfetched:
            return checker
        fetched |= await _fetched(services, context, checker.unfetched, deadline)


async def _fetched(
    services: EngineServices, context: RequestContext, wanted: Mapping[str, FetchedTemplate], deadline: float
) -> dict[str, str | StokerError]:
    """Return the templates at URLs, or the reasons why there are none."""
    slots = asyncio.Semaphore(_AT_ONCE)
    found: dict[str, str | StokerError] = {
        url: BadValue(f"{url} could not be fetched: the templates of a request must be there in {_SECONDS} seconds.")
        for url in wanted
    }

    async def fetch(url: str, place: FetchedTemplate) -> None:
        async with slots:
            while True:
                try:
                    found[url] = await place.fetch(url, context.project_id, services.settings.type_options)
                    return
                except Overloaded:
                    await sleep(services.clock, _PAUSE)
                except StokerError as error:
                    found[url] = error
                    return

    try:
        async with asyncio.timeout_at(deadline):
            await asyncio.gather(*(fetch(url, place) for url, place in wanted.items()))
    except TimeoutError:
        pass
    return found
