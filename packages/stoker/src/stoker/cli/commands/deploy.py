"""`stoker deploy`, `plan` and `delete`: create, update and delete stacks, and show the plan first.

The commands import what carries them out when they run, so that their help and their completion are quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stoker.cli.client.saved_plans import SavedPlan, is_plan
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.completion import file_names, stack_names, stack_or_plan_names
from stoker.cli.commands.project_options import for_projects
from stoker.cli.commands.refresh_options import extent, no_refresh_option, refresh_options
from stoker.cli.framework import key_values, yes_option
from stoker.cli.terminal.formats import show_record
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from stoker.cli.commands.deployment import PlannedAction
    from stoker.cli.commands.project import Options

Command = TypeVar("Command", bound=Callable[..., Any])

_PATH = click.Path(dir_okay=False, path_type=Path)


_as_of_option = click.option(
    "--as-of", "as_of", metavar="OPERATION",
    help="Return to the definition as of this operation, an ID that `stoker stack history` lists.",
)  # fmt: skip


def definition_options(
    *, required: bool, returns: bool = True, completed: Callable[..., object] = stack_names
) -> Callable[[Command], Command]:
    """The options that define a stack; those that it `returns` to include an earlier definition of it.

    `completed` returns what may be in the place of its name.
    """
    options = (
        click.option(
            "--rollback/--no-rollback",
            default=None,
            help="Whether to roll back after a failure.  [default: as set for the stack; no for a new one]",
        ),
        click.option("--timeout", type=click.IntRange(min=1), metavar="MINUTES", help="Timeout of the action."),
        click.option(
            "--reset-parameters", is_flag=True,
            help="Use the defaults of parameters that are not given, not the values of the last deployment.",
        ),
        refresh_options,
        click.option(
            "--no-preflight", "preflight", flag_value=False, default=True, type=bool,
            help="Do not check quotas and conflicts before the first change.",
        ),
        click.option(
            "--tag", "tags", multiple=True, metavar="TAG",
            help="Tag of the stack, such as stoker:heal; repeatable.  [default: the tags that it has]",
        ),
        click.option(
            "-P", "--parameter", "parameters", multiple=True, metavar="KEY=VALUE", callback=key_values,
            help="Value of a parameter; repeatable.",
        ),
        click.option(
            "-e", "--environment", "environments", multiple=True, metavar="FILE|URL", shell_complete=file_names,
            help="Environment; repeatable, later ones override.",
        ),
        *((_as_of_option,) if returns else ()),
        click.option("-t", "--template", metavar="FILE|URL", shell_complete=file_names, help="Template."),
        click.argument("name", shell_complete=completed, required=required),
    )  # fmt: skip

    def decorate(function: Command) -> Command:
        for option in options:
            function = option(function)
        return function

    return decorate


_HOW = ("parameters", "reset_parameters", "refresh", "skip_refresh", "preflight")
"""The options of a definition that apply to all stacks of a project."""


def _deployment_options(options: dict[str, Any], jobs: int) -> Options:
    from stoker.cli.commands.project import Options

    refresh = extent(options["refresh"], options["skip_refresh"])
    return Options({}, options["reset_parameters"], refresh, options["preflight"], jobs)


def _deploy_project(
    service: StackClient, file: str, stage: str | None, jobs: int, form: str, yes: bool, **options: Any
) -> None:
    from stoker.cli.commands.project import deploy_project
    from stoker.cli.views.reports import reported

    with reported(form):
        deploy_project(service, file, stage, options["parameters"], _deployment_options(options, jobs), yes, form)


def _plan_project(
    service: StackClient, file: str, stage: str | None, jobs: int, form: str, destroy: bool, force: bool,
    detailed_exitcode: bool, **options: Any,
) -> None:  # fmt: skip
    from stoker.cli.commands.project import delete_project, plan_project

    if destroy:
        delete_project(service, file, stage, _deployment_options(options, jobs), force, True, True, form)
        return
    changed = plan_project(service, file, stage, options["parameters"], _deployment_options(options, jobs), form)
    if detailed_exitcode and changed:
        sys.exit(2)


def _delete_project(
    service: StackClient, file: str, stage: str | None, jobs: int, form: str, yes: bool, force: bool,
    skip_refresh: bool, dry_run: bool,
) -> None:  # fmt: skip
    from stoker.cli.commands.project import Options, delete_project
    from stoker.cli.views.reports import reported

    with reported(form):
        options = Options(refresh=extent(None, skip_refresh), jobs=jobs)
        delete_project(service, file, stage, options, force, yes, dry_run, form)


@click.command()
@definition_options(required=False, completed=stack_or_plan_names)
@click.option("--plan", "plan_file", type=_PATH, metavar="FILE", help="Apply this saved plan.")
@click.option(
    "--if-busy",
    type=click.Choice(["ask", "refuse", "wait", "take-over"]),
    default="ask",
    show_default=True,
    help="While another operation runs on the stack: ask whether to take the stack over (with --yes, refuse), refuse, "
    "wait until it has ended, or take the stack over.",
)
@click.option(
    "--wait-for-window", is_flag=True, help="Wait until the change windows and freezes of the stack allow changes."
)
@yes_option
@for_projects(("text", "json"), _deploy_project, (*_HOW, "yes"), named=False)
def deploy(
    service: StackClient,
    name: str | None,
    template: str | None,
    as_of: str | None,
    environments: tuple[str, ...],
    parameters: dict[str, str],
    reset_parameters: bool,
    refresh: str | None,
    skip_refresh: bool,
    preflight: bool,
    rollback: bool | None,
    timeout: int | None,
    tags: tuple[str, ...],
    plan_file: Path | None,
    if_busy: str,
    wait_for_window: bool,
    yes: bool,
    form: str,
) -> None:
    """Create or update the stack NAME, after showing the plan.

    Parameters that are not given keep the values of the last deployment; values that are missing are asked for on a
    terminal. With --as-of, the stack returns to the template, files and parameters that it had then.

    A saved plan is applied without a question, exactly as saved; it is refused if anything has changed since. FILE.plan
    instead of NAME is a saved plan, too.

    With a project file, all its stacks are deployed: in parallel, each one after those whose outputs and exports it
    uses. Where something fails, only the stacks that need it are left out. What is deployed already is left as it is,
    so that an interrupted command can be repeated. Values of parameters are -P STACK.KEY=VALUE.

    Exit status: 0, 1 if a stack could not be deployed, 130 after an interruption.

    \b
    Examples:
      stoker deploy web -t web.yaml
      stoker deploy web -t web.yaml -e production.yaml -P flavor=m1.large --yes
      stoker deploy web --as-of 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
      stoker deploy web.plan
      stoker deploy web -t web.yaml --yes -f json
      stoker deploy web -t web.yaml --yes --if-busy wait
      stoker deploy web -t web.yaml --yes --wait-for-window
      stoker deploy -f project.yaml --stage production
    """
    if plan_file is None and template is None and name is not None and is_plan(Path(name)):
        plan_file, name = Path(name), None
    if plan_file is not None:
        if (
            name
            or template
            or as_of
            or environments
            or reset_parameters
            or refresh
            or skip_refresh
            or not preflight
            or (rollback, timeout, tags, if_busy) != (None, None, (), "ask")
        ):
            raise click.UsageError("A saved plan is complete: only hidden parameters may be given with it.")
        from stoker.cli.commands.deployment import apply, conclude, wait_until_open
        from stoker.cli.views.reports import reported

        with reported(form) as report:
            saved = SavedPlan.read(plan_file)
            if wait_for_window:
                wait_until_open(service, saved.stack_id or saved.name, report)
            conclude(apply(service, saved, parameters, report), report=report)
        return
    if name is None or (template or as_of) is None:
        raise click.UsageError("Give the name of a stack and a template (NAME -t FILE), or a saved plan (--plan FILE).")
    from stoker.cli.commands.deployment import Deployment, IfBusy, carry_out, sources_of, wait_until_open
    from stoker.cli.views.reports import reported

    with reported(form) as report:
        sources = sources_of(template, environments, as_of, reset_parameters)
        options: dict[str, Any] = {"parameters": parameters, "rollback": rollback, "timeout": timeout, "tags": tags}
        options |= {
            "reset_parameters": reset_parameters,
            "preflight": preflight,
            "refresh": extent(refresh, skip_refresh),
        }
        if wait_for_window:
            wait_until_open(service, name, report)
        deployment = Deployment.of(service, name, sources, **options)
        carry_out(deployment, yes, report, if_busy=IfBusy(if_busy))


_retain_option = click.option(
    "--retain", multiple=True, metavar="RESOURCE",
    help="Keep the object of this resource, given by its path in the plan, such as group.0.volume; repeatable.",
)  # fmt: skip
_force_option = click.option(
    "--force", is_flag=True, help="Delete the stack although objects cannot be deleted, and leave these behind."
)


@click.command()
@definition_options(required=False)
@click.option("--destroy", is_flag=True, help="Show what `delete` would do.")
@_retain_option
@_force_option
@click.option("-o", "--out", "out", type=_PATH, metavar="FILE", help="Save the plan, for `stoker deploy FILE`.")
@click.option(
    "--policy",
    "policy_files",
    multiple=True,
    type=_PATH,
    metavar="FILE",
    help="Show what policies in this file say of the plan, too; repeatable.",
)
@click.option("--detailed-exitcode", is_flag=True, help="Exit with status 2 if there are changes.")
@for_projects(
    ("text", "json", "yaml"), _plan_project, (*_HOW, "destroy", "force", "detailed_exitcode"), named=True,
    json_lines=False,
)  # fmt: skip
def plan(
    service: StackClient,
    name: str,
    template: str | None,
    as_of: str | None,
    environments: tuple[str, ...],
    parameters: dict[str, str],
    reset_parameters: bool,
    refresh: str | None,
    skip_refresh: bool,
    preflight: bool,
    rollback: bool | None,
    timeout: int | None,
    tags: tuple[str, ...],
    destroy: bool,
    retain: tuple[str, ...],
    force: bool,
    out: Path | None,
    policy_files: tuple[Path, ...],
    detailed_exitcode: bool,
    form: str,
) -> None:
    """Show what `deploy` would do to the stack NAME, without doing it.

    With --destroy, show what `delete` would do. With a project file, show it for all its stacks; values that come from
    stacks that are deployed before are known as far as the plans of these say.

    What is known to fail, such as a quota that is too small, is shown with its place in the template.

    Exit status: 0, or with --detailed-exitcode 2 if there are changes; 1 for an error, and for a plan that is known to
    fail.

    \b
    Examples:
      stoker plan web -t web.yaml
      stoker plan web -t web.yaml -o web.plan
      stoker plan web -t web.yaml --refresh=all
      stoker plan web -t web.yaml -f json
      stoker plan web -t web.yaml --policy policies.yaml
      stoker plan web --destroy
      stoker plan -f project.yaml --stage production
    """
    if destroy:
        definition = (template, as_of, rollback, timeout, out) != (None,) * 5 or environments or parameters
        if definition or reset_parameters or not preflight or tags or policy_files:
            raise click.UsageError(
                "A deletion has no definition: only --retain, --force, --refresh and --no-refresh may be given besides."
            )
        from stoker.cli.commands.deployment import deletion

        action = deletion(service.stack(name), retain, force, extent(refresh, skip_refresh))
        _plan_deletion(action, detailed_exitcode, form)
        return
    if retain or force:
        raise click.UsageError("--retain and --force are about a deletion: give --destroy with them.")
    if (template or as_of) is None:
        raise click.UsageError("Give a template (-t FILE), or --destroy for the plan of a deletion.")
    if policy_files and as_of is not None:
        raise click.UsageError("--policy tries policies on a template: give -t, not --as-of.")
    from stoker.authoring.plan_steps import changes
    from stoker.cli.commands.deployment import Deployment, sources_of
    from stoker.cli.views.plans import show_plan

    sources = sources_of(template, environments, as_of, reset_parameters)
    options: dict[str, Any] = {"parameters": parameters, "rollback": rollback, "timeout": timeout, "tags": tags}
    options |= {"reset_parameters": reset_parameters, "preflight": preflight, "refresh": extent(refresh, skip_refresh)}
    options |= {"policies": _policy_texts(policy_files)}
    deployment = Deployment.of(service, name, sources, **options)
    plan = deployment.plan()
    if out is not None:
        stack_id = deployment.stack.id if deployment.stack is not None else None
        SavedPlan.of(name, stack_id, deployment.body, plan).write(out)
    if form == "text":
        show_plan(name, plan)
    else:
        show_record(plan, form)
    if out is not None:
        say(f"Saved the plan. To apply it: stoker deploy --plan {out}", err=form != "text")
    deployment.refuse_known_failures(plan)
    if detailed_exitcode and changes(plan):
        sys.exit(2)


def _policy_texts(paths: Sequence[Path]) -> dict[str, str]:
    """Return the contents of files with policies, by name. Raises CommandFailed, and PoliciesRefused."""
    if not paths:
        return {}
    from stoker.cli.policy_files import policy_texts

    return policy_texts(map(str, paths))


def _plan_deletion(action: PlannedAction, detailed_exitcode: bool, form: str) -> None:
    """Show the plan of a deletion; with `detailed_exitcode`, exit with status 2 unless the stack is empty."""
    from stoker.authoring.plan_steps import changes
    from stoker.cli.views.reports import TEXT

    preview = action.preview()
    if form == "text":
        TEXT.plan(action.stack.name, preview["plan"], action.compared, preview["snapshots"])
    else:
        show_record({**preview["plan"], "snapshots": preview["snapshots"]}, form)
    if detailed_exitcode and (changes(preview["plan"]) or preview["snapshots"]):
        sys.exit(2)


@click.command()
@click.argument("file", type=_PATH)
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True,
    help="Output format.",
)  # fmt: skip
def show(file: Path, form: str) -> None:
    """Show the saved plan FILE, as it was when it was saved. No service is needed.

    \b
    Examples:
      stoker show web.plan
      stoker show web.plan -f json
    """
    from stoker.cli.views.plans import show_plan

    if not file.exists() and not is_plan(file):
        raise click.UsageError(f"There is no saved plan {file}. To show a stack: `stoker stack show {file}`.")
    saved = SavedPlan.read(file)
    if form != "text":
        show_record({"stack_name": saved.name, "stack_id": saved.stack_id, **saved.plan}, form)
        return
    show_plan(saved.name, saved.plan)
    if saved.withheld:
        say(f"To apply it, give the values of hidden parameters again: {', '.join(saved.withheld)}.")


@click.command()
@click.argument("name", shell_complete=stack_names, required=False)
@yes_option
@_retain_option
@_force_option
@no_refresh_option
@click.option("--dry-run", is_flag=True, help="Show the plan, and delete nothing.")
@for_projects(("text", "json"), _delete_project, ("yes", "force", "skip_refresh", "dry_run"), named=True)
def delete(
    service: StackClient, name: str, yes: bool, retain: tuple[str, ...], force: bool, skip_refresh: bool, dry_run: bool,
    form: str,
) -> None:  # fmt: skip
    """Delete the stack NAME with all its resources, after showing the plan.

    The plan marks what loses data, such as volumes, and names what is retained, what was deleted or changed outside
    Stoker, and the snapshots that are deleted with the stack. With a project file, all its stacks are deleted: those
    that others need after these.

    \b
    Examples:
      stoker delete web
      stoker delete web --dry-run
      stoker delete web --retain database --retain workers.0.volume
      stoker delete web --yes -f json
      stoker delete -f project.yaml --stage test
    """
    from stoker.cli.commands.deployment import act_as_planned, deletion
    from stoker.cli.views.reports import reported

    with reported(form) as report:
        action = deletion(service.stack(name), retain, force, extent(None, skip_refresh))
        act_as_planned(action, yes, dry_run, report)
