"""`stoker deploy`, `plan` and `delete`: from a template to a stack, with the plan first."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
import yaml
from rich.text import Text

from stoker.base.diagnostics import Diagnostic
from stoker.cli.errors import CommandFailed, NoSuchStack
from stoker.cli.follow import follow, succeeded
from stoker.cli.formats import cell, console
from stoker.cli.framework import with_service
from stoker.cli.plans import changes, show_plan
from stoker.cli.service import Answer, Refused, Service, Stack
from stoker.cli.sources import Sources, collect, short

Answered = TypeVar("Answered")


def _parameters(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, separator, _ in pairs:
        if not separator or not name:
            raise click.BadParameter(f"{name!r} must be KEY=VALUE.")
    return {name: value for name, _, value in pairs}


def _definition_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that define a stack."""
    for option in (
        click.option(
            "--rollback/--no-rollback",
            default=None,
            help="Whether a failure takes the stack back.  [default: as the stack has it; no for a new one]",
        ),
        click.option("--timeout", type=click.IntRange(min=1), metavar="MINUTES", help="How long it may take."),
        click.option(
            "-P", "--parameter", "parameters", multiple=True, metavar="KEY=VALUE", callback=_parameters,
            help="Value of a parameter; repeatable.",
        ),
        click.option(
            "-e", "--environment", "environments", multiple=True, metavar="FILE|URL",
            help="Environment; repeatable, later ones win.",
        ),
        click.option("-t", "--template", required=True, metavar="FILE|URL", help="Template."),
    ):  # fmt: skip
        function = option(function)
    return click.argument("name")(function)


def body_of(sources: Sources, parameters: dict[str, str], rollback: bool | None, timeout: int | None) -> Answer:
    """The body of a request from what the user gave; what was not given is left out."""
    body: Answer = {
        "template": sources.template,
        "files": sources.files,
        "environment_files": sources.environments,
        "parameters": parameters,
    }
    if rollback is not None:
        body["disable_rollback"] = not rollback
    if timeout is not None:
        body["timeout_mins"] = timeout
    return body


class Deployment:
    """A stack as the user wants it, and as it is: None when it does not exist."""

    def __init__(self, service: Service, name: str, sources: Sources, body: Answer) -> None:
        self.name = name
        self._service = service
        self._sources = sources
        self._body = body
        try:
            self.stack: Stack | None = service.stack(name, outputs=False)
        except NoSuchStack:
            self.stack = None

    def plan(self) -> Answer:
        """What would be done. Raises CommandFailed with the problems of the template, if it has any."""
        stack = self.stack
        if stack is None:
            body = {"stack_name": self.name, **self._body}
            return self._explained(lambda: self._service.preview(body))
        return self._explained(lambda: stack.preview_update(self._body))

    def run(self) -> Stack:
        """Do it, and follow until it is done; answers the stack as it is then."""
        if self.stack is None:
            body = {"stack_name": self.name, **self._body}
            return follow(self._explained(lambda: self._service.create(body)))
        stack, marker = self.stack, self.stack.last_event()
        self._explained(lambda: stack.update(self._body))
        return follow(stack, marker)

    def _explained(self, request: Callable[[], Answered]) -> Answered:
        try:
            return request()
        except Refused as error:
            if not error.diagnostics:
                raise
            lines = [self._located(diagnostic) for diagnostic in error.diagnostics]
            raise CommandFailed("\n".join(["The template or its environment cannot be used:", *lines])) from error

    def _located(self, problem: Diagnostic) -> str:
        """A problem with the place in the user's own file, and the line that stands there."""
        texts = self._sources.named()
        if problem.source not in texts:
            return problem.text()
        url, text = texts[problem.source]
        told = short(url) + problem.text().removeprefix(problem.source or "<template>")
        lines = text.splitlines()
        if problem.position is None or problem.position.line > len(lines):
            return told
        line = lines[problem.position.line - 1].rstrip()
        return f"{told}\n    {line}\n    {' ' * (problem.position.column - 1)}^"


def confirm(question: str, yes: bool) -> None:
    """Ask, unless the user has said yes already. Raises CommandFailed when nobody is there to answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailed("Nobody is there to confirm: the standard input is no terminal. Say --yes to go ahead.")
    click.confirm(question, abort=True)


def show_outputs(stack: Stack) -> None:
    """Print the outputs of a stack that has any."""
    outputs = stack.outputs()
    if not outputs:
        return
    out = console()
    out.print(Text("Outputs:", style="bold"))
    for output in outputs:
        error = output.get("output_error")
        value = Text(error, style="red") if error else Text(cell(output["output_value"]))
        out.print(Text.assemble("  ", (output["output_key"], "cyan"), " = ", value), soft_wrap=True)


def finish(stack: Stack) -> None:
    """Tell how an action ended; the exit status is 1 when it failed."""
    good = succeeded(stack)
    console().print(Text(f"{stack.name}: {stack.state}", style="bold green" if good else "bold red"))
    if not good:
        raise CommandFailed(stack.facts["stack_status_reason"] or stack.state)


def carry_out(deployment: Deployment, yes: bool) -> Stack:
    """Show the plan, ask unless `yes`, do it, and show what came out. Raises CommandFailed when it fails.

    What changes no resource may still change the outputs, so it is done as well, without a question.
    """
    plan = deployment.plan()
    show_plan(deployment.name, plan)
    if changes(plan):
        confirm("Do it?", yes)
    done = deployment.run()
    finish(done)
    show_outputs(done)
    return done


@click.command()
@_definition_options
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_service
def deploy(
    service: Service,
    name: str,
    template: str,
    environments: tuple[str, ...],
    parameters: dict[str, str],
    rollback: bool | None,
    timeout: int | None,
    yes: bool,
) -> None:
    """Create or update the stack NAME, after showing what will be done.

    \b
    Examples:
      stoker deploy web -t web.yaml
      stoker deploy web -t web.yaml -e production.yaml -P flavor=m1.large --yes
    """
    sources = collect(template, environments)
    carry_out(Deployment(service, name, sources, body_of(sources, parameters, rollback, timeout)), yes)


@click.command()
@_definition_options
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when there is something to change.")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@with_service
def plan(
    service: Service,
    name: str,
    template: str,
    environments: tuple[str, ...],
    parameters: dict[str, str],
    rollback: bool | None,
    timeout: int | None,
    detailed_exitcode: bool,
    form: str,
) -> None:
    """Show what `deploy` would do to the stack NAME, and do nothing.

    \b
    Exit status: 0, or with --detailed-exitcode 2 when there is something to change; 1 for an error.

    \b
    Examples:
      stoker plan web -t web.yaml
      stoker plan web -t web.yaml -f json
    """
    sources = collect(template, environments)
    found = Deployment(service, name, sources, body_of(sources, parameters, rollback, timeout)).plan()
    match form:
        case "json":
            click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        case "yaml":
            click.echo(yaml.safe_dump(found, sort_keys=False, allow_unicode=True), nl=False)
        case _:
            show_plan(name, found)
    if detailed_exitcode and changes(found):
        sys.exit(2)


@click.command()
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_service
def delete(service: Service, name: str, yes: bool) -> None:
    """Delete the stack NAME with everything in it.

    \b
    Examples:
      stoker delete web
      stoker delete web --yes
    """
    stack = service.stack(name, outputs=False)
    count = len(stack.resources())
    confirm(f"Delete the stack {stack.name} with its {count} resources?", yes)
    delete_and_follow(stack)


def delete_and_follow(stack: Stack) -> None:
    """Delete a stack, show how that goes, and tell how it ended."""
    marker = stack.last_event()
    stack.delete()
    finish(follow(stack, marker))
