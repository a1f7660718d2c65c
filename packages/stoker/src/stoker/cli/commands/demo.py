"""`stoker demo`: start an embedded Stoker that deploys and updates an example."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--data-dir", "data_directory", type=click.Path(file_okay=False, path_type=Path),
    help="Data directory, which is kept.  [default: a temporary directory]",
)  # fmt: skip
@click.option(
    "--scaling", "story", flag_value="scaling", default="web-tier",
    help="Deploy servers behind a load balancer, whose number follows alarms.",
)  # fmt: skip
def demo(data_directory: Path | None, story: str) -> None:
    """Start Stoker with an emulated cloud, deploy an example, and change it.

    On a terminal, everything keeps running until Ctrl-C; otherwise the stack is deleted and the command exits.

    \b
    Examples:
      stoker demo
      stoker demo --scaling
    """
    from stoker.base.extras import PARTS, require_parts

    require_parts("stoker demo", PARTS)
    from stoker.cli.commands.demonstration import run

    run(data_directory, story)
