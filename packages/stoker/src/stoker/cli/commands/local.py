"""`stoker up`, `down` and `status`: an embedded Stoker on this machine."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import Popen
from types import FrameType
from typing import TYPE_CHECKING

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.commands.local_options import MOST_PACE, NOWHERE, chosen_services, guest_drivers, permitted_addresses
from stoker.cli.commands.local_project import StartedProject, project_options
from stoker.cli.framework import InputPath, data_directory_option, listing
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import console
from stoker.cli.terminal.messages import say
from stoker.cli.views.configuration import check_configuration
from stoker.cli.views.process_rows import all_run, process_rows
from stoker.cloud.clouds_yaml import read_cloud
from stoker.processes import control, supervisor
from stoker.processes.access import write_access_files, write_aws_file
from stoker.processes.control import CLOUD, ENGINE, HOST, Launched, Program, Stopped, port_of, programs_of, running
from stoker.processes.directory import NO_GUESTS, DataDirectory, SetUp, random_passwords
from stoker.processes.supervisor import Supervisor

if TYPE_CHECKING:
    from rich.console import Console

_PORTS = {"rest": 8004, "cfn": 8000, "identity": 5000}
_SHOW_SECONDS = 1.0
_PATHS = {"rest": "/v1", "cfn": "/v1", "identity": "/identity/v3"}
_OPTIONS = {"config_files": "config-file", "permitted": "allow-requests-to"}
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REPEAT_SECONDS = 1.0
"""Time after which a body that a signal has not interrupted is interrupted again."""

Processes = dict[str, "Popen[bytes]"]


def planned_set_up(
    known: SetUp | None,
    ports: Mapping[str, int | None],
    cloud: str | None,
    config_files: tuple[str, ...],
    services: tuple[str, ...] = (),
    dns_port: int | None = None,
    guests: tuple[str, ...] = (),
    guest_image: str | None = None,
    permitted: tuple[str, ...] = (),
    pace: float | None = None,
) -> SetUp:
    """Return the set-up from the user's options and the recorded set-up of the directory.

    `ports` are by address (`rest`, `cfn`, `identity`): None is the recorded or default port, 0 a free port.
    `services` are those of the emulated cloud besides identity: empty keeps the recorded ones. `dns_port` is the port
    of its name server, `guests` select the drivers of the guests in its servers, `guest_image` is their image,
    `permitted` are addresses for requests of its users, `pace` is a factor for the duration of its state changes: None,
    or no value, keeps the recorded ones.
    Raises CommandFailed if the directory is used with another cloud, or if these are given for a real cloud.
    """
    if known is not None and cloud not in (None, known.cloud):
        lives = f"the cloud {known.cloud}" if known.cloud else "an emulated cloud"
        raise CommandFailed(f"This data directory is used with {lives}; choose another one with --data-dir.")
    chosen = {address: _port(address, port, known) for address, port in ports.items()}
    free = iter(control.free_ports(list(chosen.values()).count(0)))
    urls = {address: f"http://{HOST}:{port or next(free)}{_PATHS[address]}" for address, port in chosen.items()}
    cloud = known.cloud if known else cloud
    emulator_only = {
        "services": services,
        "dns-port": dns_port,
        "guests": guests,
        "guest-image": guest_image,
        "allow-requests-to": permitted,
        "pace": pace,
    }
    for option, value in emulator_only.items():
        if cloud is not None and value not in (None, ()):
            raise CommandFailed(f"--{option} is for the emulated cloud only; it cannot be used with --cloud.")
    if cloud is not None:
        urls["identity"] = str(read_cloud(cloud).auth.get("auth_url", ""))
    before = known or SetUp(urls["rest"], urls["cfn"], urls["identity"])
    chosen_guests = guests or before.guests
    return SetUp(
        urls["rest"],
        urls["cfn"],
        urls["identity"],
        cloud,
        config_files or before.config_files,
        before.pids,
        services or before.services,
        before.dns_port if dns_port is None else dns_port,
        chosen_guests,
        guest_image or before.guest_image,
        () if permitted == (NOWHERE,) else permitted or before.permitted,
        before.passwords or (random_passwords() if chosen_guests != NO_GUESTS else {}),
        before.pace if pace is None else pace,
    )


def _port(address: str, requested: int | None, known: SetUp | None) -> int:
    if known is None:
        return _PORTS[address] if requested is None else requested
    recorded = port_of(getattr(known, address)) if address != "identity" or known.cloud is None else 0
    return recorded if requested is None else requested


class Local:
    """An embedded Stoker in one directory."""

    def __init__(self, directory: DataDirectory, set_up: SetUp) -> None:
        self.directory = directory
        self.set_up = set_up
        self.programs = programs_of(directory, set_up)

    def missing(self) -> list[Program]:
        """Return the programs that are not running."""
        return [program for program in self.programs if running(self.directory, program.name) is None]

    def start(self, stopped: threading.Event, speaker: Callable[[], Callable[[str], None]]) -> Processes:
        """Start the programs that are not running, side by side, write the files for clients; return what was started.

        `speaker` is called when they have been launched, and returns what shows their lines until they are ready.
        Raises Stopped if `stopped` is set meanwhile, StokerError if a program does not start or the emulated cloud
        gives no access key; programs that were started before are stopped again.
        """
        launched: dict[str, Launched] = {}
        self.directory.record(self.set_up)
        try:
            for program in self.missing():
                launched[program.name] = control.launch(self.directory, program)
            write_access_files(self.directory, self.set_up)
            report = speaker()
            if CLOUD in launched:
                launched[CLOUD].wait(stopped, report)
            if self.set_up.cloud is None:
                write_aws_file(self.directory, self.set_up)
            if ENGINE in launched:
                launched[ENGINE].wait(stopped, report)
        except Exception:
            for begun in reversed(launched.values()):
                begun.abort()
            raise
        pids = {
            program.name: pid for program in self.programs if (pid := running(self.directory, program.name)) is not None
        }
        self.set_up = replace(self.set_up, pids=pids)
        self.directory.record(self.set_up)
        return {name: begun.process for name, begun in launched.items()}

    def supervise(self) -> None:
        """Start the process that restarts programs which end, unless it runs."""
        if running(self.directory, supervisor.NAME) is None:
            control.start(self.directory, supervisor.program(self.directory))

    def stop(self) -> list[Program]:
        """Stop all programs, the engine before the cloud, and return what was stopped."""
        control.stop(self.directory, supervisor.NAME)
        return [program for program in reversed(self.programs) if control.stop(self.directory, program.name)]


def _ports_options(function: click.decorators.FC) -> click.decorators.FC:
    for name, address in (("--cloud-port", "identity"), ("--cfn-port", "cfn"), ("--api-port", "rest")):
        function = click.option(
            name,
            address,
            type=click.IntRange(0, 65535),
            metavar="N",
            help=f"Port; 0 selects a free one.  [default: the previous one, or {_PORTS[address]}]",
        )(function)
    return function


@click.command()
@data_directory_option
@_ports_options
@click.option("--cloud", metavar="NAME", help="Use this entry of clouds.yaml instead of the emulated cloud.")
@click.option(
    "--config-file", "config_files", multiple=True, type=InputPath(dir_okay=False, resolve_path=True),
    help="File in the format of heat.conf; repeatable, later ones override.",
)  # fmt: skip
@click.option(
    "--services", metavar="NAMES", callback=chosen_services, default="",
    help="Services of the emulated cloud besides identity, separated by commas.  [default: the previous ones, or all]",
)  # fmt: skip
@click.option(
    "--dns-port", type=click.IntRange(0, 65535), metavar="N",
    help="Port of the emulated cloud's name server (UDP and TCP); 0 selects a free one at each start, which the log of "
    "the cloud names.  [default: the previous one, or 0]",
)  # fmt: skip
@click.option(
    "--guests", multiple=True, callback=guest_drivers, metavar="DRIVER",
    help="What runs in the servers of the emulated cloud: `none`: nothing; `namespace`: a small Linux system in "
    "namespaces of this machine's kernel; `qemu`: a virtual machine. `flavor:NAME=DRIVER` and `image:NAME=DRIVER` "
    "select the driver of servers with a flavor or image; repeatable.  [default: the previous ones, or none]",
)  # fmt: skip
@click.option(
    "--guest-image", metavar="NAME",
    help="Image of all guests: one that `stoker guests build` has built, or `host`, the programs of this machine.  "
    "[default: the previous one, or debian]",
)  # fmt: skip
@click.option(
    "--allow-requests-to", "permitted", multiple=True, callback=permitted_addresses, metavar="ADDRESS[:PORT]",
    help="Let workflows, alarms and subscriptions of the emulated cloud send requests to this address or network of "
    "your machine, where servers have guests; `none` removes all; repeatable.  [default: the previous ones]",
)  # fmt: skip
@click.option(
    "--pace", type=click.FloatRange(0, MOST_PACE), metavar="FACTOR",
    help="Factor for the time that state changes take in the emulated cloud.  [default: the previous one, or 1]",
)  # fmt: skip
@click.option("--detach", is_flag=True, help="Return as soon as everything is ready.")
@project_options
def up(
    directory: DataDirectory,
    rest: int | None,
    cfn: int | None,
    identity: int | None,
    cloud: str | None,
    config_files: tuple[str, ...],
    services: tuple[str, ...],
    dns_port: int | None,
    guests: tuple[str, ...],
    guest_image: str | None,
    permitted: tuple[str, ...],
    pace: float | None,
    detach: bool,
    project: StartedProject | None,
) -> None:
    """Start Stoker and an emulated cloud on this machine.

    Processes that are already running are kept; others are started on the same ports. All data survives restarts.

    With a project file, its stacks are deployed as soon as everything is ready, after showing the plan. If one fails,
    the exit status is 1, and Stoker keeps running: with --detach in the background, otherwise until Ctrl-C.

    \b
    Examples:
      stoker up
      stoker up --data-dir ./here --api-port 0 --cfn-port 0 --cloud-port 0
      stoker up --services network,image,volume,compute
      stoker up --guests namespace
      stoker up --guests namespace --guests flavor:m1.large=qemu
      stoker up --cloud my-openstack
      stoker up -f project.yaml --stage test
    """
    from stoker.base.extras import PARTS, require_parts

    directory.make()
    known = directory.set_up()
    ports = {"rest": rest, "cfn": cfn, "identity": identity}
    planned = planned_set_up(
        known, ports, cloud, config_files, services, dns_port, guests, guest_image, permitted, pace
    )
    require_parts("stoker up", ["engine"] if planned.cloud else PARTS)
    if project is not None:
        project.check(planned.cloud)
    remark = _require_guests(planned) if planned.guests != NO_GUESTS else ""
    local = Local(directory, planned)
    missing = local.missing()
    if known is not None and len(missing) < len(local.programs) and not _same_addresses(known, local.set_up):
        raise CommandFailed("Stoker is already running on other ports; `stoker down` stops it.")
    if not missing:
        say("Stoker is already running.")
        _warn_of_gap(directory, local.set_up)
        _require_same_options(known, local.set_up)
        if detach:
            local.supervise()
        _show_addresses(console(), local)
        if project is not None:
            project.deploy(local.set_up)
        return
    check_configuration(planned.config_files)
    if len(missing) < len(local.programs):
        say(f"Restarting: {', '.join(program.title for program in missing)}.")
    control.stop(directory, supervisor.NAME)  # this command restarts the rest itself
    if detach:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what is being started outlives the terminal
    with stop_signals() as stopped:
        try:
            children = local.start(stopped, lambda: partial(console().print, soft_wrap=True))
            if detach:
                local.supervise()
        except Stopped as error:
            raise CommandFailed("Stopped before everything was ready.") from error
        out = console()
        _show_addresses(out, local)
        if remark:
            out.print(remark)
        _warn_of_gap(directory, local.set_up)
        if progress := control.taken_over(local.programs[-1]):
            out.print(f"{progress[1]} unfinished operations are being resumed; `stoker status` shows the progress.")
        out.print("`stoker down` stops it." if detach else "Ctrl-C stops it.")
        if not detach and project is None:
            watch(local, children, out, stopped)
        elif not detach and project is not None:
            project.deploy_concurrently(
                partial(watch, local, children, out, stopped), local.set_up, stopped, interrupted
            )
    if detach and project is not None:
        project.deploy(local.set_up)


def _warn_of_gap(directory: DataDirectory, set_up: SetUp) -> None:
    """Say that the database is older than the cloud, if its engine has found that."""
    from stoker.processes.mark_files import MarkFiles, data_dir_option

    if gap := MarkFiles.of(directory, set_up.cloud).gap():
        say(f"Warning: {gap.sentence(data_dir_option(directory))}", err=True)


def _require_same_options(known: SetUp | None, requested: SetUp) -> None:
    """Refuse options that the running programs were not started with."""
    for option in ("config_files", "services", "dns_port", "guests", "guest_image", "permitted", "pace"):
        if known is not None and getattr(known, option) != getattr(requested, option):
            shown = _OPTIONS.get(option, option.replace("_", "-"))
            raise CommandFailed(f"It was started with another value of --{shown}; run `stoker down` first.")


def _require_guests(planned: SetUp) -> str:
    """Refuse drivers of guests that cannot work on this system, and an unknown image; what to know about them."""
    from openstack_emulator.core.guests.driver import GuestsUnavailable
    from openstack_emulator.core.guests.selection import parsed
    from openstack_emulator.guests.choices import chosen_images, remark

    selection = parsed(planned.guests)
    try:
        chosen_images(selection, planned.guest_image)
    except GuestsUnavailable as error:
        raise CommandFailed(str(error)) from error
    return remark(selection)


def _same_addresses(first: SetUp, second: SetUp) -> bool:
    return (first.rest, first.cfn, first.identity) == (second.rest, second.cfn, second.identity)


def _show_addresses(out: Console, local: Local) -> None:
    from rich.text import Text

    set_up, path = local.set_up, _for_shell(local.directory.path)
    lines = [("REST API", set_up.rest), ("Query API", set_up.cfn), ("identity", set_up.identity)]
    lines.append(("console", set_up.rest.removesuffix("/v1") + "/console"))
    if set_up.dns_port:
        lines.append(("DNS", f"{HOST}, port {set_up.dns_port}"))
    if set_up.cloud is None:
        lines += [("for the shell", f"source {path}/openrc"), ("for AWS clients", f"source {path}/awsrc")]
    lines += [("for clients", f"export OS_CLIENT_CONFIG_FILE={path}/clouds.yaml"), ("", "export OS_CLOUD=stoker")]
    for name, value in [*lines, ("logs", f"{path}/*.log")]:
        out.print(Text.assemble("  ", (f"{name:16}", "bold"), value), soft_wrap=True)


def _for_shell(path: Path) -> str:
    """Return a path as it is written in a shell: quoted where necessary, with `~` for the home directory."""
    if path.is_relative_to(home := Path.home()):
        return f"~/{shlex.quote(str(path.relative_to(home)))}"
    return shlex.quote(str(path))


def watch(local: Local, children: Processes, out: Console, stopped: threading.Event) -> None:
    """Wait until `stopped` is set, then stop everything; restart programs that end in the meantime.

    A program that ended with status 0 was stopped on purpose, so everything else is stopped, too. Raises
    DirectoryReplaced as `Supervisor.watch`.
    """

    def report(sentence: str) -> None:
        with suppress(OSError):  # the terminal may have been closed
            out.print(sentence, soft_wrap=True)

    threading.Thread(target=_show_progress, args=(local, out, stopped), daemon=True).start()
    Supervisor(local.directory, children, report).watch(stopped)
    report("Stopping.")
    local.stop()


def _handled_signals() -> list[signal.Signals]:
    return [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def _handling(numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a handler receive signals during the body, and the former handlers afterwards."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def _show_progress(local: Local, out: Console, stopped: threading.Event) -> None:
    """Print how many operations are resumed, a line for each tenth, until all are."""
    shown = -1
    while (progress := control.taken_over(local.programs[-1])) is not None and not stopped.is_set():
        done, total = progress
        if shown < 0 or done - shown >= total / 10:
            out.print(f"Resumed {done} of {total} unfinished operations.")
            shown = done
        stopped.wait(_SHOW_SECONDS)
    if shown >= 0 and not stopped.is_set():
        out.print("All unfinished operations are resumed.")


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGINT, SIGTERM and SIGHUP (the terminal was closed) set during the body.

    Those that are ignored remain so, as with `nohup`.
    """
    stopped = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    with _handling(_handled_signals(), note):
        yield stopped


@contextmanager
def interrupted(stopped: threading.Event) -> Iterator[None]:
    """Interrupt the body with SystemExit at SIGINT, SIGTERM and SIGHUP, or at once if `stopped` is set.

    Use it inside `stop_signals`, whose handlers are in effect again when the body has ended: what the caller then does
    is not interrupted.
    """

    received = list[int]()

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGALRM:
            received.append(number)
        # Python ignores what is raised in a finalizer, or in a callback of garbage collection.
        signal.setitimer(signal.ITIMER_REAL, _REPEAT_SECONDS)
        raise SystemExit(128 + received[0])

    timer = signal.getitimer(signal.ITIMER_REAL)
    with _handling([*_handled_signals(), signal.SIGALRM], interrupt):
        try:
            if stopped.is_set():
                raise CommandFailed("Stopped before everything was ready.")
            yield
        finally:
            if received:
                signal.setitimer(signal.ITIMER_REAL, *timer)


@click.command()
@data_directory_option
def down(directory: DataDirectory) -> None:
    """Stop Stoker; all data is kept.

    \b
    Examples:
      stoker down
    """
    set_up = directory.set_up()
    stopped = Local(directory, set_up).stop() if set_up else []
    if not stopped:
        click.echo("Stoker is not running.")
    for program in stopped:
        click.echo(f"Stopped: {program.title}.")


@listing("status", "program", "state", "pid", "address", "reason", more=("log", "restarts"), good=all_run)
@data_directory_option
def status(directory: DataDirectory) -> list[Answer]:
    """Show which processes are running, and why one was restarted last. The exit status is 1 unless all run.

    Processes that serve reads beside the engine are started and ended as requests need them.

    A warning says that the database is older than the cloud, as after it was restored from a backup.

    \b
    Examples:
      stoker status
      stoker status -f json
    """
    set_up = directory.set_up()
    if set_up is None:
        raise CommandFailed(f"There is no Stoker in {directory.path}. Start one with `stoker up`.")
    _warn_of_gap(directory, set_up)
    return process_rows(directory, set_up)
