"""The options with which `deploy`, `plan` and `delete` are about the stacks of a project file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from stoker.cli.client.stack_client import StackClient
from stoker.cli.framework import with_service

_SUFFIXES = (".yaml", ".yml")
_MOST_JOBS = 64
_OWN = ("formats", "project", "stage", "jobs", "directory", "os_cloud")


def for_projects(
    formats: Sequence[str], run: Callable[..., None], allowed: Sequence[str], *, named: bool, json_lines: bool = True
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Add the options that select a Stoker, those of a project, and `-f`, passed as `form`: one of `formats`, of which
    the first is the default.

    With a project, the command calls `run` with the service, the path of the project file, `stage`, `jobs`, `form` and
    the values of the options that are `allowed` with it; the service is that of the cloud which the file names, if it
    does. Without one, a `named` command needs the name of a stack.
    """
    lines_form = "; json writes the plan, each event and the result, one object on each line" if json_lines else ""
    description = f"Output format: {', '.join(formats)}{lines_form}.  [default: {formats[0]}]"
    options = (
        click.option(
            "--jobs", type=click.IntRange(1, _MOST_JOBS), default=8, show_default=True,
            help="With a project: how many stacks are worked on at the same time.",
        ),
        click.option("--stage", metavar="NAME", help="With a project: the stage."),
        click.option(
            "--project", type=click.Path(), metavar="FILE",
            help="Project file: all its stacks, in the order of their dependencies. Also -f FILE.yaml.",
        ),
        click.option("-f", "--format", "formats", multiple=True, metavar="FORMAT", help=description),
    )  # fmt: skip

    def decorate(function: Callable[..., object]) -> Callable[..., object]:
        @with_service
        @functools.wraps(function)
        def connected(
            service: StackClient, form: str, file: str | None, more: Mapping[str, object], **values: object
        ) -> Any:
            if file is None:
                return function(service, form=form, **values)
            return run(service, file, form=form, **more, **{name: values[name] for name in allowed})

        @functools.wraps(connected)
        def command(
            formats: tuple[str, ...], project: str | None, stage: str | None, jobs: int, os_cloud: str | None,
            **values: object,
        ) -> object:  # fmt: skip
            form, file = _split_file_options(formats, choices, project)
            if file is None:
                _refuse_without_project(stage, values if named else {"name": ""})
            else:
                _refuse_others((*_OWN, *allowed))
                os_cloud = _cloud_for(file, stage, os_cloud)
            return connected(form=form, file=file, more={"stage": stage, "jobs": jobs}, os_cloud=os_cloud, **values)

        for option in options:
            option(command)
        return command

    choices = tuple(formats)
    return decorate


def _cloud_for(file: str, stage: str | None, chosen: str | None) -> str | None:
    from stoker.cli.commands.project import cloud_for  # with the reader of project files

    return cloud_for(file, stage, chosen)


def _split_file_options(values: Sequence[str], choices: Sequence[str], project: str | None) -> tuple[str, str | None]:
    """Return the output format and the project file among the values of `-f`, and that of `--project`."""
    files = [value for value in values if value.endswith(_SUFFIXES)] + ([project] if project is not None else [])
    formats = [value for value in values if not value.endswith(_SUFFIXES)]
    wrong = [value for value in formats if value not in choices]
    if wrong:
        known = ", ".join(map(repr, choices))
        raise click.BadParameter(
            f"{wrong[0]!r} is not one of {known}, and no project file (*.yaml).", param_hint="'-f' / '--format'"
        )
    if len(files) > 1:
        raise click.UsageError(f"There can be one project file only, not {' and '.join(files)}.")
    return formats[-1] if formats else choices[0], files[0] if files else None


def _refuse_without_project(stage: str | None, values: dict[str, object]) -> None:
    if values["name"] is None:
        raise click.UsageError("Missing argument 'NAME', or a project file (-f FILE.yaml).")
    if stage is not None:
        raise click.UsageError("--stage is for a project: give its file, too (-f FILE.yaml).")


def _refuse_others(known: Sequence[str]) -> None:
    """Raise UsageError for an option or argument that a project does not have."""
    context = click.get_current_context()
    for parameter in context.command.params:
        is_given = parameter.name and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
        if is_given and parameter.name not in known:
            name = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
            raise click.UsageError(f"{name} is for one stack: a project file says it for each of its stacks.")
