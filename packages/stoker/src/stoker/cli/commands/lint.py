"""`stoker lint`: check templates on this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stoker import __version__
from stoker.authoring import render
from stoker.authoring.rules import ERROR, RULES
from stoker.base.diagnostics import Diagnostic
from stoker.cli.framework import InputPath
from stoker.cli.offline import binding_options
from stoker.cli.terminal import paint
from stoker.cli.terminal.errors import CommandFailed, reported_errors
from stoker.cli.terminal.messages import say

if TYPE_CHECKING:
    from stoker.authoring.workspace import Workspace
    from stoker.engine.plan_policies.policy import Policy

Show = Callable[[Sequence[Diagnostic], int, "Workspace", Mapping[str, str]], None]


def _list_rules(context: click.Context, _option: click.Parameter, is_requested: bool) -> None:
    if not is_requested or context.resilient_parsing:
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


def _text(diagnostics: Sequence[Diagnostic], files: int, workspace: Workspace, skipped: Mapping[str, str]) -> None:
    paint.show(diagnostics, workspace.sources.shown)
    bad = any(diagnostic.severity == ERROR for diagnostic in diagnostics)
    paint.echo([(render.summary(diagnostics, files, skipped), "bold red" if bad else "bold green"), ("\n", "")])


def _json(diagnostics: Sequence[Diagnostic], files: int, _workspace: Workspace, skipped: Mapping[str, str]) -> None:
    _echo(render.to_json(diagnostics, files, skipped))


def _sarif(diagnostics: Sequence[Diagnostic], _files: int, _workspace: Workspace, skipped: Mapping[str, str]) -> None:
    _echo(render.to_sarif(diagnostics, RULES, __version__, skipped))


def _nothing_found(directories: Sequence[str], skipped: Mapping[str, str]) -> str:
    """Return the message for directories without templates, with up to three of the files in them."""
    message = f"There are no templates below {', '.join(directories)}."
    others = [f"{path}: {why}" for path, why in skipped.items() if path.startswith(tuple(directories))]
    more = f"; {len(others) - 3} more files" if len(others) > 3 else ""
    return f"{message} Not checked: {'; '.join(others[:3])}{more}." if others else message


def _echo(data: object) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


_MOST_ROUNDS = 10
_FORMATS: dict[str, Show] = {"text": _text, "json": _json, "sarif": _sarif}


def _fix(diagnostics: Sequence[Diagnostic], paths: Collection[str]) -> bool:
    """Correct what can be corrected in the files, and say what was; return whether anything was.

    Files that were not named, such as nested templates, are left as they are. Raises CommandFailed.
    """
    from stoker.authoring.fixes import fixed

    done = False
    for path in sorted(paths):
        try:
            before = Path(path).read_bytes().decode("utf-8")
            after, number = fixed(before, (item for item in diagnostics if item.source == path))
            if number:
                Path(path).write_bytes(after.encode("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            if any(item.source == path and item.replacement for item in diagnostics):
                raise CommandFailed(f"{path} cannot be corrected: {error}") from error
            continue
        if number:
            done = True
            say(f"{path}: {number} name{'' if number == 1 else 's'} corrected", err=True)
    return done


def _policies(paths: Sequence[str]) -> Sequence[Policy]:
    """Return the policies in files; show their mistakes, and exit with status 1. Raises CommandFailed."""
    if not paths:
        return ()
    from stoker.cli.policy_files import read_policy_files

    return read_policy_files(paths)


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
    "--policy",
    "policy_files",
    multiple=True,
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Policies that the plan of creating a stack must satisfy; repeatable.",
)
@click.option("--fix", is_flag=True, help="Correct misspelt names in the files first, as hints suggest them.")
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
    policy_files: tuple[str, ...],
    fix: bool,
) -> None:
    """Check templates without a server; for a directory, check all templates below it; - is the standard input.

    Project files are checked in all their stages. Nested templates and files are read relative to the file that names
    them. A comment `# stoker: ignore[rule]` on the line, or alone on the line above, suppresses a diagnostic.

    Exit status: 0, 1 for errors (not for warnings) and for a directory without
    templates, 2 for a usage error.

    \b
    Examples:
      stoker lint web.yaml
      stoker lint templates/ -e production.yaml --format sarif
      stoker lint templates/ --fix
      stoker lint web.yaml -P flavor=m1.tiny --policy policies.yaml
      generate-template | stoker lint -
    """
    from stoker.authoring.lint import lint as problems_of
    from stoker.authoring.project_files.checking import is_project
    from stoker.authoring.project_files.checking import problems_of as problems_of_project
    from stoker.authoring.sources import reader_for, search
    from stoker.authoring.workspace import Workspace
    from stoker.plugins.registry import Registry

    if plugin_dirs and find_spec("stoker_heat_plugins") is None:
        raise CommandFailed("--plugin-dir needs the package stoker-heat-plugins, which loads plug-ins for Heat.")
    options = {"plugin_dirs": plugin_dirs} if plugin_dirs else {}
    with reported_errors():
        registry = Registry.on_demand(options)
    if fix and "-" in paths:
        raise click.UsageError("--fix changes files; the standard input cannot be changed.")
    searched = search(paths)
    projects = [path for path in (*searched.templates, *searched.skipped) if is_project(path)]
    empty = [path for path in searched.empty if not any(Path(path) in Path(project).parents for project in projects)]
    if empty:
        raise CommandFailed(_nothing_found(empty, searched.skipped))
    files = [path for path in searched.templates if path not in projects]
    skipped = {path: why for path, why in searched.skipped.items() if path not in (*environments, *projects)}

    policies = _policies(policy_files)

    def linted() -> tuple[Workspace, list[Diagnostic]]:
        workspace = Workspace(registry, environments, parameters, reader=reader_for([*paths, *environments]))
        problems = problems_of(workspace, files)
        for item in (item for project in projects for item in problems_of_project(project)):
            if workspace.sources.exists(item.source) and item not in problems:
                problems.append(item)
        if policies:
            from stoker.authoring.policy_findings import policy_findings

            problems += (item for path in files for item in policy_findings(workspace, path, policies))
        return workspace, [item for item in problems if item.rule not in ignored and (not only or item.rule in only)]

    workspace, chosen = linted()
    for _ in range(_MOST_ROUNDS if fix else 0):  # a corrected name can reveal another mistake
        if not _fix(chosen, {*files, *environments, *projects}):
            break
        workspace, chosen = linted()
    _FORMATS[form](chosen, len({*files, *environments, *projects}), workspace, skipped)
    if any(item.severity == ERROR for item in chosen):
        sys.exit(1)
