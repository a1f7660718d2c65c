"""The `stoker` command."""

from __future__ import annotations

import click

from stoker.cli import demo, deploy, local, stacks
from stoker.cli.framework import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stoker", prog_name="stoker")
def cli() -> None:
    """Orchestration for OpenStack clouds: one file says what must exist, Stoker makes it so."""


COMMANDS = (
    local.up,
    local.down,
    local.status,
    deploy.deploy,
    deploy.plan,
    deploy.delete,
    stacks.stack,
    demo.demo,
)

for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Entry point."""
    cli(prog_name="stoker")
