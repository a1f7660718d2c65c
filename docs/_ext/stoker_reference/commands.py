"""Generate the page about the `stoker` command from the declarations of its commands."""

from __future__ import annotations

from collections.abc import Iterator

import click

from stoker.cli.main import cli
from stoker_reference.markdown import code, page, section, sentence, table

_EXAMPLES = "Examples:"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page about the command line."""
    sections = [section(name, _body(name, command)) for name, command in _commands("stoker", cli)]
    yield "commands.md", page("Command line", sentence(cli.help or ""), *sections)


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield the executable commands below `command` with their full names."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command, info_name=name)
    for word in command.list_commands(context):
        inner = command.get_command(context, word)
        assert inner is not None, f"{name} lists the command {word} but cannot load it"
        yield from _commands(f"{name} {word}", inner)


def _body(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name)
    usage = f"{name} {' '.join(command.collect_usage_pieces(context))}"
    prose, _, examples = (command.help or "").replace("\b", "").partition(_EXAMPLES)
    parts = (
        "\n\n".join(sentence(paragraph) for paragraph in prose.split("\n\n") if paragraph.strip()),
        f"```text\n{usage}\n```",
        _options(context, command),
        _example_block(examples),
    )
    return "\n\n".join(part.strip("\n") for part in parts if part)


def _options(context: click.Context, command: click.Command) -> str:
    records = [param.get_help_record(context) for param in command.params if isinstance(param, click.Option)]
    rows = [(code(record[0]), sentence(record[1])) for record in records if record]
    return table(("Option", "Meaning"), rows) if rows else ""


def _example_block(examples: str) -> str:
    lines = [line.strip() for line in examples.strip().splitlines() if line.strip()]
    return "```console\n" + "".join(f"$ {line}\n" for line in lines) + "```" if lines else ""
