"""Containers over HTTP."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from openstack_emulator.container.containers import (
    PAUSED,
    RUNNING,
    SECONDS_TO_START,
    SECONDS_TO_STOP,
    STOPPED,
    Containers,
)
from openstack_emulator.container.description import CHANGEABLE, NAME, described
from openstack_emulator.container.http import SCHEMA, listed
from openstack_emulator.container.processes import execution_of
from openstack_emulator.core import fields
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import links
from openstack_emulator.core.store import Record

FOR_ADMINISTRATORS = ("host", "runtime", "image_pull_policy", "privileged")
LATER = ("addresses", "command", "entrypoint", "environment", "healthcheck", "labels", "ports", "restart_policy",
         "security_groups")  # fmt: skip
"""What the answer to the creation shows as null if it is empty."""
FILTERS = ("name", "image", "project_id", "user_id", "memory", "host", "task_state", "status", "auto_remove")


def view(containers: Containers, request: Request, container: Record) -> dict[str, Any]:
    """Return a container as clients see it."""
    hidden = {"id", "started_at", *(() if request.context.is_admin else FOR_ADMINISTRATORS)}
    shown = {name: value for name, value in container.items() if name not in hidden and name[0] != "_"}
    return {
        **shown,
        "addresses": containers.networking.addresses(container),
        "links": links(request.base, "containers", container["id"]),
    }


def index(containers: Containers, request: Request) -> Response:
    """List the containers of the project; of all projects for an administrator who asks for them."""
    context = request.context
    every = bool(request.query.boolean("all_projects"))
    if every:
        context.require()
    rows = list(containers.rows) if every else containers.rows.select(project_id=context.project)
    for name in FILTERS:
        if (value := request.query.get(name)) is not None:
            rows = [row for row in rows if str(row[name]).lower() == value.lower()]

    def shown(base: str, container: Record) -> dict[str, Any]:
        return {name: value for name, value in view(containers, request, container).items() if name != "links"}

    return listed(request, "containers", "container", rows, shown, ("all_projects", *FILTERS))


def create(containers: Containers, request: Request) -> Response:
    container = containers.create(request, bool(request.query.boolean("run")))
    location = {"Location": f"{request.base}/v1/containers/{container['id']}"}
    shown = view(containers, request, container)
    return Response({**shown, **{name: shown[name] or None for name in LATER}, "updated_at": None}, 202, location)


def _container(containers: Containers, request: Request) -> Record:
    return containers.find(request.context, request.vars["key"])


def _own(containers: Containers, request: Request) -> Record:
    return containers.find(request.context, request.vars["key"])


def show(containers: Containers, request: Request) -> Response:
    container = _container(containers, request)
    return Response(view(containers, request, container))


def change(containers: Containers, request: Request) -> Response:
    container = _own(containers, request)
    containers.resize(container, described(request, CHANGEABLE))
    return Response(view(containers, request, container))


def resize_container(containers: Containers, request: Request) -> Response:
    container = _own(containers, request)
    known = {name: check for name, check in CHANGEABLE.items() if name != "name"}
    containers.resize(container, described(request, known))
    return Response(view(containers, request, container), 202)


def delete(containers: Containers, request: Request) -> Response:
    """Delete a container, a running one only with `stop`, or with `force`, which is for administrators."""
    container = _own(containers, request)
    stop, force = bool(request.query.boolean("stop")), bool(request.query.boolean("force"))
    if force:
        request.context.require()
    containers.begin_delete(container, stop=stop, force=force)
    return Response(status=204)


# -- states -------------------------------------------------------------------------------------------------------


def _action(name: str, task: str, seconds: float, **changes: Any) -> Callable[[Containers, Request], Response]:
    """Return the handler of an action after which a container has these changes."""

    def act(containers: Containers, request: Request) -> Response:
        containers.begin(_own(containers, request), name, task, seconds, **changes)
        return Response(status=202)

    return act


def _check_timeout(request: Request) -> None:
    """Refuse a time to wait that is no number of seconds. Raises ApiError 400."""
    given = request.query.get("timeout")
    if given and not given.isdecimal():
        raise bad_request(
            f"Invalid input for query parameters 'timeout'. Value: '{given}'. '{given}' does not match '^[0-9]*$'",
            SCHEMA,
        )


def stop(containers: Containers, request: Request) -> Response:
    _check_timeout(request)
    changes = {"status": STOPPED, "status_detail": "Exited(0) 1 seconds ago"}
    containers.begin(_own(containers, request), "stop", "container_stopping", SECONDS_TO_STOP, **changes)
    return Response(status=202)


def kill(containers: Containers, request: Request) -> Response:
    """Send a signal to the command; those that end a process stop the container."""
    container, signal = _own(containers, request), request.query.get("signal") or "SIGKILL"
    codes = {"SIGKILL": 137, "KILL": 137, "9": 137, "SIGTERM": 143, "TERM": 143, "15": 143, "SIGINT": 130, "INT": 130}
    containers.require_state(container, "kill")
    if signal.upper() in codes:
        detail = f"Exited({codes[signal.upper()]}) 1 seconds ago"
        changes = {"status": STOPPED, "status_detail": detail}
        containers.begin(container, "kill", "container_killing", SECONDS_TO_STOP, **changes)
    elif not signal.upper().removeprefix("SIG").isalnum():
        raise bad_request(f"Invalid signal {signal}")
    return Response(status=202)


def rename(containers: Containers, request: Request) -> Response:
    container, name = _own(containers, request), request.query.get("name") or ""
    if (problem := fields.text(2, 255, NAME)(name)) is not None:
        raise fields.invalid("name", name, problem)
    containers.require_state(container, "rename")
    if name == container["name"]:
        raise conflict("The new name for the container is the same as the old name.")
    containers.rows.update(container, name=name)
    return Response(view(containers, request, container))


def resize_terminal(containers: Containers, request: Request) -> Response:
    container = _own(containers, request)
    containers.require_state(container, "resize")
    if not container["tty"]:
        raise bad_request(f"Container {container['id']} has no terminal.")
    for name in ("width", "height"):
        if request.query.integer(name) is None:
            raise bad_request(f"The query must have '{name}'.")
    return Response(status=200)


# -- what runs inside -----------------------------------------------------------------------------------------------


def logs(containers: Containers, request: Request) -> Response:
    """Return the output of the command; `tail` limits it to the last lines. Nothing is written to the error output."""
    container, query = _container(containers, request), request.query
    containers.require_state(container, "logs")
    unknown = sorted({name for name, _ in query.pairs} - {"stdout", "stderr", "tail", "timestamps", "since"})
    if unknown:
        raise bad_request(f"Unknown argument: {unknown[0]}")
    if query.boolean("timestamps") or query.get("since") not in (None, "0", "None"):
        raise bad_request("Logs with timestamps, or since a time, are not supported by the emulated cloud.")
    lines = container["_output"].splitlines(keepends=True)
    if (tail := query.get("tail") or "all") != "all":
        lines = lines[-(query.integer("tail") or 0) :] if tail != "0" else []
    return Response("".join(lines) if query.boolean("stdout") is not False else "")


def execute(containers: Containers, request: Request) -> Response:
    """Run a command in a container: that of the query, or of the body.

    Raises: ApiError 400 for interactive commands, which need a connection.
    """
    container, query = _own(containers, request), request.query
    containers.require_state(container, "execute")
    given: Any = request.json if request.body else {}
    if not isinstance(given, dict) or given.keys() - {"command", "interactive", "run"}:
        raise bad_request("The request body must be a JSON object with command, interactive and run.")
    interactive = query.boolean("interactive") or fields.as_boolean(given.get("interactive", False))
    if interactive or query.boolean("run") is False or fields.as_boolean(given.get("run", True)) is False:
        raise bad_request("Interactive commands are not supported by the emulated cloud.")
    try:
        words = shlex.split(query.get("command") or str(given.get("command") or ""))
    except ValueError as error:
        raise bad_request(f"Invalid command: {error}") from None
    if not words:
        raise bad_request("The request must have 'command'.")
    course = execution_of(words)
    return Response({"output": course.output, "exit_code": course.code, "exec_id": None, "url": None})


def top(containers: Containers, request: Request) -> Response:
    container = _container(containers, request)
    containers.require_state(container, "top")
    command = " ".join(container["command"]) or "/sbin/init"
    titles = ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"]
    return Response({"Titles": titles, "Processes": [["root", "1", "0", "0", "00:00", "?", "00:00:00", command]]})


def stats(containers: Containers, request: Request) -> Response:
    """Return what a container uses: nothing runs in an emulated one, so that all figures are zero."""
    container = _container(containers, request)
    containers.require_state(container, "stats")
    names = ("CPU %", "MEM USAGE(MiB)", "MEM %", "BLOCK I/O(B)", "NET I/O(B)")
    figures = {**dict.fromkeys(names, 0), "MEM LIMIT(MiB)": int(container["memory"] or 0)}
    return Response({"CONTAINER": container["name"], **figures})


# -- networks -----------------------------------------------------------------------------------------------------


def list_networks(containers: Containers, request: Request) -> Response:
    return Response({"networks": containers.networking.listed(_container(containers, request))})


def attach_network(containers: Containers, request: Request) -> Response:
    container, query = _own(containers, request), request.query
    containers.require_state(container, "network_attach")
    address = query.get("fixed_ip")
    entry = {"network": query.get("network"), "port": query.get("port")}
    if address:
        entry["v6-fixed-ip" if ":" in address else "v4-fixed-ip"] = address
    wanted = containers.networking.interface(request, entry)
    used = {port["network_id"] for port in containers.networking.ports(container)}
    if wanted.get("network") in used:
        raise bad_request(f"Container {container['id']} is attached to the network {wanted['network']} already.")
    containers.networking.plug(container, wanted)
    return Response(status=202)


def detach_network(containers: Containers, request: Request) -> Response:
    """Remove the interface with a port, or those on a network. Raises ApiError 404 if there is none."""
    container, query = _own(containers, request), request.query
    containers.require_state(container, "network_detach")
    port, network = query.get("port"), query.get("network")
    if not port and not network:
        raise bad_request("The query must have 'network' or 'port'.")
    rows = containers.networking.ports(container)
    found = [row for row in rows if (row["id"] == port if port else row["network_id"] == network)]
    if not found:
        raise not_found(f"Container {container['id']} has no interface with {port or network}.")
    for row in found:
        containers.networking.unplug(container, row["id"])
    return Response(status=202)


def add_group(containers: Containers, request: Request) -> Response:
    container, group = _group(containers, request, "add_security_group")
    if group in container["security_groups"]:
        raise conflict(f"security_group {group} already present in container")
    _regroup(containers, container, [*container["security_groups"], group])
    return Response(status=202)


def remove_group(containers: Containers, request: Request) -> Response:
    container, group = _group(containers, request, "remove_security_group")
    if group not in container["security_groups"]:
        raise not_found(f"Security group {group} not associated with the container {container['id']}")
    _regroup(containers, container, [one for one in container["security_groups"] if one != group])
    return Response(status=202)


def _group(containers: Containers, request: Request, action: str) -> tuple[Record, str]:
    container = _own(containers, request)
    containers.require_state(container, action)
    return container, containers.networking.group(request.context, request.query.get("name") or "")


def _regroup(containers: Containers, container: Record, groups: list[str]) -> None:
    containers.networking.regroup(container, groups)
    containers.rows.update(container, security_groups=groups)


_ONE = "/containers/{key}"
CONTAINER_ROUTES = using(
    Containers,
    {
        "/containers": {"GET": index, "POST": create},
        _ONE: {"GET": show, "PATCH": change, "DELETE": delete},
        f"{_ONE}/start": {"POST": _action("start", "container_starting", SECONDS_TO_START, status=RUNNING)},
        f"{_ONE}/stop": {"POST": stop},
        f"{_ONE}/reboot": {"POST": _action("reboot", "container_rebooting", SECONDS_TO_START, status=RUNNING)},
        f"{_ONE}/pause": {"POST": _action("pause", "container_pausing", SECONDS_TO_STOP, status=PAUSED)},
        f"{_ONE}/unpause": {"POST": _action("unpause", "container_unpausing", SECONDS_TO_START, status=RUNNING)},
        f"{_ONE}/kill": {"POST": kill},
        f"{_ONE}/rename": {"POST": rename},
        f"{_ONE}/resize": {"POST": resize_terminal},
        f"{_ONE}/resize_container": {"POST": resize_container},
        f"{_ONE}/logs": {"GET": logs},
        f"{_ONE}/execute": {"POST": execute},
        f"{_ONE}/top": {"GET": top},
        f"{_ONE}/stats": {"GET": stats},
        f"{_ONE}/network_list": {"GET": list_networks},
        f"{_ONE}/network_attach": {"POST": attach_network},
        f"{_ONE}/network_detach": {"POST": detach_network},
        f"{_ONE}/add_security_group": {"POST": add_group},
        f"{_ONE}/remove_security_group": {"POST": remove_group},
    },
)
