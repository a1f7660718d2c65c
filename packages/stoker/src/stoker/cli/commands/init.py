"""`stoker init`: begin with templates that work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from stoker.cli.framework import format_option, installed_example
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import ROW_FORMATS, show_rows


@dataclass(frozen=True, slots=True)
class Starter:
    """Templates to begin with: a file or a directory of the installed examples, the main template, and what it is."""

    example: str
    main: str
    meaning: str


STARTERS: Mapping[str, Starter] = {
    "network": Starter("network.yaml", "network.yaml", "A network with a router to the outside."),
    "web-tier": Starter("web-tier", "web-tier.yaml", "Web servers with data volumes, reached through a floating IP."),
    "autoscaling": Starter(
        "scaling", "scaling.yaml", "Web servers behind a load balancer; their load sets their number."
    ),
    "cluster": Starter("cluster", "cluster.yaml", "A Kubernetes cluster (k3s): a control plane and workers."),
    "static-site": Starter("static-site", "static-site.yaml", "A website of plain files in the object store."),
    "cfn": Starter("cfn", "web.yaml", "A web server in a CloudFormation template, with mappings and conditions."),
}


def _kinds(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [kind for kind in STARTERS if kind.startswith(incomplete)]


@click.command("init")
@click.argument("kind", required=False, type=click.Choice(list(STARTERS)), metavar="[KIND]", shell_complete=_kinds)
@click.argument("directory", required=False, type=click.Path(file_okay=False, path_type=Path), metavar="[DIRECTORY]")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@format_option(ROW_FORMATS)
def init(kind: str | None, directory: Path | None, force: bool, form: str) -> None:
    """Write templates of a KIND to begin with into a new directory; without KIND, list the kinds.

    DIRECTORY is named after the kind unless it is given. Files that exist are not overwritten.

    \b
    Examples:
      stoker init
      stoker init web-tier
      stoker init cluster clusters/test
    """
    if kind is None:
        rows = [{"kind": name, "description": starter.meaning} for name, starter in STARTERS.items()]
        show_rows(rows, ("kind", "description"), form)
        return
    starter = STARTERS[kind]
    target = directory or Path(kind)
    source = installed_example(starter.example)
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    files = [file for file in files if file.is_file()]
    existing = [str(target / file.name) for file in files if os.path.lexists(target / file.name)]
    if existing and not force:
        raise CommandFailed(
            f"{', '.join(existing)} {'exists' if len(existing) == 1 else 'exist'} already; --force overwrites."
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            place = target / file.name
            place.unlink(missing_ok=True)  # a link is replaced, not the file that it leads to
            with place.open("xb") as written:
                written.write(file.read_bytes())
            click.echo(f"wrote {place}")
    except OSError as error:
        raise CommandFailed(f"{error.filename or target} cannot be written: {error.strerror or error}.") from error
    main = target / starter.main
    click.echo(f"\nNext:\n  stoker lint {target}\n  stoker up --detach\n  stoker deploy {kind} -t {main}")
