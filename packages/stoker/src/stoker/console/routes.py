"""Every page for users who are logged in: path below PREFIX → method → handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.console import (
    actions,
    adoption,
    approvals,
    control,
    deploy,
    drift,
    finding,
    generation,
    orphans,
    progress_pages,
    refactors,
    services,
    stack_pages,
    stacks,
)
from stoker.console.exchange import Exchange

_STACK = "/stacks/{stack_name}/{stack_id}"


def _asking(subject: actions.Subject) -> Mapping[str, Callable[[Exchange], None]]:
    return {"GET": subject.confirm, "POST": subject.act}


ROUTES: Mapping[str, Mapping[str, Callable[[Exchange], None]]] = {
    "/stacks": {"GET": stacks.index},
    "/stacks/{stack_name}": {"GET": stacks.find},
    "/adopt": {"GET": adoption.ask, "POST": adoption.adopt},
    "/approvals": {"GET": approvals.index},
    "/approvals/{request_id}": {"GET": approvals.show, "POST": approvals.review},
    "/control": {"GET": control.of_project, "POST": control.change_of_project},
    "/find": {"GET": finding.show},
    "/generate": {"GET": generation.show},
    "/orphans": {"GET": orphans.index, "POST": orphans.change},
    "/orphans/{stack_name}/{stack_id}": {"GET": orphans.removal, "POST": orphans.leave},
    "/refactors": {"GET": refactors.index},
    "/refactors/new": {"GET": refactors.new, "POST": refactors.plan},
    "/refactors/{refactor_id}": {"GET": refactors.show, "POST": refactors.execute},
    "/services": {"GET": services.show},
    "/deploy": {"GET": deploy.new, "POST": deploy.submit},
    f"{_STACK}/deploy": {"GET": deploy.change, "POST": deploy.submit},
    _STACK: {"GET": stack_pages.resources},
    f"{_STACK}/drift": {"GET": drift.show_drift, "POST": drift.settle},
    f"{_STACK}/control": {"GET": control.of_stack, "POST": control.change_of_stack},
    f"{_STACK}/protection": {"GET": control.protection, "POST": control.change_policy},
    f"{_STACK}/graph": {"GET": progress_pages.graph},
    f"{_STACK}/timeline": {"GET": progress_pages.timeline},
    f"{_STACK}/stream": {"GET": stack_pages.stream},
    f"{_STACK}/events": {"GET": stack_pages.events},
    f"{_STACK}/definition": {"GET": stack_pages.definition},
    f"{_STACK}/details": {"GET": stack_pages.details},
    f"{_STACK}/resources/{{resource_name}}": {"GET": stack_pages.resource},
    f"{_STACK}/snapshots": {"GET": stack_pages.snapshots},
    f"{_STACK}/download/{{part}}": {"GET": stack_pages.download},
    f"{_STACK}/actions/{{action}}": _asking(actions.STACK),
    f"{_STACK}/resources/{{resource_name}}/actions/{{action}}": _asking(actions.RESOURCE),
    f"{_STACK}/snapshots/{{snapshot_id}}/actions/{{action}}": _asking(actions.SNAPSHOT),
}
