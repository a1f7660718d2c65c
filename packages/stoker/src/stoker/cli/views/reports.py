"""How commands that change a stack show what they do: in sentences for people, or as JSON, one object on each line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.text import Text

from stoker.authoring.plan_steps import summary
from stoker.cli.client.outages import ANSWERS_AGAIN
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import cell, console
from stoker.cli.views.plans import Compared, show_plan
from stoker.cli.views.progress import Progress, path_of
from stoker.cli.views.progress_views import View, view


class Report(Protocol):
    """Shows what a command does, in the order of the methods."""

    asks: bool
    """Whether the user can be asked for confirmation."""

    def plan(self, name: str, plan: Answer, compared: Compared | None = None, snapshots: Sequence[Answer] = ()) -> None:
        """Show the plan for the stack `name`, and the snapshots that are deleted with it."""

    def note(self, text: str) -> None:
        """Show a message about the stack."""

    def view(self) -> AbstractContextManager[View]:
        """Return what shows the progress."""

    def ended(self, stack: Stack, succeeded: bool) -> None:
        """Show the state in which an action has left the stack."""

    def outputs(self, stack: Stack) -> None:
        """Show the stack's outputs."""

    def failed(self, error: CommandFailed) -> None:
        """Show an error besides the message in the error output."""


class AsText:
    """Text for people: a tree that is redrawn on a terminal, and lines elsewhere."""

    asks = True

    def plan(self, name: str, plan: Answer, compared: Compared | None = None, snapshots: Sequence[Answer] = ()) -> None:
        show_plan(name, plan, compared)
        if snapshots:
            names = ", ".join(snapshot["name"] or snapshot["id"] for snapshot in snapshots)
            console().print(Text(f"Snapshots that are deleted with the stack: {names}.", "bold red"), soft_wrap=True)

    def note(self, text: str) -> None:
        console().print(Text(text, "yellow"))

    def view(self) -> AbstractContextManager[View]:
        return view(console())

    def ended(self, stack: Stack, succeeded: bool) -> None:
        console().print(Text(f"{stack.name}: {stack.state}", style="bold green" if succeeded else "bold red"))

    def outputs(self, stack: Stack) -> None:
        outputs = stack.outputs()
        if not outputs:
            return
        out = console()
        out.print(Text("Outputs:", style="bold"))
        for output in outputs:
            error = output.get("output_error")
            value = Text(error, style="red") if error else Text(cell(output["output_value"]))
            out.print(Text.assemble("  ", (output["output_key"], "cyan"), " = ", value), soft_wrap=True)

    def failed(self, error: CommandFailed) -> None:
        """The message in the error output is enough."""


TEXT = AsText()


class JSONLines:
    """One JSON object on each line, flushed as it is written; docs/how-to/terminal.md lists the keys."""

    asks = False

    def plan(self, name: str, plan: Answer, compared: Compared | None = None, snapshots: Sequence[Answer] = ()) -> None:
        write("plan", stack=name, summary=summary(plan), plan=plan, snapshots=list(snapshots))

    def note(self, text: str) -> None:
        write("note", message=text)

    @contextmanager
    def view(self) -> Iterator[View]:
        yield _Events()

    def ended(self, stack: Stack, succeeded: bool) -> None:
        write(
            "end",
            stack=stack.name,
            id=stack.id,
            status=stack.state,
            reason=stack.facts.get("stack_status_reason"),
            failure=stack.facts.get("failure"),
            succeeded=succeeded,
        )

    def outputs(self, stack: Stack) -> None:
        outputs = stack.outputs()
        errors = {output["output_key"]: output["output_error"] for output in outputs if output.get("output_error")}
        values = {output["output_key"]: output["output_value"] for output in outputs if not output.get("output_error")}
        write("outputs", stack=stack.name, outputs=values, errors=errors)

    def failed(self, error: CommandFailed) -> None:
        diagnostics = [item.to_dict() for item in getattr(error, "diagnostics", ())]
        write("error", message=error.message, diagnostics=diagnostics)


class _Events:
    """Writes every event, and outages of the service."""

    def show(self, progress: Progress) -> None:
        event = progress.event
        if event is None:
            return
        write(
            "event",
            time=event["event_time"],
            stack=progress.stack.name,
            resource=".".join(path_of(event, progress.stack)) or None,
            status=event["resource_status"],
            reason=event["resource_status_reason"],
            cause=".".join(event.get("cause") or ()) or None,
            hook=event.get("hook"),
            physical_id=event["physical_resource_id"],
        )

    def wait(self, progress: Progress) -> None:
        """Only events are written."""

    def outage(self, progress: Progress, text: str | None) -> None:
        write("outage", stack=progress.stack.name, message=text or ANSWERS_AGAIN, answers=text is None)

    def end(self, progress: Progress) -> None:
        """The end has a line of its own."""


def write(kind: str, **fields: object) -> None:
    """Write one object to the standard output."""
    line = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    print(f"{line}\n", end="", flush=True)  # in one piece, since several threads may write


_FORMATS: dict[str, Callable[[], Report]] = {"text": lambda: TEXT, "json": JSONLines}


@contextmanager
def reported(form: str) -> Iterator[Report]:
    """Yield the report in the format of the option `-f`; show an error of the body in it, too."""
    report = _FORMATS[form]()
    try:
        yield report
    except CommandFailed as error:
        report.failed(error)
        raise
