"""`stoker graph`: draw the dependencies in a template."""

from __future__ import annotations

import click

from stoker.cli.framework import InputPath
from stoker.cli.offline import binding_options, problems_shown

_FORMATS = ("dot", "mermaid", "svg")


@click.command()
@click.argument("path", metavar="FILE", type=InputPath(dir_okay=False))
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="dot",
    show_default=True,
    help="Output format: Graphviz, Mermaid or an SVG image.",
)
@click.option("--nested", is_flag=True, help="Also show the resources of nested stacks.")
@binding_options
def graph(path: str, form: str, nested: bool, environments: tuple[str, ...], parameters: dict[str, str]) -> None:
    """Draw the resources of a template and their dependencies, without a server.

    A solid line is a reference, a dashed one a depends_on, a dotted one a dependency that resource types add.
    Circular dependencies, which a server refuses, are red. Resources with a condition have a dashed border; without
    values for the parameters all of them are shown.

    \b
    Examples:
      stoker graph web.yaml | dot -Tpng > web.png
      stoker graph web.yaml --nested --format svg > web.svg
    """
    from stoker.authoring.graph import draw, to_dot, to_mermaid
    from stoker.authoring.sources import reader_for
    from stoker.authoring.svg import to_svg
    from stoker.authoring.workspace import Workspace
    from stoker.plugins.registry import Registry

    write = {"dot": to_dot, "mermaid": to_mermaid, "svg": to_svg}[form]
    workspace = Workspace(Registry.on_demand(), environments, parameters, reader=reader_for([path, *environments]))
    with problems_shown(workspace.sources):
        click.echo(write(draw(workspace.root(path).require_sound(), nested=nested)), nl=False)
