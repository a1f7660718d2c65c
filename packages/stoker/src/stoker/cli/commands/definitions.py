"""`stoker stack diff`: how the definition of a stack has changed from one operation to another."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import with_service
from stoker.cli.terminal import paint
from stoker.cli.terminal.formats import show_record, yaml_text
from stoker.cli.terminal.messages import say

_STYLES = {"-": "bold red", "+": "bold green", "@": "blue"}
_FILE_HEADERS = ("---", "+++")
_NOW = "now"


@click.command("diff")
@click.argument("name", shell_complete=stack_names)
@click.argument("earlier", metavar="FROM")
@click.argument("later", metavar="[TO]", required=False)
@click.option("--detailed-exitcode", is_flag=True, help="Exit with status 2 if there are differences.")
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True,
    help="Output format.",
)  # fmt: skip
@with_service
def diff(service: StackClient, name: str, earlier: str, later: str | None, detailed_exitcode: bool, form: str) -> None:
    """Show how template, environment, parameters and files of the stack NAME differ between two operations.

    FROM and TO are IDs that `stoker stack history` lists; without TO, FROM is compared with the present definition.
    Values of hidden parameters are redacted, so whether they differ is unknown.

    Exit status: 0, or with --detailed-exitcode 2 if there are differences; 1 for an error.

    \b
    Examples:
      stoker stack diff web 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e
      stoker stack diff web $OPERATION $LATER_OPERATION -f json
    """
    stack = service.stack(name)
    before, after = _Definition(stack, earlier), _Definition(stack, later)
    differences = dict(_differences(before, after))
    unknown = sorted(before.hidden & after.hidden)
    if form == "text":
        _show(differences, unknown)
    else:
        comparison: Answer = {"from": earlier, "to": later, "differences": differences, "hidden_parameters": unknown}
        show_record(comparison, form)
    if differences and detailed_exitcode:
        sys.exit(2)


class _Definition:
    """The documents of a definition by name, as of an operation or, for None, at present; `hidden` are parameters."""

    def __init__(self, stack: Stack, operation: str | None) -> None:
        environment = stack.environment(operation)
        self.label = operation or _NOW
        self.hidden = set(environment.pop("encrypted_param_names", ()))
        self.documents: Mapping[str, str] = {
            "template": yaml_text(stack.template(operation)),
            "environment": yaml_text(environment),
            **stack.files(operation),
        }

    def lines(self, name: str) -> list[str]:
        """Return the lines of a document; none of one that the definition does not have."""
        return self.documents.get(name, "").splitlines()

    def title(self, name: str) -> str:
        """Return what a document is called in a difference."""
        return f"{self.label}/{name}" if name in self.documents else "(none)"


def _differences(before: _Definition, after: _Definition) -> Iterator[tuple[str, str]]:
    """Yield the name of each document that differs, and the unified diff of its lines."""
    for name in dict.fromkeys((*before.documents, *after.documents)):
        lines = difflib.unified_diff(
            before.lines(name), after.lines(name), before.title(name), after.title(name), lineterm=""
        )
        if difference := "\n".join(lines):
            yield name, difference


def _show(differences: Mapping[str, str], unknown: list[str]) -> None:
    for text in differences.values():
        paint.echo((f"{line}\n", _style(line)) for line in text.split("\n"))
    if not differences:
        say("The definitions do not differ.")
    if unknown:
        say(f"Not compared, since their values are hidden: {', '.join(unknown)}.", err=True)


def _style(line: str) -> str:
    return "bold" if line.startswith(_FILE_HEADERS) else _STYLES.get(line[:1], "")
