"""`stoker fmt`: format templates."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import click

from stoker.base.errors import StokerError

_STDIN = "-"


def _has_changes(path: str, text: str) -> bool:
    """Return whether the file would change, including a byte order mark and line endings."""
    return path != _STDIN and Path(path).read_bytes() != text.encode()


def _print_difference(path: str, before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="")
    click.echo("\n".join(lines))


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIRECTORY|-...", type=click.Path(allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; exit with status 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show the changes.")
@click.option("--sort", is_flag=True, help="Sort the sections of HOT templates, and the keys of resources.")
def fmt(paths: tuple[str, ...], check: bool, diff: bool, sort: bool) -> None:
    """Format templates; for a directory, format all templates below it; - is the standard input.

    Makes indentation, blank lines and the position of comments uniform. Lines are not joined or broken, and keys and
    values stay as they are written, in their order. With --sort, sections and the keys of resources get the usual order
    in HOT: type, condition, depends_on, properties and so on.

    Exit status: 0, 1 if a file is not valid or --check finds one that would
    change, 2 for a usage error.

    \b
    Examples:
      stoker fmt templates/
      stoker fmt --check --diff web.yaml
      stoker fmt - < web.yaml
    """
    from stoker.authoring.layout import layout
    from stoker.authoring.sources import find_templates, read, reason

    failed = False
    for path in find_templates(paths):
        try:
            before = read(path)
            after = layout(before, path, sort)
            changes = before != after if path == _STDIN else _has_changes(path, after)
        except (OSError, UnicodeDecodeError) as error:
            failed = True
            click.echo(f"{path}: cannot be read: {reason(error)}", err=True)
            continue
        except StokerError as error:
            failed = True
            click.echo(error.message, err=True)
            continue
        if changes and diff:
            _print_difference(path, before, after)
        if check:
            failed = failed or changes
            if changes and not diff:
                click.echo(f"{path}: would be reformatted", err=True)
        elif not diff:
            _write(path, after, changes)
    if failed:
        sys.exit(1)


def _write(path: str, text: str, changes: bool) -> None:
    if path == _STDIN:
        click.echo(text, nl=False)
    elif changes:
        Path(path).write_text(text, "utf-8", newline="\n")
        click.echo(f"{path}: reformatted", err=True)
