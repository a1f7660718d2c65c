"""`stoker guests`: images for the guests of the emulated cloud."""

from __future__ import annotations

import os
import time

import click

from stoker.base.extras import require_parts
from stoker.cli.framework import Commands, data_directory_option, listing
from stoker.cli.terminal.errors import CommandFailed
from stoker.processes.directory import DataDirectory


@click.group(cls=Commands)
def guests() -> None:
    """Build, list and delete the images of guests, which run in the servers of the emulated cloud."""


FEATURES = ("agents", "ansible", "puppet")
FORMATS = ("root", "qcow2")


def _features(value: str) -> list[str]:
    """Return the features in a list with commas; none for `none`. Raises: click.BadParameter."""
    chosen = [] if value == "none" else [name.strip() for name in value.split(",")]
    if unknown := [name for name in chosen if name not in FEATURES]:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(FEATURES)}, none.")
    return list(dict.fromkeys(chosen))


@guests.command()
@click.argument("image", default="debian", type=click.Choice(["debian"]))
@click.option("--mirror", metavar="URL", help="Archive of Debian.  [default: http://deb.debian.org/debian]")
@click.option("--package", "packages", multiple=True, metavar="NAME", help="Additional package; repeatable.")
@click.option(
    "--with",
    "features",
    metavar="LIST",
    default="agents",
    show_default=True,
    callback=lambda context, option, value: _features(value),
    help="Features of the image, separated by commas: agents, ansible, puppet; or none.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="root: a directory, for `--guests namespace`; qcow2: a disk with a kernel, for `--guests qemu`.",
)
def build(image: str, mirror: str | None, packages: tuple[str, ...], features: list[str], kind: str) -> None:
    """Build an image from the packages of a distribution, in place of the previous one of this format.

    It contains cloud-init, an SSH server, curl and Python, and is kept in ~/.cache/stoker/guests. Builds from the same
    packages have the same content: with an archive of snapshot.debian.org, they can be repeated.

    With the feature agents, the image applies software deployments: it contains os-collect-config, heat-agents (from
    PyPI) and heat-cfntools. The hooks for Ansible and Puppet need the features ansible and puppet.

    \b
    Examples:
      stoker guests build
      stoker guests build --with agents,puppet,ansible
      stoker guests build debian --package git
      stoker guests build --format qcow2
      stoker guests build --mirror \\
        http://snapshot.debian.org/archive/debian/20261101T000000Z
    """
    require_parts("stoker guests build", ["emulator"])
    from openstack_emulator.core.guests.driver import GuestsUnavailable
    from openstack_emulator.guests import building

    began = time.monotonic()

    def report(line: str) -> None:
        click.echo(f"{time.monotonic() - began:5.0f} s  {line}")

    try:
        directory = building.build(image, mirror or building.MIRROR, packages, report, features, kind)
    except (building.BuildFailed, GuestsUnavailable) as error:
        raise CommandFailed(str(error)) from error
    report(f"The image {image} is in {directory}.")
    driver = "namespace" if kind == FORMATS[0] else "qemu"
    click.echo(f"`stoker up --guests {driver} --guest-image {image}` uses it.")


@guests.command()
@click.argument("image")
def delete(image: str) -> None:
    """Delete an image.

    \b
    Examples:
      stoker guests delete debian
    """
    require_parts("stoker guests delete", ["emulator"])
    from openstack_emulator.guests import building

    try:
        building.delete(image)
    except building.BuildFailed as error:
        raise CommandFailed(str(error)) from error
    click.echo(f"Deleted: {image}.")


@listing("list", "name", "suite", "format", "size", "path", more=("features", "packages", "sha256"))
def list_images() -> list[dict[str, object]]:
    """List the images that have been built.

    \b
    Examples:
      stoker guests list
      stoker guests list -f json -c name -c packages -c sha256
    """
    require_parts("stoker guests list", ["emulator"])
    from openstack_emulator.guests.images import built_images

    return built_images()


@guests.command()
@click.argument("server")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--user", default="debian", show_default=True, metavar="NAME", help="User of the server.")
@click.option("--identity", metavar="FILE", help="Private key; by default those that ssh tries.")
@data_directory_option
def ssh(server: str, command: tuple[str, ...], user: str, identity: str | None, directory: DataDirectory) -> None:
    """Log in to a server of the emulated cloud with SSH, or run a command there, through its floating IP.

    The server needs a key pair, a floating IP, and a security group that permits TCP port 22. Put `--` before a command
    that has options.

    \b
    Examples:
      stoker guests ssh web
      stoker guests ssh web --identity ~/.ssh/id_ed25519 -- systemctl status nginx
    """
    require_parts("stoker guests ssh", ["emulator"])
    from stoker.cli.client.connection import embedded_session
    from stoker.cli.commands.guest_ssh import ssh_command

    set_up = directory.set_up()
    if set_up is None or set_up.cloud is not None:
        raise CommandFailed(f"There is no emulated cloud in {directory.path}: start one with `stoker up`.")
    words = ssh_command(directory, embedded_session(set_up), server, user, identity, command)
    try:
        os.execvp(words[0], words)  # noqa: S606  the user's own ssh
    except FileNotFoundError:
        raise CommandFailed("The program `ssh` is not installed: `apt-get install openssh-client`.") from None


guests.add_command(list_images)
