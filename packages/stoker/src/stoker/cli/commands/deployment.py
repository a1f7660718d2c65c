"""Carry out what `stoker deploy`, `plan` and `delete` are asked for: plans, questions, progress and results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import click

from stoker.authoring.plan_steps import FAILS, certain_failures, changes, findings
from stoker.authoring.render import TextOf
from stoker.base.diagnostics import Diagnostic, format_path
from stoker.cli.client.change_requests import wait_for_window
from stoker.cli.client.problem_places import MISSING, placed
from stoker.cli.client.refusals import Answer, Refused
from stoker.cli.client.saved_plans import SavedPlan
from stoker.cli.client.sources import Sources, collect, former
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.terminal.errors import CommandFailed, PlanRefused, TemplateRefused
from stoker.cli.terminal.messages import say
from stoker.cli.views.failure import failure
from stoker.cli.views.follow import CHANGING_ACTIONS, continued, follow, succeeded
from stoker.cli.views.plans import NO_RESOURCES, Compared
from stoker.cli.views.reports import TEXT, Report

Answered = TypeVar("Answered")

_CONSTRAINT = "constraint"
"""The rule of the diagnostics about values that a constraint or a service does not accept."""


def sources_of(template: str | None, environments: Sequence[str], as_of: str | None, reset_parameters: bool) -> Sources:
    """Return the definition that the user's options give: files, or what the stack had as of an operation."""
    if as_of is None:
        assert template is not None
        return collect(template, environments)
    if template is not None or environments or reset_parameters:
        raise click.UsageError("--as-of has template, environment and parameters: only -P may change them.")
    return former(as_of)


def body_of(
    sources: Sources,
    parameters: Mapping[str, object],
    rollback: bool | None,
    timeout: int | None,
    tags: tuple[str, ...] = (),
) -> Answer:
    """Return the body of a request from the user's options; options that were not given are left out."""
    body: Answer = {**sources.definition(), "parameters": dict(parameters)}
    if rollback is not None:
        body["disable_rollback"] = not rollback
    if timeout is not None:
        body["timeout_mins"] = timeout
    if tags:
        body["tags"] = ",".join(tags)
    return body


class IfBusy(StrEnum):
    """What a deployment does while another operation runs on its stack."""

    ASK = "ask"
    """Ask whether to take the stack over; without a terminal, or with --yes, refuse."""
    REFUSE = "refuse"
    WAIT = "wait"
    TAKE_OVER = "take-over"


class Deployment:
    """The definition that the user wants, and the existing stack, or None if it does not exist.

    Parameters that `body` does not set keep the values of the last deployment, unless `reset_parameters`; in a
    definition as of an operation, those of that operation. Without tags in `body`, the stack keeps its tags.
    `refresh` says which objects of an existing stack the service compares with the cloud: "none", "changes" or "all".
    Without `preflight`, it does not check the plan before the first change. The plan shows what `policies` say of it:
    YAML by the names of files. `current_stacks` are stacks that were read already, by name; None for one that does not
    exist. It `supersedes` an operation that runs on the stack by then, unless that was not agreed to.
    """

    def __init__(
        self,
        service: StackClient,
        name: str,
        sources: Sources,
        body: Answer,
        *,
        reset_parameters: bool = False,
        refresh: str = "changes",
        preflight: bool = True,
        policies: Mapping[str, str] | None = None,
        current_stacks: Mapping[str, Stack | None] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.sources = sources
        self.body = body if preflight else {**body, "preflight": False}
        self.supersedes = True
        self._service = service
        self._tried: Answer = {"plan_policies": dict(policies)} if policies else {}
        self.stack = current_stacks[name] if name in current_stacks else _found(service, name, sources)
        if self.stack is not None:
            defaults: Answer = {"refresh": refresh}
            if self.stack.facts.get("tags"):
                defaults["tags"] = ",".join(self.stack.facts["tags"])
            if sources.as_of is None:
                defaults["existing_parameters"] = not reset_parameters
            self.body = {**defaults, **self.body}

    @classmethod
    def of(
        cls,
        service: StackClient,
        name: str,
        sources: Sources,
        *,
        parameters: Mapping[str, object],
        rollback: bool | None,
        timeout: int | None,
        tags: tuple[str, ...],
        **options: Any,
    ) -> Deployment:
        """Return what the user's options say about a definition. `options` are those of the constructor."""
        return cls(service, name, sources, body_of(sources, parameters, rollback, timeout, tags), **options)

    def plan(self) -> Answer:
        """Return the plan; ask for the values of parameters that need one, on a terminal.

        Raises CommandFailed with the problems of the template, if it has any.
        """
        try:
            return self._preview()
        except Refused as error:
            missing = [str(problem.path[-1]) for problem in error.diagnostics if problem.rule == MISSING]
            if not missing or not sys.stdin.isatty() or self.sources.as_of is not None:
                raise self._explanation(error) from error
        self._ask(missing)
        return self._explained(self._preview)

    def plan_without_questions(self) -> Answer:
        """Return the plan. Raises CommandFailed with the problems of the template and its values."""
        return self._explained(self._preview)

    def _preview(self) -> Answer:
        if self.stack is None:
            return self._service.preview({"stack_name": self.name, **self.body, **self._tried})
        return self.stack.preview_update({**self._request(), **self._tried})

    def _request(self) -> Answer:
        return self.body if self.supersedes else {**self.body, "supersede": False}

    def _ask(self, names: Sequence[str]) -> None:
        """Ask for the values of parameters, without showing those of hidden ones."""
        declared = self._service.validate(self.sources.definition())["Parameters"]
        for name in names:
            facts = declared.get(name, {})
            if facts.get("Description"):
                click.echo(facts["Description"], err=True)
            hidden = facts.get("NoEcho") == "true"
            self.body["parameters"][name] = click.prompt(f"Parameter {name}", hide_input=hidden, err=True)

    def run(self, planned: int, digest: str | None = None, report: Report = TEXT) -> Stack:
        """Create or update the stack, follow until the end, and return the stack in its final state.

        `planned` is the number of changes. With the digest of a plan, exactly that plan is run: Refused is raised if
        the plan would now be different.
        """
        body = self._request() if digest is None else {**self._request(), "plan_digest": digest}
        return self._explained(lambda: begin(self._service, self.name, self.stack, body, planned, report))

    def start(self, digest: str) -> Stack:
        """Start exactly the plan with this digest, and return the stack. Raises Refused if it would be different."""
        body = {**self._request(), "plan_digest": digest}
        return self._explained(lambda: started(self._service, self.name, self.stack, body))

    def _explained(self, request: Callable[[], Answered]) -> Answered:
        try:
            return request()
        except Refused as error:
            raise self._explanation(error) from error

    def _explanation(self, error: Refused) -> CommandFailed:
        """Return the error to show for a refused request: each problem with its place in the user's files."""
        if not error.diagnostics:
            return error
        diagnostics, text_of = self._placed(error.diagnostics)
        return TemplateRefused(_joined(diagnostics), text_of)

    def _placed(self, diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], TextOf]:
        return placed(self.sources, self.body["parameters"], diagnostics)

    def refuse_known_failures(self, plan: Answer) -> None:
        """Show what may fail of a plan. Raises PlanRefused with what is known to fail."""
        from stoker.cli.terminal import paint

        failures = _failures(plan)
        warned, text_of = self._placed(
            Diagnostic.from_dict(finding["diagnostic"]) for finding in findings(plan) if finding["verdict"] != FAILS
        )
        paint.show(warned, text_of, err=True)
        if failures:
            raise PlanRefused(*self._placed(failures))


def refuse_failures(plan: Answer) -> None:
    """Raise PlanRefused with what is known to fail of a plan whose template is not at hand."""
    if failures := _failures(plan):
        raise PlanRefused(failures, lambda _: None)


def _failures(plan: Answer) -> list[Diagnostic]:
    return [Diagnostic.from_dict(diagnostic) for diagnostic in certain_failures(plan)]


def _joined(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics with those of the same wrong value, such as the name of a missing flavor, as one.

    The first one names the places of the others.
    """
    same: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for number, item in enumerate(diagnostics):
        key = (item.rule, item.message, item.hint) if item.rule == _CONSTRAINT else (str(number), "", "")
        same.setdefault(key, []).append(item)
    return [_with_places(first, others) for first, *others in same.values()]


def _with_places(first: Diagnostic, others: Sequence[Diagnostic]) -> Diagnostic:
    if not others:
        return first
    places = ", ".join(item.text().partition(": ")[0] if item.position else format_path(item.path) for item in others)
    return replace(first, message=f"{first.message.removesuffix('.')} (also at {places})")


def started(service: StackClient, name: str, stack: Stack | None, body: Answer) -> Stack:
    """Start the creation or the update of a stack, and return it."""
    if stack is None:
        return service.create({"stack_name": name, **body})
    stack.update(body)
    return stack


def begin(
    service: StackClient, name: str, stack: Stack | None, body: Answer, planned: int, report: Report = TEXT
) -> Stack:
    """Create or update a stack with a number of planned changes, and follow until the end.

    Raises CommandFailed if another operation has taken the stack over: what it made is not what was asked for here.
    """
    marker = stack.last_event() if stack is not None else None
    stack = started(service, name, stack, body)
    with continued(stack):
        begun = next(stack.operations(), None)
        done = follow(stack, marker, planned, report)
        newest = next(stack.operations(), None)
    if begun is not None and newest is not None and newest["id"] != begun["id"] and succeeded(done):
        raise CommandFailed(
            f"Superseded by {_described(newest)}: {name} is {done.state}, but not as defined by this deployment."
        )
    return done


def _described(operation: Answer) -> str:
    """Return the action, the ID, the user and the beginning of an operation."""
    user = f" of {operation['user_name']}" if operation["user_name"] else ""
    return f"the {operation['action']} operation {operation['id']}{user}, since {operation['created_at']}"


def apply(service: StackClient, saved: SavedPlan, parameters: dict[str, str], report: Report = TEXT) -> Stack:
    """Run exactly a saved plan. Raises Refused if the plan would now be different."""
    body = saved.request(parameters)
    stack = _planned_for(service, saved)
    report.plan(saved.name, saved.plan)
    return begin(service, saved.name, stack, body, len(changes(saved.plan)), report)


def wait_until_open(service: StackClient, name: str, report: Report) -> None:
    """Return when changes of a stack, which need not exist yet, are allowed by windows and freezes."""
    stack = service.existing(name)
    wait_for_window(service, stack.facts if stack is not None else None, report.note)


def _planned_for(service: StackClient, saved: SavedPlan) -> Stack | None:
    """Return the stack that a plan updates, or None for a plan that creates one.

    Raises CommandFailed if the stack no longer exists (a deleted one can still be read by its ID), or exists already.
    """
    stack = service.existing(saved.stack_id or saved.name)
    if saved.stack_id is None:
        if stack is not None:
            raise CommandFailed(f"The plan creates the stack {saved.name}, which exists already. Make a new plan.")
        return None
    if stack is None or stack.state == "DELETE_COMPLETE":
        raise CommandFailed(f"The plan is for the stack {saved.name}, which no longer exists. Make a new plan.")
    return stack


def confirm(question: str, yes: bool, report: Report = TEXT) -> None:
    """Ask for confirmation, unless `yes`. Raises CommandFailed if the user cannot be asked."""
    if yes:
        return
    if not report.asks:
        raise CommandFailed("With -f json, no question is asked. Use --yes to confirm.")
    if not sys.stdin.isatty():
        raise CommandFailed(
            "The standard input is not a terminal, so the question cannot be asked. Use --yes to confirm."
        )
    click.confirm(question, abort=True)


def finish(
    stack: Stack, actions: tuple[str, ...] = CHANGING_ACTIONS, sources: Sources | None = None, report: Report = TEXT
) -> None:
    """Show how an action ended. Raises CommandFailed unless it was one of `actions` and is complete.

    `sources` has the template that was deployed, whose declarations the error names.
    """
    good = succeeded(stack, actions)
    report.ended(stack, good)
    if not good:
        raise failure(stack, sources)


def nothing() -> None:
    """Do nothing."""


def carry_out(
    deployment: Deployment,
    yes: bool,
    report: Report = TEXT,
    before_start: Callable[[], None] = nothing,
    if_busy: IfBusy = IfBusy.ASK,
) -> Stack:
    """Show the plan, ask unless `yes`, run it, and show the result. Raises CommandFailed if it fails, and for a locked
    stack.

    A plan without changes of resources may still change the outputs, so it is run as well, without a question. After a
    question, exactly the plan that was shown is run. `before_start` is called when it has been confirmed. `if_busy`
    says what is done while another operation runs on the stack.
    """
    if deployment.stack is not None:
        refuse_locked(deployment.stack)
        if if_busy is IfBusy.WAIT:
            deployment.stack = waited(deployment.stack, report)
    plan = deployment.plan()
    report.plan(deployment.name, plan)
    deployment.refuse_known_failures(plan)
    running = _running(deployment.stack)
    if running is not None:
        report.note(f"In progress on {deployment.name}: {_described(running)}.")
        if if_busy is not IfBusy.TAKE_OVER:
            if yes or if_busy is not IfBusy.ASK:
                raise CommandFailed(
                    "Nothing was changed. Wait for that operation with --if-busy wait, or take the stack over with "
                    "--if-busy take-over."
                )
            confirm("Take the stack over with these changes?", yes, report)
    else:
        if changes(plan):
            confirm("Apply these changes?", yes, report)
        if deployment.stack is not None and if_busy is not IfBusy.TAKE_OVER:
            deployment.supersedes = False
    before_start()
    done = deployment.run(len(changes(plan)), None if yes else plan["digest"], report)
    return conclude(done, deployment.sources, report)


class StackIsLocked(CommandFailed):
    """A user has locked the stack."""


def refuse_locked(stack: Stack) -> None:
    """Raise StackIsLocked for a locked stack, before anything is planned or asked."""
    if (lock := stack.facts.get("locked")) is not None:
        user = lock["user_name"] or lock["user_id"]
        raise StackIsLocked(
            f"{stack.name} is locked by {user} since {lock['since']}: {lock['reason']}. Nothing is changed until it is "
            f"unlocked (`stoker stack unlock {stack.name}`)."
        )


def _found(service: StackClient, name: str, sources: Sources) -> Stack | None:
    """Return the stack; None if there is none. Raises NoSuchStack for a definition that it had before."""
    return service.stack(name) if sources.as_of is not None else service.existing(name)


def waited(stack: Stack, report: Report) -> Stack:
    """Return a stack when the operations that are in progress have ended; their progress is shown."""
    while (running := _running(stack)) is not None:
        report.note(f"Waiting on {stack.name} for {_described(running)}.")
        stack = follow(stack, stack.last_event(), report=report)
    refuse_locked(stack)
    return stack


def _running(stack: Stack | None) -> Answer | None:
    """Return the operation in progress on a stack, if there is one."""
    return next(stack.operations(), None) if stack is not None and stack.busy else None


def conclude(done: Stack, sources: Sources | None = None, report: Report = TEXT) -> Stack:
    """Show how a deployment of `sources` ended, and the outputs. Raises CommandFailed if it failed."""
    finish(done, sources=sources, report=report)
    report.outputs(done)
    return done


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """An action without a definition of its own: a deletion, a rollback, a restoration or a retry.

    `preview` returns the plan and, for a deletion, the snapshots; `start` starts the action, only as the plan with the
    digest says if there is one. One that is not `planned` has no plan to show. `ends` are the actions of the
    stack that count as success; the reason of the final state is shown if it `explains` what was not done.
    """

    stack: Stack
    question: str
    preview: Callable[[], Answer]
    start: Callable[[str | None], None]
    ends: tuple[str, ...]
    compared: Compared
    explains: bool = False
    planned: bool = True


def act_as_planned(action: PlannedAction, yes: bool, dry_run: bool, report: Report = TEXT) -> None:
    """Show the plan, ask unless `yes`, run it, and show the result. Nothing is done with `dry_run`.

    After a question, exactly the plan that was shown is run. Raises CommandFailed if it fails.
    """
    stack = action.stack
    previewed = _previewed(action, dry_run)
    if previewed is not None:
        report.plan(stack.name, previewed["plan"], action.compared, previewed.get("snapshots", ()))
    if dry_run:
        return
    running = _running(stack)
    if running is not None:
        report.note(f"In progress on {stack.name}: {_described(running)}.")
    confirm(action.question, yes, report)
    marker = stack.last_event()
    plan = previewed["plan"] if previewed is not None else None
    action.start(plan["digest"] if plan is not None and not yes else None)
    done = follow(stack, marker, len(changes(plan)) if plan else None, report)
    finish(done, action.ends, report=report)
    if action.explains:
        report.note(str(done.facts["stack_status_reason"]))


_NO_PREVIEWS = (404, 405)
_SERVER_ERROR = 500


def _previewed(action: PlannedAction, required: bool) -> Answer | None:
    """Return the preview of an action; None for one without a plan, and for a service that can make none, unless it is
    `required`.

    A stack whose plan cannot be made, because of an error of the service, can still be deleted.
    """
    if not action.planned and not required:
        return None
    try:
        return action.preview()
    except Refused as error:
        if required or (error.status not in _NO_PREVIEWS and error.status < _SERVER_ERROR):
            raise
        why = "does not offer one" if error.status in _NO_PREVIEWS else f"could not make one: {error.message}"
        say(f"There is no plan to show: the service {why}", err=True)
        return None


def deletion(stack: Stack, retain: Sequence[str] = (), force: bool = False, refresh: str = "changes") -> PlannedAction:
    """Return the deletion of a stack: without the objects of the resources at the paths `retain`, and, with `force`,
    without those that cannot be deleted. `refresh` says which objects its plan compares with the cloud.
    """
    options = {**({"retain": list(retain)} if retain else {}), **({"force": "true"} if force else {})}
    preview_options = {**options, **({"refresh": refresh} if refresh != "changes" else {})}
    behind = ", and leave behind what cannot be deleted" if force else ""
    preview, start = partial(stack.preview_delete, preview_options), partial(stack.delete, options=options)
    question = f"Delete the stack {stack.name}{behind}?"
    return PlannedAction(stack, question, preview, start, CHANGING_ACTIONS, NO_RESOURCES, explains=force)
