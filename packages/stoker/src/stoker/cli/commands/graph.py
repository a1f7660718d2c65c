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
@click.option("--stage", metavar="NAME", help="Of a project file: the stage.")
@binding_options
def graph(
    path: str, form: str, nested: bool, stage: str | None, environments: tuple[str, ...], parameters: dict[str, str]
) -> None:
    """Draw the resources of a template and their dependencies, without a server.

    A solid line is a reference, a dashed one a depends_on, a dotted one a dependency that resource types add.
    Circular dependencies, which a server refuses, are red. Resources with a condition have a dashed border; without
    values for the parameters all of them are shown.

    Of a project file, the stacks are drawn: a solid line is an output that is used, a dotted one an export that is
    imported.

    \b
    Examples:
      stoker graph web.yaml | dot -Tpng > web.png
      stoker graph web.yaml --nested --format svg > web.svg
      stoker graph project.yaml --stage production --format mermaid
    """
    from stoker.authoring.graph import draw, to_dot, to_mermaid
    from stoker.authoring.project_files.checking import draw_project, is_project
    from stoker.authoring.sources import reader_for
    from stoker.authoring.svg import to_svg
    from stoker.authoring.workspace import Workspace
    from stoker.plugins.registry import Registry

    write = {"dot": to_dot, "mermaid": to_mermaid, "svg": to_svg}[form]
    if is_project(path):
        from stoker.cli.commands.project import read

        if environments or parameters:
            raise click.UsageError("A project file has the environments and parameters of its stacks.")
        click.echo(write(draw_project(read(path, stage), nested=nested)), nl=False)
        return
    if stage is not None:
        raise click.UsageError(f"--stage is for a project file, and {path} is none.")
    workspace = Workspace(Registry.on_demand(), environments, parameters, reader=reader_for([path, *environments]))
    with problems_shown(workspace.sources):
        click.echo(write(draw(workspace.root(path).require_valid(), nested=nested)), nl=False)
