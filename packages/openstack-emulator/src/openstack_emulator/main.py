"""Run a cloud on a port until it is stopped by a signal."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import uvloop
from aiohttp import web

from openstack_emulator import __version__
from openstack_emulator.core.app import runner
from openstack_emulator.core.cloud import WELL_KNOWN_PASSWORD, Cloud
from openstack_emulator.core.guests.driver import GuestDriver, GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection, parsed
from openstack_emulator.core.outgoing import PermittedAddresses
from openstack_emulator.core.upgrades import StateUnusable
from openstack_emulator.guests.choices import guest_driver
from openstack_emulator.guests.images import DEFAULT as DEFAULT_IMAGE
from openstack_emulator.identity.rules.seed import USERS
from openstack_emulator.name_server import NameServer
from openstack_emulator.services import CHOICES, chosen, new_cloud
from stoker_foundation.log_lines import protect
from stoker_foundation.readiness import add_ready_option, report_ready

log = logging.getLogger(__name__)

_PROGRAM = "openstack-emulator"
_UP = "Run a cloud until SIGTERM or SIGINT."
_EXAMPLES = """examples:
  openstack-emulator up --port 5000 --state cloud.db
  openstack-emulator up --port 0 --port-file port --services image,network,placement
  openstack-emulator up --pace 0.1 --guests namespace --guest-image host
"""
_SERVICES = "List the services that a cloud can have beside identity, as `up --services` takes them."


def run(
    host: str = "127.0.0.1",
    port: int = 5000,
    state_path: Path | None = None,
    port_file: Path | None = None,
    ready_fd: int | None = None,
    pace: float = 1.0,
    extra_endpoints: dict[str, str] | None = None,
    password: str = WELL_KNOWN_PASSWORD,
    services: Collection[str] = CHOICES,
    dns_port: int = 0,
    vendor_data: Mapping[str, object] | None = None,
    guests: GuestDriver | None = None,
    permitted: Sequence[PermittedAddresses] = (),
    passwords: Mapping[str, str] | None = None,
) -> None:
    """Serve a cloud until SIGTERM or SIGINT.

    services: the groups of services that it has.

    port, dns_port: 0 picks a free one. port_file: receives the port in decimal once requests are served.
    ready_fd: see `report_ready`. For the other arguments see `Cloud`.
    """

    cloud = partial(
        new_cloud,
        services,
        state_path=state_path,
        pace=pace,
        extra_endpoints=extra_endpoints,
        password=password,
        vendor_data=vendor_data,
        guests=guests,
        permitted=permitted,
        passwords=passwords,
    )
    uvloop.run(_serve(cloud, host, port, dns_port, port_file, ready_fd))


async def _serve(
    create_cloud: Callable[[], Cloud], host: str, port: int, dns_port: int, port_file: Path | None, ready_fd: int | None
) -> None:
    cloud = create_cloud()
    if port:
        cloud.endpoint = f"http://{_url_host(host)}:{port}"
    served = runner(cloud)
    await served.setup()
    name_server = NameServer(cloud)
    try:
        await web.TCPSite(served, host, port).start()
        bound = served.addresses[0][1]
        cloud.endpoint = f"http://{_url_host(host)}:{bound}"
        if port_file is not None:
            _write_whole(port_file, str(bound))
        log.info("The cloud is at %s/identity", cloud.endpoint)
        if cloud.has_service("nova") and cloud.guests.selection != Selection():
            cloud.service_named("nova")  # it starts the guests of servers that ran when the cloud ended
        if cloud.has_service("designate"):
            log.info("DNS is served on %s, port %d (UDP and TCP)", host, await name_server.start(host, dns_port))
        stop = asyncio.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(signum, stop.set)
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, log.warning, "SIGHUP has no effect")
        report_ready(ready_fd)
        await stop.wait()
    finally:
        await name_server.stop()
        await served.cleanup()
        await cloud.guests.close()
        cloud.close()


def _url_host(host: str) -> str:
    if host in ("0.0.0.0", "::"):  # noqa: S104  names the wildcard, does not bind it
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that readers see nothing or all of it."""
    draft = path.with_suffix(".part")
    draft.write_text(text)
    draft.replace(path)


def _services(text: str) -> tuple[str, ...]:
    """The value of `--services`."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    try:
        chosen(names)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return names


def _vendor_data(name: str) -> Mapping[str, Any]:
    """The value of `--vendor-data`."""
    try:
        found = orjson.loads(Path(name).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"{name} must contain a JSON object")
    return found


def _passwords(name: str) -> Mapping[str, str]:
    """The value of `--password-file`."""
    found = _vendor_data(name)
    if not all(isinstance(password, str) for password in found.values()):
        raise argparse.ArgumentTypeError(f"{name} must contain strings")
    return found


def _permitted(text: str) -> PermittedAddresses:
    """The value of `--allow-requests-to`."""
    try:
        return PermittedAddresses.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def chosen_passwords(options: argparse.Namespace, has_guests: bool) -> tuple[str, Mapping[str, str]]:
    """Return the password of the seeded users, and those of single ones: guests must not know any."""
    if options.password is not None:
        return options.password, options.password_file or {}
    if options.password_file is None and not has_guests:
        return WELL_KNOWN_PASSWORD, {}
    if options.password_file is not None:
        return secrets.token_urlsafe(), options.password_file
    passwords = {user: secrets.token_urlsafe() for user in USERS}
    return secrets.token_urlsafe(), _kept(passwords, options.state)


def _kept(passwords: dict[str, str], state: Path | None) -> Mapping[str, str]:
    """Return the passwords in the file beside the state; write them if there is none."""
    directory = Path(tempfile.mkdtemp(prefix="stoker-")) if state is None else state.parent
    file = directory / "passwords.json"
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(orjson.dumps(passwords))
    except FileExistsError:
        pass
    log.info("The passwords of the users are in %s", file)
    return _passwords(str(file))


def _endpoint(text: str) -> tuple[str, str]:
    """The value of `--extra-endpoint`: type and URL of a service."""
    kind, separator, url = text.partition("=")
    if not separator or not url:
        raise argparse.ArgumentTypeError(f"{text!r} is not TYPE=URL")
    return kind, url


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    program = argparse.ArgumentParser(
        prog=_PROGRAM,
        description="An OpenStack cloud in one process.",
        epilog="`openstack-emulator up --help` lists the options of a cloud.",
    )
    program.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = program.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("services", help="list the services that a cloud can have", description=_SERVICES)
    _add_up(commands)
    return program


def _add_up(commands: Any) -> None:
    """Add the command `up` with its options."""
    description = f"{_UP} Log in at URL/identity/v3 as admin or demo."
    parser = commands.add_parser(
        "up",
        help="run a cloud until it is stopped",
        description=description,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=5000, help="port to listen on; 0 selects a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--dns-port", type=int, default=0, help="port of the name server; 0 selects a free one (default: %(default)s)"
    )
    parser.add_argument("--port-file", type=Path, help="file that receives the port once requests are served")
    parser.add_argument(
        "--state", type=Path, help="file in which the cloud is kept across restarts; without it, none is"
    )
    parser.add_argument(
        "--pace", type=float, default=1.0, help="factor for the duration of state changes (default: %(default)s)"
    )
    parser.add_argument(
        "--extra-endpoint",
        action="append",
        type=_endpoint,
        default=[],
        metavar="TYPE=URL",
        help="catalog entry of a service that runs elsewhere; %%(project_id)s is filled in",
    )
    parser.add_argument(
        "--password",
        help="password of the initial users (default: `secret`; where servers have guests, random ones in the file "
        "`passwords.json` beside the state file)",
    )
    parser.add_argument(
        "--password-file",
        metavar="FILE",
        type=_passwords,
        help="JSON file with the passwords of initial users by name; users that it does not name have random ones",
    )
    parser.add_argument(
        "--allow-requests-to",
        action="append",
        type=_permitted,
        default=[],
        metavar="ADDRESS[:PORT]",
        help="let workflows, alarms and subscriptions send requests to this address or network, where servers have "
        "guests; repeatable",
    )
    parser.add_argument(
        "--services",
        metavar="NAMES",
        type=_services,
        default=CHOICES,
        help=f"services that the cloud has beside identity, separated by commas (default: {','.join(CHOICES)})",
    )
    parser.add_argument(
        "--vendor-data",
        metavar="FILE",
        type=_vendor_data,
        help="JSON file with the static vendor data that the metadata service shows to servers",
    )
    parser.add_argument(
        "--guests",
        action="append",
        default=[],
        metavar="DRIVER",
        help="what runs in servers: `none`: nothing (the default); `namespace`: a small Linux system in namespaces of "
        "this machine's kernel; `qemu`: a virtual machine. `flavor:NAME=DRIVER` and `image:NAME=DRIVER` select the "
        "driver of servers with a flavor or image; repeatable",
    )
    parser.add_argument(
        "--guest-image",
        metavar="NAME",
        default=DEFAULT_IMAGE,
        help="image of all guests: one that `stoker guests build` has built, or `host`, the programs of this machine "
        "(default: %(default)s)",
    )
    add_ready_option(parser)


def main(arguments: Sequence[str] | None = None) -> None:
    """The program `openstack-emulator`."""
    options = parser().parse_args(arguments)
    if options.command == "services":
        print("\n".join(CHOICES))
    else:
        _up(options)


def _up(options: argparse.Namespace) -> None:
    """Run a cloud as the options say."""
    os.umask(0o077)  # the state, the log and the port file are for their owner only
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        protect(handler)
    disks = None if options.state is None else options.state.parent / "guests"
    try:
        guests = guest_driver(parsed(options.guests), options.guest_image, disks)
    except ValueError as error:
        sys.exit(f"{_PROGRAM}: --guests: {error}")
    except GuestsUnavailable as error:
        sys.exit(f"{_PROGRAM}: {error}")
    password, passwords = chosen_passwords(options, bool(guests.selection.drivers()))
    try:
        run(
            options.host,
            options.port,
            state_path=options.state,
            port_file=options.port_file,
            ready_fd=options.ready_fd,
            pace=options.pace,
            extra_endpoints=dict(options.extra_endpoint),
            password=password,
            services=options.services,
            dns_port=options.dns_port,
            vendor_data=options.vendor_data,
            guests=guests,
            permitted=options.allow_requests_to,
            passwords=passwords,
        )
    except (StateUnusable, GuestsUnavailable) as error:
        sys.exit(f"{_PROGRAM}: {error}")
