"""Carry out `stoker demo`: what is deployed and printed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from stoker.cli.client.connection import embedded_service, embedded_session
from stoker.cli.client.sources import collect
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.demo_scaling import COOLDOWN, ScalingDemonstration
from stoker.cli.commands.deployment import Deployment, act_as_planned, body_of, carry_out, deletion
from stoker.cli.commands.local import Local, Processes, interrupted, planned_set_up, stop_signals, watch
from stoker.cli.framework import installed_example
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import console
from stoker.cli.views.follow import whole_tree
from stoker.processes.directory import DataDirectory, SetUp

_STACK = "web"
_FREE_PORTS = {"rest": 0, "cfn": 0, "identity": 0}


def run(data_directory: Path | None, story: str) -> None:
    """Tell a story (`web-tier` or `scaling`) with a Stoker in `data_directory`, or in a temporary one."""
    out = console()
    template = installed_example(f"{story}/{story}.yaml")
    tell = {"web-tier": _web_tier, "scaling": _scaling}[story]
    with _directory(data_directory) as directory, _serving(directory, out) as (local, children):
        stack = tell(local.set_up, template, out)
        if out.is_terminal:
            _print(out, "In another shell, try:")
            out.print(Text(_next_steps(directory, template), "cyan"), soft_wrap=True)  # to be copied
            out.print(Text("Ctrl-C ends the demo.", "cyan"))
            with stop_signals() as stopped:
                watch(local, children, out, stopped)
        else:
            _print(out, "Delete the stack.")
            act_as_planned(deletion(stack), yes=True, dry_run=False)


def _web_tier(set_up: SetUp, template: Path, out: Console) -> Stack:
    service = embedded_service(set_up)
    _print(out, "A web tier: a network, a router, two servers with volumes, a public address.")
    _deploy(service, template, {}, out)
    _print(out, "Add one server. The plan shows the changes before anything happens.")
    return _deploy(service, template, {"count": "3"}, out)


def _scaling(set_up: SetUp, template: Path, out: Console) -> Stack:
    _print(out, "A group of servers in the pool of a load balancer, two policies, and two alarms on the servers' load.")
    service = embedded_service(set_up)
    stack = _deploy(service, template, {"cooldown": str(COOLDOWN)}, out).with_outputs()
    outputs = {output["output_key"]: output["output_value"] for output in stack.facts["outputs"]}
    cloud_url = set_up.identity.removesuffix("/identity/v3")
    group = service.stack(stack.resource("group")["physical_resource_id"])
    story = ScalingDemonstration(embedded_session(set_up), cloud_url, group, outputs["pool"], out)
    _print(out, f"The servers report that they are busy. After each change, {COOLDOWN} seconds of cooldown follow.")
    story.grow()
    _print(out, "They report that they are idle.")
    story.shrink()
    return stack.reload()


def _deploy(service: StackClient, template: Path, parameters: dict[str, str], out: Console) -> Stack:
    options = "".join(f" -P {name}={value}" for name, value in parameters.items())
    out.print(Text(f"$ stoker deploy {_STACK} -t {template.name}{options}", style="bold"))
    sources = collect(str(template))
    stack = carry_out(Deployment(service, _STACK, sources, body_of(sources, parameters, None, None)), yes=True)
    if not out.is_terminal:  # on a terminal the tree has been shown live
        out.print(whole_tree(stack, out))
    return stack


def _print(out: Console, text: str) -> None:
    out.print()
    out.print(Text(text, style="cyan"))


def _next_steps(directory: DataDirectory, template: Path) -> str:
    return "\n".join(
        [
            f"  export STOKER_DATA_DIR={directory.path}",
            "  stoker stack resources web -n 5",
            f"  stoker plan web -t {template} -P flavor=m1.medium",
            f"  source {directory.path}/openrc && openstack server list",
        ]
    )


@contextmanager
def _directory(data_directory: Path | None) -> Iterator[DataDirectory]:
    """Yield the directory, or a temporary one that is removed if there was no error."""
    if data_directory is not None:
        yield DataDirectory(data_directory.expanduser().absolute())
        return
    path = Path(tempfile.mkdtemp(prefix="stoker-demo-"))
    try:
        yield DataDirectory(path)
    except BaseException:
        with suppress(OSError):  # the terminal may have been closed
            click.echo(f"The logs are in {path}.", err=True)
        raise
    shutil.rmtree(path)


@contextmanager
def _serving(directory: DataDirectory, out: Console) -> Iterator[tuple[Local, Processes]]:
    """Run Stoker on free ports during the body."""
    directory.make()
    local = Local(directory, planned_set_up(directory.set_up(), _FREE_PORTS, None, ()))
    if len(local.missing()) < len(local.programs):
        raise CommandFailed(f"A Stoker is already running in {directory.path}; `stoker down` stops it.")
    out.print(f"Starting Stoker and an emulated cloud in {directory.path} …")
    with stop_signals() as stopped:
        try:
            children = local.start(stopped, lambda: lambda _: None)
            with interrupted(stopped):
                yield local, children
        finally:
            local.stop()
