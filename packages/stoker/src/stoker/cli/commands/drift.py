"""`stoker drift`: show how the objects of a stack differ from its definition, and settle that."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stoker.authoring.drift_watch_text import watch_lines
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import with_service, yes_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import show_record
from stoker.cli.terminal.messages import say


@click.command()
@click.option("--accept", is_flag=True, help="Record the values of the cloud as the deployed ones; change no object.")
@click.option("--revert", is_flag=True, help="Bring the objects back to the definition, after showing the plan.")
@click.option(
    "--last",
    is_flag=True,
    help="Show the result of the latest comparison, also one by the service itself; do not ask the cloud.",
)
@click.option(
    "--watch", type=click.Choice(["off", "detect", "repair", "default"]),
    help="Choose what the service does about drift of the stack by itself.",
)  # fmt: skip
@click.option(
    "-t",
    "--template",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --accept: the stack's template, to name the lines to change.",
)
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True,
    help="Output format.",
)  # fmt: skip
@yes_option
@click.argument("name", shell_complete=stack_names)
@click.argument("resources", nargs=-1, metavar="[RESOURCE]...")
@with_service
def drift(
    service: StackClient,
    name: str,
    resources: tuple[str, ...],
    accept: bool,
    revert: bool,
    last: bool,
    watch: str | None,
    template: Path | None,
    form: str,
    yes: bool,
) -> None:
    """Ask the cloud for the objects of the stack NAME, and show how they differ from its definition.

    Shows the changes that would restore the definition, without making them: each value as it is and as it should be,
    missing objects, and resources that are marked unhealthy or have failed. What cannot be compared is counted and
    listed, with the reason, and what the template ignores (ignore_drift). With -f json, `compared` contains all of it.

    While a large stack is being compared, the progress and the first differences are written to the error output.

    With --accept, the differences of each RESOURCE (a path such as group.0.server; by default, all) are recorded as
    deployed, and the change of the template that keeps them is shown. With --revert, the plan is run.

    With --watch, the service itself compares the stack with the cloud at the operator's interval (detect), and also
    corrects the differences (repair). --last shows the result of the latest comparison, and its age.

    Exit status: 0 without differences, 2 with differences, 1 for an error, also if a service did not answer. With
    --accept and --revert: 0 if everything was settled, otherwise 1.

    \b
    Examples:
      stoker drift web
      stoker drift web -f json
      stoker drift web --accept net -t web.yaml
      stoker drift web --revert
      stoker drift web --watch detect
      stoker drift web --last
    """
    if (last or watch is not None) and (accept or revert or yes or (last and watch is not None)):
        raise click.UsageError("--watch and --last are given alone.")
    _check_accept_and_revert(accept, revert, yes, bool(resources), template)
    stack = service.stack(name)
    if last or watch is not None:
        _watch(stack, watch, form)
        return
    if accept:
        _accept(stack, resources, template, form, yes)
    elif revert:
        _revert(stack, form, yes)
    else:
        _show(stack, form)


def _check_accept_and_revert(accept: bool, revert: bool, yes: bool, has_resources: bool, template: Path | None) -> None:
    """Raise UsageError for options that contradict --accept and --revert, or need one of them."""
    if accept and revert:
        raise click.UsageError("--accept and --revert contradict each other: give one of them.")
    if not accept and (has_resources or template is not None):
        raise click.UsageError("Resources and a template are for --accept: give it with them.")
    if template is not None and not template.is_file():
        raise click.UsageError(f"There is no file {template}.")
    if yes and not (accept or revert):
        raise click.UsageError("Without --accept or --revert, there is nothing to confirm.")


def _watch(stack: Stack, mode: str | None, form: str) -> None:
    """Choose a mode, and exit with 0; without a mode, show the last comparison, and exit with 2 if it found drift."""
    found = stack.drift_watch(mode)
    if form != "text":
        show_record(found, form)
    else:
        for line in watch_lines(found):
            say(line)
    if mode is None and found["status"] == "DRIFTED":
        sys.exit(2)


def _show(stack: Stack, form: str) -> None:
    from stoker.authoring.plan_steps import is_unanswered

    found = stack.drift(_Progress().report)
    if form != "text":
        show_record(found, form)
        differs = _differs(found)
    elif (differs := _print_differences(stack, found)) and _correctable_paths(found):
        say(f"To correct it: stoker drift {stack.name} --revert; to keep it: stoker drift {stack.name} --accept")
    if differs:
        sys.exit(2)
    if is_unanswered(found):
        sys.exit(1)


class _Progress:
    """Writes the progress of a comparison, and the differences found so far, to the error output."""

    def __init__(self) -> None:
        self._compared = self._differing = 0

    def report(self, detection: Answer) -> None:
        """Print what is new since the last time."""
        compared, total, differing = detection["compared"], detection["resources"], detection["differing"]
        if detection["status"] != "IN_PROGRESS" or compared == self._compared:
            return
        for difference in differing[self._differing :]:
            say(f"  {difference['path']} ({difference['type']}): {difference['status']}", err=True)
        say(f"Compared {compared} of {total} objects; {len(differing)} of them differ.", err=True)
        self._compared, self._differing = compared, len(differing)


def _differs(plan: Answer) -> bool:
    from stoker.authoring.plan_steps import changes

    return bool(changes(plan))


def _correctable_paths(plan: Answer) -> list[str]:
    """Return the paths of differences that a plan corrects: all but missing objects that the stack does not own."""
    from stoker.authoring.plan_steps import MISSING, changes, shown_kind

    return [step["path"] for step in changes(plan) if shown_kind(step) != MISSING]


def _refuse_missing(plan: Answer) -> None:
    """Raise CommandFailed if objects are gone that Stoker does not make again."""
    from stoker.authoring.plan_steps import MISSING, changes, shown_kind

    if missing := [step["path"] for step in changes(plan) if shown_kind(step) == MISSING]:
        raise CommandFailed(
            f"Not brought back, as the objects do not belong to the stack (external_id): {', '.join(missing)}. Remove "
            "these resources from the template, or refer to other objects under other names."
        )


def _print_differences(stack: Stack, plan: Answer) -> bool:
    """Print how the cloud differs, and what was compared; return whether it differs."""
    from stoker.cli.views.plans import show_plan

    differs = _differs(plan)
    if differs:
        say("The cloud differs (what is there -> what the template says):")
    show_plan(stack.name, plan)
    return differs


def _accept(stack: Stack, resources: tuple[str, ...], template: Path | None, form: str, yes: bool) -> None:
    from stoker.authoring.accepted_values import as_template_changes
    from stoker.cli.commands.deployment import confirm
    from stoker.cli.views.reports import TEXT

    if not yes:
        if form != "text":
            raise CommandFailed(f"With -f {form}, no question is asked. Use --yes to confirm.")
        if not _print_differences(stack, stack.drift()):
            return
        confirm("Record these differences as deployed?", yes, TEXT)
    answer = stack.accept_drift(resources)
    if form != "text":
        show_record({"accept_drift": answer}, form)
    else:
        _report(stack, answer, as_template_changes(answer, template))
    not_accepted = [difference for difference in answer if not difference["accepted"]]
    if not_accepted:
        reasons = "; ".join(f"{difference['path']}: {difference['reason']}" for difference in not_accepted)
        raise CommandFailed(f"Not accepted: {reasons}.")


def _report(stack: Stack, answer: list[Answer], changes: str) -> None:
    count = sum(difference["accepted"] for difference in answer)
    if not count:
        say(f"Nothing was accepted: no object of {stack.name} differs from its record.")
        return
    say(f"Accepted the values of {count} resource{'s' * (count != 1)}. The change of the template that keeps them:")
    say("")
    say(changes)
    say("Until the template says so, a deployment that compares with the cloud changes them back.")


def _revert(stack: Stack, form: str, yes: bool) -> None:
    from stoker.cli.commands.deployment import PlannedAction, act_as_planned, refuse_failures
    from stoker.cli.views.plans import CLOUD
    from stoker.cli.views.reports import reported

    if form == "yaml":
        raise click.UsageError("--revert has the formats text and json only.")
    with reported(form) as report:
        plan = stack.drift()
        if not _correctable_paths(plan):
            report.plan(stack.name, plan, CLOUD, ())
            _refuse_missing(plan)
            return
        refuse_failures(plan)
        question = f"Bring the objects of {stack.name} back to its definition?"
        action = PlannedAction(stack, question, lambda: {"plan": plan}, stack.correct, ("UPDATE",), CLOUD)
        act_as_planned(action, yes, False, report)
        _refuse_missing(plan)
