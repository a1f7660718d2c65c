"""What commands have in common: the options for output and for the cloud, and how answers are printed.

A command is a function that returns rows (`@listing`) or a record (`@record`); how that looks is decided here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from stoker.cli.connection import connect
from stoker.cli.errors import CommandFailed, told
from stoker.cli.formats import RECORD_FORMATS, ROW_FORMATS, Row, show_record, show_row, show_rows
from stoker.processes.directory import DataDirectory, default_directory

Command = TypeVar("Command", bound=Callable[..., Any])
Rows = Sequence[Row]
Decorator = Callable[[Callable[..., Any]], click.Command]

_SENTENCE = 200
"""Characters of a command's first sentence that are shown in the list of commands."""


class Commands(click.Group):
    """A group whose commands fail with messages, and are listed in the order in which they were added."""

    def invoke(self, context: click.Context) -> Any:
        with told():
            return super().invoke(context)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the whole of their first sentences, on as many lines as these take."""
        found = ((name, self.get_command(context, name)) for name in self.list_commands(context))
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_SENTENCE)) for name, command in found if command])


def always(_rows: Rows) -> bool:
    """Any rows are good."""
    return True


def data_directory_option(function: Command) -> Command:
    """`--data-dir`, passed on as `directory`."""

    def directory(_context: click.Context, _option: click.Parameter, value: Path | None) -> DataDirectory:
        return DataDirectory(value.expanduser().absolute()) if value else default_directory()

    return click.option(
        "--data-dir",
        "directory",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="STOKER_DATA_DIR",
        callback=directory,
        help="Directory of the embedded Stoker.  [default: ~/.local/share/stoker]",
    )(function)


def with_service(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say which Stoker to talk to; the command gets it as `service`."""

    @functools.wraps(function)
    def connected(directory: DataDirectory, os_cloud: str | None, **arguments: Any) -> Any:
        return function(connect(directory, os_cloud), **arguments)

    cloud_option = click.option(
        "--os-cloud", envvar="OS_CLOUD", metavar="NAME", help="Entry of clouds.yaml to log in with."
    )
    return data_directory_option(cloud_option(connected))


def listing(
    name: str,
    *columns: str,
    more: Iterable[str] = (),
    good: Callable[[Rows], bool] = always,
    endless: str | None = None,
) -> Decorator:
    """Make a function that returns rows the command `name`.

    `columns` are shown unless `-c` says otherwise; it may also choose from `more`. The exit status is 1 when the rows
    are not `good`. `endless` is the option with which rows are printed one by one, as they come.
    """
    choices = click.Choice([*columns, *more])

    def decorate(function: Callable[..., Any]) -> click.Command:
        @functools.wraps(function)
        def command(form: str, chosen: tuple[str, ...], **arguments: Any) -> None:
            if arguments.get(endless or ""):
                for row in function(**arguments):
                    show_row(row, chosen or columns, form)
                return
            rows = list(function(**arguments))
            show_rows(rows, chosen or columns, form)
            if not good(rows):
                sys.exit(1)

        chosen_option = click.option(
            "-c", "--column", "chosen", multiple=True, type=choices, metavar="NAME", help="Column to show; repeatable."
        )
        return click.command(name)(_format_option(ROW_FORMATS)(chosen_option(command)))

    return decorate


def record(name: str, form: str = "table") -> Decorator:
    """Make a function that returns one record the command `name`; `form` is the format it has by itself."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        @functools.wraps(function)
        def command(form: str, chosen: tuple[str, ...], **arguments: Any) -> None:
            show_record(chosen_of(function(**arguments), chosen), form)

        chosen_option = click.option(
            "-c", "--column", "chosen", multiple=True, metavar="NAME", help="Field to show; repeatable."
        )
        return click.command(name)(_format_option(RECORD_FORMATS, form)(chosen_option(command)))

    return decorate


def chosen_of(answer: Row, names: Iterable[str]) -> Row:
    """The fields of an answer that `names` says, or all. Raises CommandFailed for a name that it does not have."""
    unknown = [name for name in names if name not in answer]
    if unknown:
        raise CommandFailed(f"There is no field {unknown[0]!r}; there are {', '.join(answer)}.")
    return {name: answer[name] for name in names} or answer


def _format_option(formats: Iterable[str], default: str = "table") -> Callable[[Command], Command]:
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(list(formats)),
        default=default,
        show_default=True,
        help="How to print the answer.",
    )
