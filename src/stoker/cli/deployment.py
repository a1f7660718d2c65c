"""Carry out what `stoker deploy`, `plan` and `delete` are asked for: plans, questions, progress and results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import click
from rich.text import Text

from stoker.base.diagnostics import Diagnostic
from stoker.cli.errors import CommandFailed, NoSuchStack
from stoker.cli.follow import WANTED, follow, succeeded
from stoker.cli.formats import cell, console
from stoker.cli.plans import changes, show_plan
from stoker.cli.saved_plans import SavedPlan
from stoker.cli.service import Answer, Refused, Service, Stack
from stoker.cli.sources import Sources, short

Answered = TypeVar("Answered")


def body_of(sources: Sources, parameters: dict[str, str], rollback: bool | None, timeout: int | None) -> Answer:
    """Return the body of a request from the user's options; options that were not given are left out."""
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
    """The definition that the user wants, and the existing stack, or None if it does not exist."""

    def __init__(self, service: Service, name: str, sources: Sources, body: Answer) -> None:
        self.name = name
        self.sources = sources
        self.body = body
        self._service = service
        try:
            self.stack: Stack | None = service.stack(name, outputs=False)
        except NoSuchStack:
            self.stack = None

    def plan(self) -> Answer:
        """Return the plan. Raises CommandFailed with the problems of the template, if it has any."""
        stack = self.stack
        if stack is None:
            body = {"stack_name": self.name, **self.body}
            return self._explained(lambda: self._service.preview(body))
        return self._explained(lambda: stack.preview_update(self.body))

    def run(self, digest: str | None = None) -> Stack:
        """Create or update the stack, follow until the end, and return the stack in its final state.

        With the digest of a plan, exactly that plan is run: Refused is raised if the plan would now be different.
        """
        body = self.body if digest is None else {**self.body, "plan_digest": digest}
        return self._explained(lambda: begin(self._service, self.name, self.stack, body))

    def _explained(self, request: Callable[[], Answered]) -> Answered:
        try:
            return request()
        except Refused as error:
            if not error.diagnostics:
                raise
            lines = [self._located(diagnostic) for diagnostic in error.diagnostics]
            raise CommandFailed("\n".join(["The template or its environment cannot be used:", *lines])) from error

    def _located(self, problem: Diagnostic) -> str:
        """Format a problem with its location in the user's file, and that line."""
        texts = self.sources.named()
        if problem.source not in texts:
            return problem.text()
        url, text = texts[problem.source]
        message = short(url) + problem.text().removeprefix(problem.source or "<template>")
        lines = text.splitlines()
        if problem.position is None or problem.position.line > len(lines):
            return message
        line = lines[problem.position.line - 1].rstrip()
        return f"{message}\n    {line}\n    {' ' * (problem.position.column - 1)}^"


def begin(service: Service, name: str, stack: Stack | None, body: Answer) -> Stack:
    """Create or update a stack, and follow until the end."""
    if stack is None:
        return follow(service.create({"stack_name": name, **body}))
    marker = stack.last_event()
    stack.update(body)
    return follow(stack, marker)


def apply(service: Service, saved: SavedPlan, parameters: dict[str, str]) -> Stack:
    """Run exactly a saved plan. Raises Refused if the plan would now be different."""
    body = saved.request(parameters)
    stack = _planned_for(service, saved)
    show_plan(saved.name, saved.plan)
    return begin(service, saved.name, stack, body)


def _planned_for(service: Service, saved: SavedPlan) -> Stack | None:
    """Return the stack that a plan updates, or None for a plan that creates one.

    Raises CommandFailed if the stack no longer exists (a deleted one can still be read by its ID), or exists already.
    """
    try:
        stack = service.stack(saved.stack_id or saved.name, outputs=False)
    except NoSuchStack:
        stack = None
    if saved.stack_id is None:
        if stack is not None:
            raise CommandFailed(f"The plan creates the stack {saved.name}, which exists already. Make a new plan.")
        return None
    if stack is None or stack.state == "DELETE_COMPLETE":
        raise CommandFailed(f"The plan is for the stack {saved.name}, which no longer exists. Make a new plan.")
    return stack


def confirm(question: str, yes: bool) -> None:
    """Ask for confirmation, unless `yes`. Raises CommandFailed if the standard input is not a terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailed(
            "The standard input is not a terminal, so the question cannot be asked. Use --yes to confirm."
        )
    click.confirm(question, abort=True)


def show_outputs(stack: Stack) -> None:
    """Print the outputs of a stack, if it has any."""
    outputs = stack.outputs()
    if not outputs:
        return
    out = console()
    out.print(Text("Outputs:", style="bold"))
    for output in outputs:
        error = output.get("output_error")
        value = Text(error, style="red") if error else Text(cell(output["output_value"]))
        out.print(Text.assemble("  ", (output["output_key"], "cyan"), " = ", value), soft_wrap=True)


def finish(stack: Stack, actions: tuple[str, ...] = WANTED) -> None:
    """Print how an action ended. Raises CommandFailed unless it was one of `actions` and is complete."""
    good = succeeded(stack, actions)
    console().print(Text(f"{stack.name}: {stack.state}", style="bold green" if good else "bold red"))
    if not good:
        raise CommandFailed(stack.facts["stack_status_reason"] or stack.state)


def carry_out(deployment: Deployment, yes: bool) -> Stack:
    """Show the plan, ask unless `yes`, run it, and show the result. Raises CommandFailed if it fails.

    A plan without changes of resources may still change the outputs, so it is run as well, without a question. After a
    question, exactly the plan that was shown is run.
    """
    plan = deployment.plan()
    show_plan(deployment.name, plan)
    if changes(plan):
        confirm("Apply these changes?", yes)
    return conclude(deployment.run(None if yes else plan["digest"]))


def conclude(done: Stack) -> Stack:
    """Show how an action ended, and the outputs. Raises CommandFailed if it failed."""
    finish(done)
    show_outputs(done)
    return done


def delete_and_follow(stack: Stack) -> None:
    """Delete a stack, and show the progress and the result."""
    marker = stack.last_event()
    stack.delete()
    finish(follow(stack, marker))
