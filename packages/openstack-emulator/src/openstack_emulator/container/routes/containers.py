"""Containers over HTTP."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from openstack_emulator.container.records import Container
from openstack_emulator.container.routes.description import CHANGEABLE, NAME, change_of, new_container
from openstack_emulator.container.routes.lists import list_response
from openstack_emulator.container.rules.commands import execution_of
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.container.rules.containers import PAUSED, RUNNING, SECONDS_TO_START, SECONDS_TO_STOP, STOPPED
from openstack_emulator.container.rules.errors import SCHEMA
from openstack_emulator.container.views import container_view
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import invalid
from openstack_emulator.core.validation.sentences import sentence

LATER = ("addresses", "command", "entrypoint", "environment", "healthcheck", "labels", "ports", "restart_policy",
         "security_groups")  # fmt: skip
"""What the answer to the creation shows as null if it is empty."""
FILTERS = ("name", "image", "project_id", "user_id", "memory", "host", "task_state", "status", "auto_remove")


def index(service: SingleContainers, request: Request) -> Response:
    """List the containers of the project; of all projects for an administrator who asks for them."""
    context = request.context
    every = bool(request.query.boolean("all_projects"))
    if every:
        context.require()
    rows = list(service.containers.rows) if every else service.containers.rows.select(project_id=context.project)
    for name in FILTERS:
        if (value := request.query.get(name)) is not None:
            rows = [row for row in rows if str(row.get(name)).lower() == value.lower()]

    def shown(base: str, container: Container) -> dict[str, Any]:
        return {name: value for name, value in container_view(service, request, container).items() if name != "links"}

    return list_response(request, "containers", "container", rows, shown, ("all_projects", *FILTERS))


def create(service: SingleContainers, request: Request) -> Response:
    container = service.containers.create(request, new_container(request), bool(request.query.boolean("run")))
    location = {"Location": f"{request.base}/v1/containers/{container.id}"}
    shown = container_view(service, request, container)
    return Response({**shown, **{name: shown[name] or None for name in LATER}, "updated_at": None}, 202, location)


def container_of(service: SingleContainers, request: Request) -> Container:
    return service.containers.find(request.context, request.vars["key"])


def show(service: SingleContainers, request: Request) -> Response:
    container = container_of(service, request)
    return Response(container_view(service, request, container))


def change(service: SingleContainers, request: Request) -> Response:
    container = container_of(service, request)
    service.containers.resize(container, change_of(request, CHANGEABLE))
    return Response(container_view(service, request, container))


def resize_container(service: SingleContainers, request: Request) -> Response:
    container = container_of(service, request)
    known = {name: check for name, check in CHANGEABLE.items() if name != "name"}
    service.containers.resize(container, change_of(request, known))
    return Response(container_view(service, request, container), 202)


def delete(service: SingleContainers, request: Request) -> Response:
    """Delete a container, a running one only with `stop`, or with `force`, which is for administrators."""
    container = container_of(service, request)
    stop, force = bool(request.query.boolean("stop")), bool(request.query.boolean("force"))
    if force:
        request.context.require()
    service.containers.begin_delete(container, stop=stop, force=force)
    return Response(status=204)


# -- states -------------------------------------------------------------------------------------------------------


def _action(name: str, task: str, seconds: float, **changes: object) -> Callable[[SingleContainers, Request], Response]:
    """Return the handler of an action after which a container has these changes."""

    def act(service: SingleContainers, request: Request) -> Response:
        service.containers.begin(container_of(service, request), name, task, seconds, **changes)
        return Response(status=202)

    return act


def _check_timeout(request: Request) -> None:
    """Refuse a time to wait that is no number of seconds. Raises ApiError 400."""
    timeout = request.query.get("timeout")
    if timeout and not timeout.isdecimal():
        raise bad_request(
            f"Invalid input for query parameters 'timeout'. Value: '{timeout}'. '{timeout}' does not match '^[0-9]*$'",
            SCHEMA,
        )


def stop(service: SingleContainers, request: Request) -> Response:
    _check_timeout(request)
    changes = {"status": STOPPED, "status_detail": "Exited(0) 1 seconds ago"}
    service.containers.begin(container_of(service, request), "stop", "container_stopping", SECONDS_TO_STOP, **changes)
    return Response(status=202)


def kill(service: SingleContainers, request: Request) -> Response:
    """Send a signal to the command; those that end a process stop the container."""
    container, signal = container_of(service, request), request.query.get("signal") or "SIGKILL"
    codes = {"SIGKILL": 137, "KILL": 137, "9": 137, "SIGTERM": 143, "TERM": 143, "15": 143, "SIGINT": 130, "INT": 130}
    service.containers.require_state(container, "kill")
    if signal.upper() in codes:
        detail = f"Exited({codes[signal.upper()]}) 1 seconds ago"
        changes = {"status": STOPPED, "status_detail": detail}
        service.containers.begin(container, "kill", "container_killing", SECONDS_TO_STOP, **changes)
    elif not signal.upper().removeprefix("SIG").isalnum():
        raise bad_request(f"Invalid signal {signal}")
    return Response(status=202)


def rename(service: SingleContainers, request: Request) -> Response:
    container, name = container_of(service, request), request.query.get("name") or ""
    if (problem := fields.text(2, 255, NAME)(name)) is not None:
        raise invalid("name", name, sentence(problem))
    service.containers.require_state(container, "rename")
    if name == container.name:
        raise conflict("The new name for the container is the same as the old name.")
    container.name = name
    service.containers.rows.save(container)
    return Response(container_view(service, request, container))


def resize_terminal(service: SingleContainers, request: Request) -> Response:
    container = container_of(service, request)
    service.containers.require_state(container, "resize")
    if not container.tty:
        raise bad_request(f"Container {container.id} has no terminal.")
    for name in ("width", "height"):
        if request.query.integer(name) is None:
            raise bad_request(f"The query must have '{name}'.")
    return Response(status=200)


# -- what runs inside -----------------------------------------------------------------------------------------------


def logs(service: SingleContainers, request: Request) -> Response:
    """Return the output of the command; `tail` limits it to the last lines. Nothing is written to the error output."""
    container, query = container_of(service, request), request.query
    service.containers.require_state(container, "logs")
    unknown = sorted({name for name, _ in query.pairs} - {"stdout", "stderr", "tail", "timestamps", "since"})
    if unknown:
        raise bad_request(f"Unknown argument: {unknown[0]}")
    if query.boolean("timestamps") or query.get("since") not in (None, "0", "None"):
        raise bad_request("Logs with timestamps, or since a time, are not supported by the emulated cloud.")
    lines = container.output.splitlines(keepends=True)
    if (tail := query.get("tail") or "all") != "all":
        lines = lines[-(query.integer("tail") or 0) :] if tail != "0" else []
    return Response("".join(lines) if query.boolean("stdout") is not False else "")


def execute(service: SingleContainers, request: Request) -> Response:
    """Run a command in a container: that of the query, or of the body.

    Raises: ApiError 400 for interactive commands, which need a connection.
    """
    container, query = container_of(service, request), request.query
    service.containers.require_state(container, "execute")
    body: Any = request.json if request.body else {}
    if not isinstance(body, dict) or body.keys() - {"command", "interactive", "run"}:
        raise bad_request("The request body must be a JSON object with command, interactive and run.")
    interactive = query.boolean("interactive") or as_boolean(body.get("interactive", False))
    if interactive or query.boolean("run") is False or as_boolean(body.get("run", True)) is False:
        raise bad_request("Interactive commands are not supported by the emulated cloud.")
    try:
        words = shlex.split(query.get("command") or str(body.get("command") or ""))
    except ValueError as error:
        raise bad_request(f"Invalid command: {error}") from None
    if not words:
        raise bad_request("The request must have 'command'.")
    course = execution_of(words)
    return Response({"output": course.output, "exit_code": course.code, "exec_id": None, "url": None})


def top(service: SingleContainers, request: Request) -> Response:
    container = container_of(service, request)
    service.containers.require_state(container, "top")
    command = " ".join(container.command) or "/sbin/init"
    titles = ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"]
    return Response({"Titles": titles, "Processes": [["root", "1", "0", "0", "00:00", "?", "00:00:00", command]]})


def stats(service: SingleContainers, request: Request) -> Response:
    """Return what a container uses: nothing runs in an emulated one, so that all figures are zero."""
    container = container_of(service, request)
    service.containers.require_state(container, "stats")
    names = ("CPU %", "MEM USAGE(MiB)", "MEM %", "BLOCK I/O(B)", "NET I/O(B)")
    figures = {**dict.fromkeys(names, 0), "MEM LIMIT(MiB)": int(container.memory or 0)}
    return Response({"CONTAINER": container.name, **figures})


start = _action("start", "container_starting", SECONDS_TO_START, status=RUNNING)
reboot = _action("reboot", "container_rebooting", SECONDS_TO_START, status=RUNNING)
pause = _action("pause", "container_pausing", SECONDS_TO_STOP, status=PAUSED)
unpause = _action("unpause", "container_unpausing", SECONDS_TO_START, status=RUNNING)
