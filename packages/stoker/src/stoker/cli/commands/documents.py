"""`stoker stack export`, `abandon` and `adopt`: move stacks, and take over objects that exist."""

from __future__ import annotations

import json
from pathlib import Path

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import key_values, with_service, yes_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.processes.directory import write_private

_OUT = click.option(
    "-o", "--out", "out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="File to write, readable by its owner only; the standard output by default.",
)  # fmt: skip


@click.command("export")
@click.argument("name", shell_complete=stack_names)
@_OUT
@with_service
def export(service: StackClient, name: str, out: Path | None) -> None:
    """Print the document of the stack NAME: its definition, and the IDs and data of its resources.

    `stoker stack adopt` creates a stack from it. Hidden values are encrypted: only a service with the same key can
    read them.

    \b
    Examples:
      stoker stack export web -o web.json
    """
    _write(service.stack(name).export(), out)


@click.command("abandon")
@click.argument("name", shell_complete=stack_names)
@_OUT
@yes_option
@with_service
def abandon(service: StackClient, name: str, out: Path | None, yes: bool) -> None:
    """Remove the stack NAME, keep all its objects in the cloud, and print its document.

    Without the document, the objects cannot be adopted with their data again: keep it.

    \b
    Examples:
      stoker stack abandon web -o web.json
    """
    from stoker.cli.commands.deployment import confirm

    stack = service.stack(name)
    confirm(f"Remove the stack {stack.name}, and keep its objects?", yes)
    if out is not None:
        _write(stack.export(), out)  # a file that cannot be written is found while the stack is still there
    _write(stack.abandon(), out)


@click.command("adopt")
@click.argument("name")
@click.argument("document", type=click.Path(dir_okay=False, allow_dash=True), metavar="DOCUMENT")
@click.option(
    "-P", "--parameter", "parameters", multiple=True, metavar="KEY=VALUE", callback=key_values,
    help="Value of a parameter, such as a hidden one from a service with another key; repeatable.",
)  # fmt: skip
@with_service
def adopt(service: StackClient, name: str, document: str, parameters: dict[str, str]) -> None:
    """Create the stack NAME from DOCUMENT, a file that export or abandon has written, with the objects that it names.

    \b
    Examples:
      stoker stack adopt web web.json
      stoker stack abandon web --yes | stoker stack adopt web -
    """
    from stoker.cli.commands.deployment import finish
    from stoker.cli.views.follow import follow
    from stoker.cli.views.reports import TEXT

    try:
        with click.open_file(document, encoding="utf-8") as file:
            text = file.read()
        data = json.loads(text)
    except OSError as error:
        raise CommandFailed(f"{document} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise CommandFailed(f"{document} is not JSON: {error}") from None
    if not isinstance(data, dict) or "template" not in data:
        raise CommandFailed(f"{document} is not the document of a stack: it has no template.")
    done = follow(service.create({"stack_name": name, "adopt_stack_data": text, "parameters": parameters}))
    finish(done, ("ADOPT",))
    TEXT.outputs(done)


def _write(document: Answer, out: Path | None) -> None:
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if out is None:
        click.echo(text)
        return
    try:
        write_private(out, f"{text}\n")
    except OSError as error:
        raise CommandFailed(f"{out} cannot be written: {error.strerror or error}.") from error


DOCUMENTS = [export, abandon, adopt]
