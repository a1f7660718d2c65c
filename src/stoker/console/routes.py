"""Every page for users who are logged in: path below PREFIX → method → handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.console import deploy, drift, progress_pages, stack_pages, stacks
from stoker.console.exchange import Exchange

_STACK = "/stacks/{stack_name}/{stack_id}"

ROUTES: Mapping[str, Mapping[str, Callable[[Exchange], None]]] = {
    "/stacks": {"GET": stacks.index},
    "/deploy": {"GET": deploy.new, "POST": deploy.submit},
    f"{_STACK}/deploy": {"GET": deploy.change, "POST": deploy.submit},
    _STACK: {"GET": stack_pages.resources},
    f"{_STACK}/drift": {"GET": drift.show_drift, "POST": drift.correct},
    f"{_STACK}/graph": {"GET": progress_pages.graph},
    f"{_STACK}/timeline": {"GET": progress_pages.timeline},
    f"{_STACK}/stream": {"GET": stack_pages.stream},
    f"{_STACK}/events": {"GET": stack_pages.events},
    f"{_STACK}/definition": {"GET": stack_pages.definition},
    f"{_STACK}/details": {"GET": stack_pages.details},
    f"{_STACK}/resources/{{resource_name}}": {"GET": stack_pages.resource},
    f"{_STACK}/actions/{{action}}": {"GET": stacks.confirm, "POST": stacks.act},
}
