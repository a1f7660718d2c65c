"""`stoker lint`: check templates on this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from stoker import __version__
from stoker.authoring import render
from stoker.authoring.rules import ERROR, RULES
from stoker.base.diagnostics import Diagnostic
from stoker.cli import paint
from stoker.cli.errors import CommandFailed, reported_errors
from stoker.cli.framework import InputPath
from stoker.cli.offline import binding_options

if TYPE_CHECKING:
    from stoker.authoring.workspace import Workspace

Show = Callable[[Sequence[Diagnostic], int, "Workspace"], None]


def _list_rules(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    width = max(map(len, RULES))
    for rule in RULES.values():
        click.echo(f"{rule.name:{width}}  {rule.severity:7}  {rule.meaning}")
    context.exit()


def _known_rules(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in RULES:
            raise click.BadParameter(f"there is no rule {name!r}; --list-rules lists all rules.")
    return names


def _text(diagnostics: Sequence[Diagnostic], files: int, workspace: Workspace) -> None:
    paint.show(diagnostics, workspace.sources.shown)
    bad = any(diagnostic.severity == ERROR for diagnostic in diagnostics)
    paint.echo([(render.summary(diagnostics, files), "bold red" if bad else "bold green"), ("\n", "")])


def _json(diagnostics: Sequence[Diagnostic], files: int, _workspace: Workspace) -> None:
    _echo(render.to_json(diagnostics, files))


def _sarif(diagnostics: Sequence[Diagnostic], _files: int, _workspace: Workspace) -> None:
    _echo(render.to_sarif(diagnostics, RULES, __version__))


def _echo(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


_FORMATS: dict[str, Show] = {"text": _text, "json": _json, "sarif": _sarif}


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIRECTORY|-...", type=InputPath(allow_dash=True))
@binding_options
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(list(_FORMATS)),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--rule", "only", multiple=True, metavar="NAME", callback=_known_rules, help="Report only this rule; repeatable."
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="NAME",
    callback=_known_rules,
    help="Do not report this rule; repeatable.",
)
@click.option(
    "--plugin-dir",
    "plugin_dirs",
    multiple=True,
    type=InputPath(file_okay=False),
    help="Directory with plug-ins for Heat (plugin_dirs), whose types are known too; repeatable.",
)
@click.option(
    "--list-rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules, help="List all rules."
)
def lint(
    paths: tuple[str, ...],
    environments: tuple[str, ...],
    parameters: dict[str, str],
    form: str,
    only: tuple[str, ...],
    ignored: tuple[str, ...],
    plugin_dirs: tuple[str, ...],
) -> None:
    """Check templates without a server; for a directory, check all templates below it; - is the standard input.

    Nested templates and files are read relative to the file that names them. A comment `# stoker: ignore[rule]` on
    the line, or alone on the line above, suppresses a diagnostic.

    Exit status: 0, 1 for errors (not for warnings), 2 for a usage error.

    \b
    Examples:
      stoker lint web.yaml
      stoker lint templates/ -e production.yaml --format sarif
      generate-template | stoker lint -
    """
    from stoker.authoring.lint import lint as complaints_about
    from stoker.authoring.sources import find_templates, reader_for
    from stoker.authoring.workspace import Workspace
    from stoker.plugins.registry import Registry

    if plugin_dirs and find_spec("stoker_heat_plugins") is None:
        raise CommandFailed("--plugin-dir needs the package stoker-heat-plugins, which loads plug-ins for Heat.")
    options = {"plugin_dirs": plugin_dirs} if plugin_dirs else {}
    with reported_errors():
        registry = Registry.on_demand(options)
    workspace = Workspace(registry, environments, parameters, reader=reader_for([*paths, *environments]))
    files = list(find_templates(paths))
    chosen = [
        item
        for item in complaints_about(workspace, files)
        if item.rule not in ignored and (not only or item.rule in only)
    ]
    _FORMATS[form](chosen, len({*files, *environments}), workspace)
    if any(item.severity == ERROR for item in chosen):
        sys.exit(1)
