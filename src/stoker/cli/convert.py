"""`stoker convert`: a template in the other dialect, or in the other notation."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from stoker.authoring import render
from stoker.authoring.convert.templates import TARGETS, convert, to_json, to_yaml
from stoker.authoring.sources import Sources
from stoker.cli.offline import problems_shown
from stoker.template.limits import DEFAULT_LIMITS

_FORMATS = {"yaml": to_yaml, "json": to_json}


@click.command("convert")
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--to", required=True, type=click.Choice(list(TARGETS)), help="Dialect to convert to.")
@click.option(
    "-f", "--format", "form", type=click.Choice(list(_FORMATS)), default="yaml", show_default=True, help="Notation."
)
@click.option("--partial", is_flag=True, help="Print the template also when parts of it cannot be said.")
def command(path: str, to: str, form: str, partial: bool) -> None:
    """Print a template in HOT or in CloudFormation's dialect, without a server.

    What the other dialect cannot say is listed with its place; with --partial it stands in the result as it was, for
    you to replace. Comments are not taken along.

    \b
    Exit status: 0, or 1 when something cannot be said (unless --partial)
    or the template is wrong.

    \b
    Examples:
      stoker convert legacy.template --to hot > web.yaml
      stoker convert web.yaml --to cfn --format json
    """
    sources = Sources(DEFAULT_LIMITS)
    with problems_shown(sources):
        conversion = convert(sources.template(path), to)
    render.show(Console(stderr=True, highlight=False), conversion.problems, sources.shown)
    if conversion.problems and not partial:
        sys.exit(1)
    click.echo(_FORMATS[form](conversion.data), nl=False)
