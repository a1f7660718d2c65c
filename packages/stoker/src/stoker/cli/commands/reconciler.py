"""One round of `stoker sync`: make the stacks of a project what its file says, and remove those that it no longer has.

The stacks of a source carry a tag, by which those are found that the project file no longer has, and by which no stack
has two sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from stoker.authoring.plan_steps import data_losses
from stoker.authoring.project_files.ordering import removal_order
from stoker.authoring.project_files.project import Project, ProjectStack
from stoker.base.errors import ActionInProgress, ApprovalRequired, ChangeWindowClosed, StackLocked
from stoker.cli.client.joint_plan import Exchange, Planned
from stoker.cli.client.parallel import Outcome as Step
from stoker.cli.client.parallel import StepResult, run
from stoker.cli.client.refusals import refusal_of
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.deployment import StackIsLocked, deletion, finish, refuse_locked
from stoker.cli.commands.project import (
    Deployer,
    JointPlan,
    Options,
    Present,
    interruptible,
    show_joint_plan,
)
from stoker.cli.commands.project_results import errors_of, row_of
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.views.follow import follow
from stoker.cli.views.project_progress import shown_as

_TAG = "stoker:sync:"
_PAUSED = frozenset(error.__name__ for error in (ActionInProgress, ApprovalRequired, ChangeWindowClosed, StackLocked))
"""The kinds of refusals that end without a change of the files: when people approve, unlock, or a window opens."""


class Outcome(StrEnum):
    """What a round has done with a stack."""

    UNCHANGED = "unchanged"
    DONE = "done"
    REMOVED = "removed"
    DIFFERENT = "different"
    """It is not as the files say, and the round was only to tell so."""
    SURPLUS = "surplus"
    """The project file no longer has it, and it is not to be removed."""
    WAITING = "waiting"
    """For an approval, a change window, the end of a lock or of another operation."""
    BLOCKED = "blocked"
    """Data would be lost."""
    FAILED = "failed"
    SKIPPED = "skipped"


_SETTLED = frozenset({Outcome.UNCHANGED, Outcome.DONE, Outcome.REMOVED})
_WRONG = frozenset({Outcome.FAILED, Outcome.SKIPPED, Outcome.BLOCKED})


class DataWouldBeLost(CommandFailed):
    """A plan would delete data, and that is not allowed."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a round may do: remove stacks that the file no longer has, lose data, or nothing at all."""

    prune: bool = False
    allow_data_loss: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Round:
    """What a round has found and done: a row for each stack, with `stack`, `name`, `outcome`, and maybe `error`."""

    rows: list[dict[str, Any]]
    errors: Mapping[str, CommandFailed] = field(default_factory=dict)

    @property
    def in_sync(self) -> bool:
        """Whether all stacks are as the files say, and there are no others."""
        return all(row["outcome"] in _SETTLED for row in self.rows)

    @property
    def failed(self) -> bool:
        """Whether something is wrong that does not only wait."""
        return any(row["outcome"] in _WRONG for row in self.rows)


def tag_of(name: str, stage: str | None) -> str:
    """Return the tag of the stacks of a source in a stage."""
    return f"{_TAG}{name}" + (f":{stage}" if stage is not None else "")


class Reconciler:
    """Makes stacks what a project file says. `tag` is that of the source; see `tag_of`."""

    def __init__(self, service: StackClient, tag: str, options: Options, rules: Rules, form: str) -> None:
        self._service = service
        self._tag = tag
        self._options = options
        self._rules = rules
        self._form = form
        self._view = shown_as(form)

    def round(self, project: Project, current_stacks: Present) -> Round:
        """Plan all stacks, change those that differ, and remove surplus ones if that is allowed and nothing failed.

        `current_stacks` are the stacks of the project as they are.

        Raises CommandFailed if nothing was changed, since a plan cannot be made, or a stack has another source.
        """
        project = self._tagged(project, current_stacks)
        names = project.by_name()
        surplus = {
            stack["stack_name"]: stack["stack_status"]
            for stack in self._service.stacks({"tags": self._tag})
            if stack["stack_name"] not in names
        }
        joint = JointPlan(self._service, project, self._options, current_stacks)
        if joint.changed:
            show_joint_plan(joint, self._form)
        ended, unchanged = self._deployed(joint) if not self._rules.dry_run else ({}, set())
        rows = list(_rows(joint, ended, unchanged))
        removed = self._removed(project, surplus) if all(row["outcome"] in _SETTLED for row in rows) else {}
        rows += [_row(name, name, removed.get(name), Outcome.REMOVED, Outcome.SURPLUS) for name in surplus]
        return Round(rows, errors_of({**ended, **removed}))

    def _tagged(self, project: Project, current_stacks: Present) -> Project:
        """Return the project with the tag of the source. Raises CommandFailed for a stack of another source."""
        recorded_tags = {name: stack.facts["tags"] or [] for name, stack in current_stacks.items() if stack is not None}
        for name, tags in recorded_tags.items():
            for tag in tags:
                if tag.startswith(_TAG) and tag != self._tag:
                    raise CommandFailed(
                        f"The stack {name} belongs to another source, by its tag {tag}. Remove the tag from the "
                        "stack if that one no longer deploys it."
                    )

        def tagged(stack: ProjectStack) -> ProjectStack:
            tags = stack.tags if stack.tags is not None else tuple(recorded_tags.get(stack.name, ()))
            return replace(stack, tags=(*(tag for tag in tags if tag != self._tag), self._tag))

        return replace(project, stacks={key: tagged(stack) for key, stack in project.stacks.items()})

    def _deployed(self, joint: JointPlan) -> tuple[dict[str, StepResult], set[str]]:
        if not joint.changed:
            return {}, set()
        deployer = Deployer(self._service, joint, self._options, self._view, self._check)
        with interruptible(joint.project), self._view.live():
            ended = run(joint.exchange.order.before, deployer.act, self._options.jobs)
        return ended, deployer.unchanged

    def _check(self, planned: Planned) -> None:
        self._refuse_losses(planned.stack.name, planned.plan)

    def _refuse_losses(self, name: str, plan: Mapping[str, object]) -> None:
        if not self._rules.allow_data_loss and (lost := data_losses(plan)):
            raise DataWouldBeLost(
                f"The plan of {name} loses the data of {lost}. Nothing was changed in this stack: allow it with "
                "--allow-data-loss, or deploy it by hand."
            )

    def _removed(self, project: Project, surplus: Mapping[str, str]) -> dict[str, StepResult]:
        """Remove stacks, each one after those that import from it."""
        if not surplus or not self._rules.prune or self._rules.dry_run:
            return {}
        before = removal_order(list(surplus), {}, Exchange.read(self._service, project).present)

        def act(name: str) -> None:
            stack, report = self._service.another().stack(name), self._view.of(name)
            refuse_locked(stack)
            marker = stack.last_event()
            if stack.state != "DELETE_IN_PROGRESS":
                action = deletion(stack)
                plan = action.preview()["plan"]
                self._refuse_losses(name, plan)
                report.note(f"{name} is no longer in the project file, and is deleted.")
                action.start(plan["digest"])
            finish(follow(stack, marker, report=report), ("DELETE",), report=report)

        with interruptible(project), self._view.live():
            return run(before, act, self._options.jobs)


def _rows(joint: JointPlan, ended: Mapping[str, StepResult], unchanged: set[str]) -> Iterator[dict[str, object]]:
    """Yield a row for each step of a deployment, of which nothing may have been done."""
    for name, step in joint.exchange.order.steps.items():
        planned = joint.plans[step.stack]
        absent = Outcome.UNCHANGED if planned.is_unchanged else Outcome.DIFFERENT
        usual = Outcome.UNCHANGED if name in unchanged else Outcome.DONE
        yield _row(name, planned.stack.name, ended.get(name), usual, absent)


def _row(key: str, name: str, end: StepResult | None, usual: Outcome, absent: Outcome) -> dict[str, object]:
    """Return the outcome of a stack: `usual` after a step that is done, `absent` without one."""
    if end is None:
        return {"stack": key, "name": name, "outcome": absent}
    return row_of(key, name, usual if end.outcome is Step.DONE else _outcome_of(end), end)


def _outcome_of(end: StepResult) -> Outcome:
    if end.outcome is Step.SKIPPED:
        return Outcome.SKIPPED
    refusal = refusal_of(end.error)
    if isinstance(end.error, StackIsLocked) or (refusal is not None and refusal.kind in _PAUSED):
        return Outcome.WAITING
    return Outcome.BLOCKED if isinstance(end.error, DataWouldBeLost) else Outcome.FAILED
