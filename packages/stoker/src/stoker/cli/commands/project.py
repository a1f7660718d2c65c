"""Carry out `stoker deploy`, `plan` and `delete` for a project: a set of stacks that a project file describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from stoker.authoring.plan_steps import changes, summary
from stoker.authoring.project_files.ordering import removal_order
from stoker.authoring.project_files.project import Project, ProjectStack, cloud_of, read_project
from stoker.base.errors import TemplateInvalid
from stoker.cli.client.joint_plan import Exchange, Planned, output_of, predicted_inputs, refuse_used_exports
from stoker.cli.client.kept_exports import with_exports
from stoker.cli.client.parallel import run
from stoker.cli.client.refusals import Refused
from stoker.cli.client.sources import collect
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.deployment import (
    Deployment,
    PlannedAction,
    confirm,
    deletion,
    finish,
    refuse_locked,
    waited,
)
from stoker.cli.commands.project_results import conclude, refuse_failed
from stoker.cli.terminal.errors import CommandFailed, FollowingInterrupted, TemplateRefused
from stoker.cli.terminal.messages import say
from stoker.cli.views.follow import follow
from stoker.cli.views.plans import show_plan
from stoker.cli.views.project_progress import ProgressView, shown_as
from stoker.cli.views.reports import write

Check = Callable[[Planned], None]
Present = Mapping[str, Stack | None]
"""The stacks of a project as they were read, by name; None for one that does not exist."""
JOINT = "joint_deployment"
_NOTHING: Present = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Options:
    """How a project is deployed. `parameters` are values from the command line, by stack; `jobs` is how many stacks at
    most are deployed at the same time. Nothing outside of the directory `within` is read, if there is one; paths are
    relative to it then.
    """

    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reset_parameters: bool = False
    refresh: str = "changes"
    preflight: bool = True
    jobs: int = 8
    within: Path | None = None


def read(path: str, stage: str | None, within: Path | None = None) -> Project:
    """Return the project of a file; nothing outside of the directory `within` is read, if there is one.

    Raises TemplateRefused with its mistakes, or CommandFailed.
    """
    with _mistakes_shown(path):
        return read_project(path, stage, within)


def cloud_for(path: str, stage: str | None, chosen: str | None) -> str | None:
    """Return the entry of clouds.yaml to use for a project: that of its file, or else the one that is `chosen`.

    Raises CommandFailed if they are different, and as `read`.
    """
    with _mistakes_shown(path):
        named = cloud_of(path, stage)
    if named is not None and chosen:
        refuse_other_cloud(path, stage, named, chosen)
    return named or chosen


def refuse_other_cloud(path: str, stage: str | None, named: str, chosen: str | None) -> None:
    """Raise CommandFailed if a project file names another cloud than the one that is chosen."""
    if named != chosen:
        project = path if stage is None else f"the stage {stage} of {path}"
        contradiction = f"--os-cloud or OS_CLOUD is {chosen}" if chosen else f"the command has no --os-cloud {named}"
        raise CommandFailed(f"The stacks of {project} are in the cloud {named}, but {contradiction}. Nothing was done.")


@contextmanager
def _mistakes_shown(path: str) -> Iterator[None]:
    """Show the mistakes of a project file at their places."""
    try:
        yield
    except TemplateInvalid as error:
        raise _MistakesInProject(error.diagnostics, _text) from error
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


class _MistakesInProject(TemplateRefused):
    heading = "The project cannot be used:"


def _text(source: str) -> str | None:
    try:
        return Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def by_stack(project: Project, parameters: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return values STACK.PARAMETER=VALUE by stack. Raises UsageError for one that is not of a stack."""
    by_stack_key: dict[str, dict[str, str]] = {}
    for name, value in parameters.items():
        stack, dot, parameter = name.partition(".")
        if not dot or not parameter or stack not in project.stacks:
            known = ", ".join(project.stacks)
            raise click.UsageError(f"-P {name}: with a project, it is STACK.PARAMETER=VALUE; its stacks are {known}.")
        by_stack_key.setdefault(stack, {})[parameter] = value
    return by_stack_key


# -- plans ---------------------------------------------------------------------------------------------------------


class JointPlan:
    """The plans of all stacks of a project, each made after those of the stacks that it needs."""

    def __init__(self, service: StackClient, project: Project, options: Options, current_stacks: Present) -> None:
        """Make the plans; `current_stacks` are the stacks as they are.

        Raises ProjectRefused if a plan cannot be made or is known to fail.
        """
        self.project = project
        self._current_stacks = current_stacks
        self.exchange = Exchange.read(service, project)
        self.plans: dict[str, Planned] = {}
        self._service = service
        self._options = options
        ended = run(project.requires, self._plan, options.jobs)
        refuse_failed(ended)

    def _plan(self, key: str) -> None:
        stack, service = self.project.stacks[key], self._service.another()
        inputs = predicted_inputs(stack, self.plans)
        stack_deployment = deployment(service, stack, self._options, inputs.known, self._current_stacks)
        exports, released = self.exchange.pending(stack, self.plans), self.exchange.released
        stack_deployment.body[JOINT] = {"parameters": list(inputs.unknown), "exports": exports, "released": released}
        if earlier := self.exchange.earlier(stack):
            stack_deployment.body[JOINT]["earlier"] = earlier
        plan = stack_deployment.plan_without_questions()
        stack_deployment.refuse_known_failures(plan)
        planned = Planned(stack, plan, stack_deployment.stack)
        refuse_used_exports(planned, self.exchange)
        self.plans[key] = planned

    @property
    def in_order(self) -> Iterator[Planned]:
        """The plans in the order of the deployment."""
        return (self.plans[step.stack] for step in self.exchange.order.steps.values() if step.name == step.stack)

    @property
    def changed(self) -> list[Planned]:
        """The plans of the stacks that are not deployed already exactly so."""
        return [planned for planned in self.in_order if not planned.is_unchanged]

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        order = self.exchange.order
        return {
            "stage": self.project.stage,
            "stacks": [
                {
                    "stack": planned.stack.key,
                    "name": planned.stack.name,
                    "unchanged": planned.is_unchanged,
                    "after": sorted(order.before[planned.stack.key]),
                    "plan": planned.plan,
                }
                for planned in self.in_order
            ],
            "steps": [
                {"step": step.name, "stack": step.stack, "keeps_exports": sorted(step.kept)}
                for step in order.steps.values()
            ],
        }


def deployment(
    service: StackClient,
    stack: ProjectStack,
    options: Options,
    values: Mapping[str, Any],
    current_stacks: Present = _NOTHING,
) -> Deployment:
    """Return what a stack is to be; `values` are those of parameters that come from other stacks. A stack that is not
    in `current_stacks` is read.
    """
    parameters = {**stack.parameters, **values, **options.parameters.get(stack.key, {})}
    sources = collect(stack.template, stack.environments, within=options.within)
    return Deployment.of(
        service, stack.name, sources, parameters=parameters, rollback=stack.rollback, timeout=stack.timeout,
        tags=stack.tags or (), reset_parameters=options.reset_parameters, refresh=options.refresh,
        preflight=options.preflight, current_stacks=current_stacks,
    )  # fmt: skip


def show_joint_plan(joint: JointPlan, form: str) -> None:
    """Print the plans of all stacks in their order, and what they are together."""
    if form == "json":
        write("project", **joint.to_data())
        return
    for planned in joint.in_order:
        if planned.is_unchanged:
            say(f"{planned.stack.name} is deployed as its files say.")
            continue
        show_plan(planned.stack.name, planned.plan)
        click.echo()
    order = joint.exchange.order
    for step in order.steps.values():
        if step.kept:
            say(f"{step.stack} keeps the exports {', '.join(sorted(step.kept))} until nobody imports them.")
    for planned in joint.in_order:
        if before := sorted(order.before[planned.stack.key]):
            say(f"{planned.stack.key} comes after {', '.join(before)}.")
    new = sum(planned.existing is None for planned in joint.changed)
    total = len(joint.plans)
    say(f"Project: {new} to create, {len(joint.changed) - new} to update, {total - len(joint.changed)} unchanged.")


def plan_project(
    service: StackClient, path: str, stage: str | None, parameters: Mapping[str, str], options: Options, form: str
) -> bool:
    """Show the plan of a project; return whether there are changes."""
    project, options = _selected_project(path, stage, parameters, options)
    joint = JointPlan(service, project, options, present(service, project, options))
    if form == "text":
        show_joint_plan(joint, form)
    else:
        from stoker.cli.terminal.formats import show_record

        show_record(joint.to_data(), form)
    return bool(joint.changed)


def _selected_project(
    path: str, stage: str | None, parameters: Mapping[str, str], options: Options
) -> tuple[Project, Options]:
    """Return a project, and `options` with the values that the user gives to its stacks."""
    project = read(path, stage)
    return project, replace(options, parameters=by_stack(project, parameters))


# -- deployments ---------------------------------------------------------------------------------------------------


def deploy_project(
    service: StackClient,
    path: str,
    stage: str | None,
    parameters: Mapping[str, str],
    options: Options,
    yes: bool,
    form: str,
) -> None:
    """Deploy the stacks of a project, after showing the plan. Raises CommandFailed unless all are deployed."""
    view = shown_as(form)
    project, options = _selected_project(path, stage, parameters, options)
    joint = JointPlan(service, project, options, at_rest(service, project, options, view))
    show_joint_plan(joint, form)
    if joint.changed:
        confirm("Deploy these stacks?", yes, view.question_report())
    deployer = Deployer(service, joint, options, view, None if yes else partial(_refuse_unconfirmed_destruction, joint))
    with interruptible(joint.project), view.live():
        ended = run(joint.exchange.order.before, deployer.act, options.jobs)
    conclude(project, ended, deployer.unchanged, form)


class Deployer:
    """Deploys the stacks of a project; `unchanged` are those that needed nothing.

    With a `check` of each final plan, which raises CommandFailed, exactly the plan that it accepts is run.
    """

    def __init__(
        self, service: StackClient, joint: JointPlan, options: Options, view: ProgressView, check: Check | None
    ) -> None:
        self.unchanged: set[str] = set()
        self._service = service
        self._joint = joint
        self._options = options
        self._view = view
        self._check = check

    def act(self, name: str) -> None:
        """Carry out a step. Raises CommandFailed if it fails."""
        step = self._joint.exchange.order.steps[name]
        stack, service = self._joint.project.stacks[step.stack], self._service.another()
        report = self._view.of(stack.name)
        stack_deployment = deployment(service, stack, self._options, self._values(service, stack))
        if step.kept:
            stack_deployment.sources.template = with_exports(stack_deployment.sources.template, step.kept)
            stack_deployment.body["template"] = stack_deployment.sources.template
        if stack_deployment.stack is not None:
            stack_deployment.stack = (
                waited(stack_deployment.stack, report) if stack_deployment.stack.busy else stack_deployment.stack
            )
            stack_deployment.supersedes = False
        stack_deployment.body[JOINT] = {}
        plan = stack_deployment.plan_without_questions()
        del stack_deployment.body[JOINT]
        planned = Planned(stack, plan, stack_deployment.stack)
        if planned.is_unchanged:
            self.unchanged.add(name)
            return
        if stack_deployment.stack is not None:
            refuse_locked(stack_deployment.stack)
        if self._check is not None:
            self._check(planned)
        stack_deployment.refuse_known_failures(plan)
        done = stack_deployment.run(len(changes(plan)), None if self._check is None else plan["digest"], report)
        finish(done, sources=stack_deployment.sources, report=report)
        report.outputs(done)

    def _values(self, service: StackClient, stack: ProjectStack) -> dict[str, object]:
        """Return the values of the parameters that come from other stacks, which are deployed."""
        stacks = self._joint.project.stacks
        names = {reference.stack: stacks[reference.stack].name for reference in stack.references.values()}
        outputs = {key: service.stack(name).outputs() for key, name in names.items()}
        return {
            name: output_of(outputs[reference.stack], names[reference.stack], reference.output)
            for name, reference in stack.references.items()
        }


def _refuse_unconfirmed_destruction(joint: JointPlan, planned: Planned) -> None:
    """Raise CommandFailed if a plan destroys what the plan that was confirmed did not."""
    more = sorted(f"{kind} {path}" for path, kind in planned.destroys - joint.plans[planned.stack.key].destroys)
    if more:
        raise CommandFailed(
            f"With what is known now, the plan of {planned.stack.name} also has: {', '.join(more)}. Nothing was "
            "changed in this stack: deploy the project again to see its plan."
        )


def present(service: StackClient, project: Project, options: Options) -> Present:
    """Return the stacks of a project by name; None for one that does not exist."""
    return _read_all(service, project, options, lambda stack: stack)


def at_rest(service: StackClient, project: Project, options: Options, view: ProgressView) -> Present:
    """Return the same when no operation runs on a stack, such as one of an earlier run that was interrupted."""
    with interruptible(project), view.live():
        return _read_all(
            service, project, options, lambda stack: waited(stack, view.of(stack.name)) if stack.busy else stack
        )


def _read_all(service: StackClient, project: Project, options: Options, settled: Callable[[Stack], Stack]) -> Present:
    stacks: dict[str, Stack | None] = {}

    def read_one(key: str) -> None:
        name = project.stacks[key].name
        stack = service.another().existing(name)
        stacks[name] = settled(stack) if stack is not None else None

    refuse_failed(run(dict.fromkeys(project.stacks, ()), read_one, options.jobs))
    return stacks


@contextmanager
def interruptible(project: Project) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise FollowingInterrupted(
            f"Operations that have begun continue, no others are started. To go on, run the same command again "
            f"({project.document.source})."
        ) from None


# -- deletion ------------------------------------------------------------------------------------------------------


def delete_project(
    service: StackClient,
    path: str,
    stage: str | None,
    options: Options,
    force: bool,
    yes: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Delete the stacks of a project, those that others need last, after showing the plan.

    Raises CommandFailed unless all are deleted.
    """
    view = shown_as(form)
    project = read(path, stage)
    exchange = Exchange.read(service, project)
    existing = dict(_existing(service, project))
    before = removal_order(list(existing), project.requires, exchange.present)
    for key in sorted(existing, key=list(before).index):
        _show_deletion(deletion(existing[key], force=force, refresh=options.refresh), form, bool(before[key]))
    if dry_run:
        return
    if existing:
        names = ", ".join(stack.name for stack in existing.values())
        confirm(f"Delete the stacks {names}?", yes, view.question_report())

    def act(key: str) -> None:
        stack, report = service.another().stack(existing[key].name), view.of(existing[key].name)
        refuse_locked(stack)
        marker = stack.last_event()
        if stack.state != "DELETE_IN_PROGRESS":
            deletion(stack, force=force).start(None)
        finish(follow(stack, marker, report=report), ("DELETE",), report=report)

    with interruptible(project), view.live():
        ended = run(before, act, options.jobs)
    conclude(project, ended, set(), form)


def _existing(service: StackClient, project: Project) -> Iterator[tuple[str, Stack]]:
    for key, stack in project.stacks.items():
        if (existing := service.existing(stack.name)) is not None:
            yield key, existing


def _show_deletion(action: PlannedAction, form: str, has_consumers: bool) -> None:
    """Show the plan of a deletion; it cannot be made while other stacks, which are deleted first, import exports."""
    stack = action.stack
    try:
        preview = action.preview()
    except Refused:
        if not has_consumers:
            raise
        preview = None
    if form == "json":
        plan = preview["plan"] if preview is not None else None
        write("plan", stack=stack.name, plan=plan, summary=summary(plan) if plan is not None else None)
    elif preview is None:
        number = len(stack.resources())
        say(f"{stack.name} is deleted with its {number} resources, after the stacks that import from it.")
    else:
        show_plan(stack.name, preview["plan"], action.compared)
        click.echo()
