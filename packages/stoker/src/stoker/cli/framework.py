"""Common parts of commands: the options for output and for the cloud, and the output formats.

A command is a function that returns rows (`@listing`) or a record (`@record`), which are formatted here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

import stoker
from stoker.base.similar import closest
from stoker.cli.terminal.errors import CommandFailed, reported_errors
from stoker.cli.terminal.formats import NO_ROWS, RECORD_FORMATS, ROW_FORMATS, Row, ids, show_record, show_row, show_rows
from stoker.processes.directory import DataDirectory, default_directory

Command = TypeVar("Command", bound=Callable[..., Any])
Rows = Sequence[Row]
Decorator = Callable[[Callable[..., Any]], click.Command]

_SENTENCE = 200
"""Maximum length of a command's first sentence in the list of commands."""


class InputPath(click.Path):
    """A path that is read. That it does not exist is no mistake in the command line: the exit status is 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(exists=True, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises CommandFailed if it does not exist, or is something else than expected."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise CommandFailed(error.message) from error


class Commands(click.Group):
    """A group that turns errors into messages and lists its commands in the order in which they were added."""

    def invoke(self, context: click.Context) -> object:
        with reported_errors():
            return super().invoke(context)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; suggest a similar one for a name that does not exist."""
        if not context.resilient_parsing and self.get_command(context, args[0]) is None and args[0][:1] != "-":
            hint = self.hint(context, args[0])
            context.fail(f"There is no command {args[0]!r}{f'; did you mean {hint}?' if hint else '.'}")
        return super().resolve_command(context, args)

    def hint(self, context: click.Context, name: str) -> str:
        """Return commands that may be meant by a name that does not exist; an empty string if nothing comes close."""
        similar = closest(name, self.list_commands(context))
        return f"`{context.command_path} {similar}`" if similar else ""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their complete first sentences."""
        commands = ((name, self.get_command(context, name)) for name in self.list_commands(context))
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_SENTENCE)) for name, command in commands if command])


def key_values(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return the values of a repeatable option KEY=VALUE by key; a callback of click."""
    return dict(pairs_of(values, "KEY=VALUE"))


def pairs_of(values: Iterable[str], form: str) -> list[tuple[str, str]]:
    """Return what is left and right of the first `=` in each text. Raises click.BadParameter, which names the form."""
    pairs = [text.partition("=") for text in values]
    for name, separator, _ in pairs:
        if not separator or not name:
            raise click.BadParameter(f"{name!r} must be {form}.")
    return [(name, value) for name, _, value in pairs]


def installed_example(name: str) -> Path:
    """Return the path of an example, which is installed with the program."""
    return Path(stoker.__file__).parent / "examples" / name


def always(_rows: Rows) -> bool:
    """Accept any rows."""
    return True


def data_directory_option(function: Command) -> Command:
    """Add `--data-dir`, passed as `directory`."""

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


def with_service(function: Callable[..., object]) -> Callable[..., object]:
    """Add options that select a Stoker; the command receives it as `service`."""

    @functools.wraps(function)
    def connected(directory: DataDirectory, os_cloud: str | None, **arguments: object) -> object:
        from stoker.cli.client.connection import connect, unreachable  # imports the libraries of OpenStack's clients

        service = connect(directory, os_cloud)

        @contextmanager
        def explained() -> Iterator[None]:
            try:
                yield
            except Exception as error:
                failure = unreachable(error, service, directory)
                if failure is None:
                    raise
                raise failure from error

        def requested(rows: Iterator[object]) -> Iterator[object]:
            with explained():
                yield from rows

        with explained():
            returned = function(service, **arguments)
        return requested(returned) if isinstance(returned, Iterator) else returned  # these rows are not yet requested

    cloud_option = click.option("--os-cloud", envvar="OS_CLOUD", metavar="NAME", help="Entry of clouds.yaml to use.")
    return data_directory_option(cloud_option(connected))


yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")


def progress_format(function: Command) -> Command:
    """Add `-f` of commands that change a stack, passed as `form`."""
    return click.option(
        "-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
        help="Output format; json writes the plan, each event and the result, one object on each line.",
    )(function)  # fmt: skip


def listing(
    name: str,
    *columns: str,
    more: Iterable[str] = (),
    spare: Sequence[str] = (),
    good: Callable[[Rows], bool] = always,
    endless: str | None = None,
    shown: Callable[[Rows], tuple[str, ...]] = lambda _: (),
    empty: str = NO_ROWS,
) -> Decorator:
    """Turn a function that returns rows into the command `name`.

    `columns` are the default columns; `-c` may also select from `more`. A narrow terminal shortens times and leaves out
    the IDs among them, and then the columns in `spare`, unless `-c` selects them. The exit status is 1 if the rows are
    not `good`.
    With the option `endless`, each row is printed as soon as it is available. `shown` returns further columns of the
    table, which other formats do not have, so that programs can rely on their columns. `empty` is printed instead of a
    table without rows.
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
            further = shown(rows) if form == "table" else ()
            show_rows(rows, chosen or (*columns, *further), form, () if chosen else [*ids(columns), *spare], empty)
            if not good(rows):
                sys.exit(1)

        chosen_option = click.option(
            "-c", "--column", "chosen", multiple=True, type=choices, metavar="NAME", help="Column to show; repeatable."
        )
        return click.command(name)(format_option(ROW_FORMATS)(chosen_option(command)))

    return decorate


def record(name: str, form: str = "table") -> Decorator:
    """Turn a function that returns one record into the command `name`; `form` is the default format."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        @functools.wraps(function)
        def command(form: str, chosen: tuple[str, ...], **arguments: object) -> None:
            show_record(chosen_of(function(**arguments), chosen), form)

        chosen_option = click.option(
            "-c", "--column", "chosen", multiple=True, metavar="NAME", help="Field to show; repeatable."
        )
        return click.command(name)(format_option(RECORD_FORMATS, form)(chosen_option(command)))

    return decorate


def chosen_of(answer: Row, names: Iterable[str]) -> Row:
    """Return the fields in `names`, or all. Raises CommandFailed for an unknown name."""
    unknown = [name for name in names if name not in answer]
    if unknown:
        raise CommandFailed(f"There is no field {unknown[0]!r}; the fields are {', '.join(answer)}.")
    return {name: answer[name] for name in names} or answer


def format_option(formats: Iterable[str], default: str = "table") -> Callable[[Command], Command]:
    """Add `--format`, passed as `form`: one of `formats`."""
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(list(formats)),
        default=default,
        show_default=True,
        help="Output format.",
    )
