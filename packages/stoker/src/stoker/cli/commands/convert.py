"""`stoker convert`: convert a template between HOT and CloudFormation, or between YAML and JSON."""

from __future__ import annotations

import sys

import click

from stoker.authoring.convert import CFN, HOT
from stoker.cli.framework import InputPath
from stoker.cli.offline import problems_shown
from stoker.cli.terminal.paint import show

_FORMATS = ("yaml", "json")


@click.command("convert")
@click.argument("path", metavar="FILE", type=InputPath(dir_okay=False))
@click.option("--to", required=True, type=click.Choice((HOT, CFN)), help="Dialect to convert to.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="yaml",
    show_default=True,
    help="Output format.",
)
@click.option("--partial", is_flag=True, help="Print the template even if parts of it cannot be converted.")
def command(path: str, to: str, form: str, partial: bool) -> None:
    """Convert a template to HOT or to CloudFormation, without a server.

    Parts that the other dialect does not support are listed with their location; with --partial, they are left
    unchanged in the result, for you to replace. Comments are not preserved.

    Exit status: 0, or 1 if a part cannot be converted (unless --partial)
    or the template is invalid.

    \b
    Examples:
      stoker convert legacy.template --to hot > web.yaml
      stoker convert web.yaml --to cfn --format json
    """
    from stoker.authoring.convert.templates import convert, to_json, to_yaml
    from stoker.authoring.sources import Sources, reader_for
    from stoker.template.limits import DEFAULT_LIMITS

    sources = Sources(DEFAULT_LIMITS, reader_for([path]))
    with problems_shown(sources):
        conversion = convert(sources.template(path), to)
    show(conversion.problems, sources.shown, err=True)
    if conversion.problems and not partial:
        sys.exit(1)
    click.echo({"yaml": to_yaml, "json": to_json}[form](conversion.data), nl=False)
