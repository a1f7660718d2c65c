"""The pages of the `stoker` command: one for the program, and one for each of its commands and groups of commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from manual_pages import roff
from stoker.cli.main import cli

_EXAMPLES = "Examples:\n"
_SHORT = 1000
"""No summary is longer, so that none is cut off."""

FILES = (
    ("~/.local/share/stoker", "Data directory of `stoker up`: the database, logs, and files for clients."),
    ("clouds.yaml", "Clouds for --cloud and --os-cloud, in the places where OpenStack's clients look for it."),
    ("/etc/heat/heat.conf", "Configuration of the processes of a cluster."),
)


def pages() -> Iterator[roff.Page]:
    """Yield the pages, that of the program first."""
    context = _context(cli, "stoker")
    found = [(name, _loaded(cli, context, name)) for name in cli.list_commands(context)]
    yield _program(context, found)
    for name, command in found:
        yield _group(name, command) if isinstance(command, click.Group) else _single(name, command)


def _context(command: click.Command, name: str) -> click.Context:
    return click.Context(command, info_name=name, **cli.context_settings)


def _loaded(group: click.Group, context: click.Context, name: str) -> click.Command:
    command = group.get_command(context, name)
    assert command is not None, f"{context.info_name} lists the command {name} but cannot load it"
    return command


def _program(context: click.Context, commands: list[tuple[str, click.Command]]) -> roff.Page:
    entries = [(f"{roff.bold(f'stoker-{name}')}(1)", command.get_short_help_str(_SHORT)) for name, command in commands]
    sections = [
        ("Synopsis", roff.synopsis([_usage(context, cli)])),
        ("Description", roff.paragraphs(cli.help or "")),
        ("Options", _options(context, cli)),
        ("Commands", roff.items(entries)),
        ("Files", roff.items((roff.option(path), meaning) for path, meaning in FILES)),
        ("Exit status", roff.items(_STATUSES)),
    ]
    return roff.Page("stoker", "orchestration of OpenStack clouds", sections)


_STATUSES = (
    (roff.bold("0"), "Success."),
    (roff.bold("1"), "The command failed; a message on the standard error stream says why."),
    (roff.bold("2"), "The command line is wrong."),
)


def _single(name: str, command: click.Command) -> roff.Page:
    context = _context(command, f"stoker {name}")
    description, examples = _help(command)
    sections = [
        ("Synopsis", roff.synopsis([_usage(context, command)])),
        ("Description", roff.paragraphs(description)),
        ("Options", _options(context, command)),
        ("Environment", _environment([command])),
        ("Examples", roff.block(examples) if examples else ""),
        ("See also", roff.references(["stoker"])),
    ]
    return roff.Page(f"stoker-{name}", command.get_short_help_str(_SHORT), sections)


def _group(name: str, group: click.Group) -> roff.Page:
    context = _context(group, f"stoker {name}")
    inner = [(f"stoker {name} {word}", _loaded(group, context, word)) for word in group.list_commands(context)]
    contexts = [_context(command, full) for full, command in inner]
    sections = [
        ("Synopsis", roff.synopsis(_usage(each, each.command) for each in contexts)),
        ("Description", roff.paragraphs(group.help or "")),
        ("Commands", "\n".join(_subcommand(each) for each in contexts)),
        ("Environment", _environment(command for _, command in inner)),
        ("See also", roff.references(["stoker"])),
    ]
    return roff.Page(f"stoker-{name}", group.get_short_help_str(_SHORT), sections)


def _subcommand(context: click.Context) -> str:
    command = context.command
    assert not isinstance(command, click.Group), f"{context.info_name}: groups in groups have no pages"
    description, examples = _help(command)
    parts = [f".SS {roff.plain(str(context.info_name))}", roff.paragraphs(description), _options(context, command)]
    if examples:
        parts += [".PP", "Examples:", roff.block(examples)]
    return "\n".join(parts)


def _usage(context: click.Context, command: click.Command) -> str:
    return f"{context.info_name} {' '.join(command.collect_usage_pieces(context))}"


def _help(command: click.Command) -> tuple[str, list[str]]:
    """Return a command's description and its examples."""
    description, _, examples = (command.help or "").partition(_EXAMPLES)
    return description.rstrip("\b\n "), examples.splitlines()


def _options(context: click.Context, command: click.Command) -> str:
    records = (
        param.get_help_record(context) for param in command.get_params(context) if isinstance(param, click.Option)
    )
    return roff.items((roff.option(record[0]), record[1]) for record in records if record)


def _environment(commands: Iterable[click.Command]) -> str:
    variables = {
        variable: f"Value of `{param.opts[-1]}`, if the option is not given."
        for command in commands
        for param in command.params
        for variable in ([param.envvar] if isinstance(param.envvar, str) else param.envvar or ())
    }
    return roff.items((roff.bold(name), meaning) for name, meaning in variables.items())
