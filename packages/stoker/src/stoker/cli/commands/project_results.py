"""How the steps of a project's deployment have ended: errors, the summary, and the status of the command."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from stoker.authoring.project_files.project import Project, ProjectStack
from stoker.cli.client.parallel import Outcome, StepResult
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say
from stoker.cli.views.project_progress import show_summary

_UNCHANGED = "unchanged"


class ProjectRefused(CommandFailed):
    """Stacks of a project have problems, which are shown one after the other; nothing was changed."""

    def __init__(self, heading: str, errors: Mapping[str, CommandFailed]) -> None:
        super().__init__(heading)
        self.errors = errors

    def show(self, file: Any = None) -> None:
        super().show(file)
        show_errors(self.errors)


def errors_of(ended: Mapping[str, StepResult]) -> dict[str, CommandFailed]:
    """Return the errors of steps. Raises what is no failure of a command, which is a defect."""
    errors: dict[str, CommandFailed] = {}
    for name, end in ended.items():
        if isinstance(end.error, CommandFailed):
            errors[name] = end.error
        elif end.error is not None:
            raise end.error
    return errors


def refuse_failed(ended: Mapping[str, StepResult]) -> None:
    """Raise ProjectRefused if a step before the first change has failed."""
    errors = errors_of(ended)
    if errors:
        raise ProjectRefused("These stacks cannot be deployed, and nothing was changed:", errors)


def show_errors(errors: Mapping[str, CommandFailed]) -> None:
    """Show errors in the error output, each under the name of its stack."""
    for name, error in errors.items():
        say(f"\n{name}:", err=True)
        error.show()


def conclude(project: Project, ended: Mapping[str, StepResult], unchanged: set[str], form: str) -> None:
    """Show how the stacks ended, and exit with status 1 unless all are as planned."""
    errors = errors_of(ended)
    rows = [_row(project, name, end, name in unchanged) for name, end in ended.items()]
    succeeded = all(end.outcome is Outcome.DONE for end in ended.values())
    show_summary(rows, form, succeeded)
    if form != "json":
        show_errors(errors)
    if not succeeded:
        sys.exit(1)


def _row(project: Project, name: str, end: StepResult, unchanged: bool) -> dict[str, object]:
    stack: ProjectStack | None = project.stacks.get(name)
    outcome = _UNCHANGED if unchanged else end.outcome.value
    return row_of(name, stack.name if stack is not None else name, outcome, end)


def row_of(key: str, name: str, outcome: str, end: StepResult) -> dict[str, object]:
    """Return a row of a summary: the outcome of a stack, and how its step ended."""
    row: dict[str, object] = {"stack": key, "name": name, "outcome": outcome}
    if isinstance(end.error, CommandFailed):
        row["error"] = end.error.message
    if end.because_of:
        row["because_of"] = list(end.because_of)
    return row
