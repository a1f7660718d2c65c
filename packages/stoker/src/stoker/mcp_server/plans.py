"""Tools that plan, and the one that applies a plan when people have approved it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoker.authoring.plan_steps import (
    certain_failures,
    changes,
    compared,
    costs,
    data_losses,
    not_compared,
    policy_results,
    policy_sentences,
    reasons,
    summary,
)
from stoker.base.diagnostics import Diagnostic
from stoker.cli.client.change_requests import ChangeRequests, control
from stoker.cli.client.refusals import Answer
from stoker.cli.client.sources import collect
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.deployment import Deployment
from stoker.cli.terminal.errors import CommandFailed

_APPROVED = "APPROVED"
_APPROVAL_REQUIRED = "policy-approval-required"


MOST_STEPS = 200
"""Steps of a plan that one answer shows; the summary counts all."""

_STEP = ("path", "kind", "type", "changes")


def shown(plan: Answer) -> dict[str, Any]:
    """Return what a plan changes and why, what is lost with it, and what nothing is known about."""
    steps = changes(plan)
    return {
        "summary": summary(plan),
        "steps": [
            {**{name: step[name] for name in _STEP if step.get(name)}, "reasons": list(reasons(step))}
            for step in steps[:MOST_STEPS]
        ],
        "more_steps": max(0, len(steps) - MOST_STEPS),
        "data_lost": data_losses(plan),
        "compared_with_the_cloud": compared(plan),
        "not_compared": list(not_compared(plan)),
        "costs": costs(plan),
        "policies": policy_sentences(plan),
    }


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan that can be applied: its stack's name, whether policies require an approval, and what starts it."""

    stack: str
    asks_for_approval: bool
    start: Callable[[], object]


class Plans:
    """The plans of this session, by their digests."""

    def __init__(self, connect: Callable[[], StackClient], directory: Path) -> None:
        self._connect = connect
        self._directory = directory
        self._planned: dict[str, _Planned] = {}

    def plan_change(
        self,
        stack: str,
        template: str,
        environments: list[str] | None = None,
        parameters: dict[str, str] | None = None,
    ) -> dict[str, object]:
        """Tell what deploying a template as a stack would do to its resources. Nothing is changed.

        A stack of the name is created if there is none, and updated if there is; parameters that are not given keep
        their values then. `fails` is what is known to fail. The digest is for apply_plan.
        """
        sources = collect(template, environments or (), within=self._directory)
        deployment = Deployment.of(
            self._connect(), stack, sources, parameters=dict(parameters or {}), rollback=None, timeout=None, tags=()
        )
        plan = deployment.plan_without_questions()
        return self._kept(stack, plan, deployment.start)

    def plan_deletion(self, stack: str) -> dict[str, object]:
        """Tell what deleting a stack would destroy, and what would be lost with it. Nothing is changed."""
        found = self._connect().stack(stack)
        answer = found.preview_delete()
        kept = self._kept(found.name, answer["plan"], found.delete)
        return {**kept, "snapshots": [each["name"] or each["id"] for each in answer["snapshots"]]}

    def plan_status(self, digest: str) -> dict[str, object]:
        """Show whether people have approved a plan, or what is still lacking."""
        return {"change_requests": self._requests(digest)}

    def apply_plan(self, digest: str) -> dict[str, object]:
        """Apply a plan of this session if a person has approved it in Stoker, and start it without waiting for its end.

        The first call asks for the approval, and changes nothing: ask the user to have somebody approve it, and call
        again. Refused if the stack, the template or the cloud have changed so that the plan would be different.
        """
        planned = self._planned.get(digest)
        if planned is None:
            raise CommandFailed(f"There is no plan with the digest {digest} in this session. Plan again.")
        if not any(each["status"] == _APPROVED for each in self._requests(digest)):
            self._require_approval(planned)
        planned.start()
        return {"stack": planned.stack, "state": "started: list_events and show_stack tell how it goes"}

    def _requests(self, digest: str) -> list[Answer]:
        return ChangeRequests(self._connect()).listed(digest=digest)

    def _require_approval(self, planned: _Planned) -> None:
        """Raise CommandFailed unless the service itself refuses the change until it is approved."""
        if planned.asks_for_approval:
            return
        service = self._connect()
        stack = service.existing(planned.stack)
        if not control(service, stack.facts if stack is not None else None)["approvals"]:
            raise CommandFailed(
                f"Changes of {planned.stack} need no approval in Stoker, so that nobody can have approved this plan; "
                "it is not applied. A person can deploy the template (`stoker deploy`), or require approvals."
            )

    def _kept(self, name: str, plan: Answer, start: Callable[[str], object]) -> dict[str, Any]:
        if (digest := plan["digest"]) is not None:
            asks = any(result["code"] == _APPROVAL_REQUIRED for result in policy_results(plan))
            self._planned[digest] = _Planned(name, asks, lambda: start(digest))
        known = [Diagnostic.from_dict(each) for each in certain_failures(plan)]
        return {"stack": name, **shown(plan), "fails": [each.text() for each in known], "digest": digest}
