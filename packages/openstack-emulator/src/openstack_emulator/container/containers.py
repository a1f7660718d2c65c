"""Containers and their states: what begins with a request ends some seconds later.

`Creating` → `Created` → `Running` → `Stopped`, `Paused`; `Error` when something fails. While something is in progress,
`task_state` says what.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.container.description import KNOWN, TTY, check_retries, described, mebibytes, words_of
from openstack_emulator.container.hosts import Hosts
from openstack_emulator.container.http import STATE
from openstack_emulator.container.images import Images
from openstack_emulator.container.networking import Networking
from openstack_emulator.container.processes import course_of
from openstack_emulator.container.quotas import Quotas
from openstack_emulator.container.storage import Storage
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, conflict
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.objects import by_name_or_id
from openstack_emulator.core.store import Collection, Record

TIMESTAMP = "%Y-%m-%d %H:%M:%S"
DEFAULT_CPUS, DEFAULT_MEMORY = 1.0, 512
SECONDS_TO_PULL = 2.0
SECONDS_TO_CREATE = 1.0
SECONDS_TO_START = 1.0
SECONDS_TO_STOP = 1.0
SECONDS_TO_DELETE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds before a container whose command ends again and again is restarted."""
CREATING, CREATED, RUNNING, STOPPED, PAUSED, ERROR, DELETING = (
    "Creating", "Created", "Running", "Stopped", "Paused", "Error", "Deleting",
)  # fmt: skip
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "start": (CREATED, STOPPED, ERROR),
    "stop": (RUNNING,),
    "reboot": (CREATED, RUNNING, STOPPED, ERROR),
    "pause": (RUNNING,),
    "unpause": (PAUSED,),
    "kill": (RUNNING,),
    "execute": (RUNNING,),
    "resize": (RUNNING,),
    "top": (RUNNING,),
    "stats": (RUNNING,),
    "logs": (CREATED, RUNNING, STOPPED, PAUSED),
    "put_archive": (CREATED, RUNNING, STOPPED, PAUSED),
    "get_archive": (CREATED, RUNNING, STOPPED, PAUSED),
    "update": (CREATED, RUNNING, STOPPED, PAUSED),
    "rename": (CREATED, RUNNING, STOPPED, PAUSED, ERROR),
    "add_security_group": (CREATED, RUNNING, STOPPED, PAUSED),
    "remove_security_group": (CREATED, RUNNING, STOPPED, PAUSED),
    "network_attach": (CREATED, RUNNING, STOPPED, PAUSED),
    "network_detach": (CREATED, RUNNING, STOPPED, PAUSED),
    "delete": (CREATED, STOPPED, ERROR),
    "delete_after_stop": (CREATED, RUNNING, STOPPED, ERROR),
    "delete_force": (CREATING, CREATED, RUNNING, STOPPED, PAUSED, ERROR),
}
"""The statuses in which each action is possible."""


class Containers(Component):
    """The containers of all projects."""

    def __init__(
        self,
        records: Records,
        rows: Collection,
        hosts: Hosts,
        images: Images,
        quotas: Quotas,
        networking: Networking,
        storage: Storage,
    ) -> None:
        super().__init__(records)
        self.rows, self.hosts, self.images, self.quotas = rows, hosts, images, quotas
        self.networking, self.storage = networking, storage
        records.deferrable(
            self.finish_pull, self.finish_create, self.finish_action, self.end_command, self.restart, self.finish_delete
        )

    def find(self, context: Context, key: str) -> Record:
        """Return a container by ID or name. Raises ApiError 404 and 409."""
        return by_name_or_id(self.rows, "container", key, context.may_see)

    def require_state(self, container: Record, action: str) -> None:
        """Refuse an action that is impossible in the container's state. Raises ApiError 409."""
        busy = container["task_state"] is not None and not action.startswith("delete")
        if busy or container["status"] not in ALLOWED[action]:
            name, _, _ = action.partition("_after_")
            raise conflict(f"Cannot {name} container {container['id']} in {container['status']} state", STATE)

    # -- creation -----------------------------------------------------------------------------------------------

    def create(self, request: Request, run: bool) -> Record:
        """Begin to create the container that a request describes, and with `run` to start it.

        Raises: ApiError 400 for a wrong description, 404 for networks and volumes that do not exist, 409 for ports and
        volumes in use, 403 for an exceeded quota.
        """
        context = request.context
        wanted = described(request, KNOWN, ("image",))
        check_retries(wanted.get("restart_policy"))
        container = self._new(request, wanted)
        groups = self.networking.groups(context, wanted.get("security_groups", ()))
        interfaces = self.networking.asked_for(request, wanted.get("nets", ()))
        mounts = self.storage.asked_for(request, wanted.get("mounts", ()))
        self.quotas.admit(context.project, {"containers": 1, **_size(container)})
        container["security_groups"] = groups
        container["_interfaces"] = interfaces
        try:
            container["host"] = self.hosts.place(
                _size(container)["cpu"], int(container["memory"] or 0), wanted.get("availability_zone")
            )
        except ApiError as error:
            moment = self.records.timestamp(TIMESTAMP)
            container.update(status=ERROR, status_reason=error.message, task_state=None, updated_at=moment)
            return self.rows.add(container)
        self.rows.add(container)
        for mount in mounts:
            self.storage.mount(request, container, mount)
        self.after(SECONDS_TO_PULL, self.finish_pull, container["id"], run)
        return container

    def _new(self, request: Request, wanted: Mapping[str, Any]) -> Record:
        identifier = new_id()
        policy = wanted.get("restart_policy")
        interactive = bool(fields.as_boolean(wanted.get("interactive", False)))
        tty = wanted.get("tty", interactive and request.version < TTY)
        return {
            "id": identifier,
            "uuid": identifier,
            "name": wanted.get("name") or f"{identifier[:8]}-container",
            "image": wanted["image"],
            "image_driver": wanted.get("image_driver") or "docker",
            "image_pull_policy": wanted.get("image_pull_policy") or None,
            "command": words_of(wanted.get("command"), request.version),
            "cpu": float(wanted.get("cpu", DEFAULT_CPUS)),
            "memory": str(mebibytes(wanted.get("memory", DEFAULT_MEMORY))),
            "disk": fields.as_integer(wanted.get("disk", 0)),
            "environment": {key: str(value) for key, value in wanted.get("environment", {}).items()},
            "labels": {key: str(value) for key, value in wanted.get("labels", {}).items()},
            "workdir": wanted.get("workdir"),
            "hostname": wanted.get("hostname"),
            "interactive": interactive,
            "tty": bool(fields.as_boolean(tty)),
            "auto_remove": bool(fields.as_boolean(wanted.get("auto_remove", False))),
            "restart_policy": {}
            if policy is None
            else {"Name": policy["Name"], "MaximumRetryCount": str(policy.get("MaximumRetryCount", 0))},
            "runtime": None,
            "privileged": False,
            "auto_heal": False,
            "cpu_policy": "shared",
            "registry_id": None,
            "entrypoint": [],
            "healthcheck": {},
            "host": None,
            "ports": [],
            "security_groups": [],
            "status": CREATING,
            "status_reason": None,
            "status_detail": None,
            "task_state": "image_pulling",
            "project_id": request.context.project,
            "user_id": request.context.user_id,
            "created_at": self.records.timestamp(TIMESTAMP),
            "updated_at": None,
            "started_at": None,
            "_output": "",
            "_run": 0,
            "_retries": 0,
        }

    def finish_pull(self, container_id: str, run: bool) -> None:
        """Continue with the creation once the image is there."""
        container = self.rows.get(container_id)
        if container is None or container["task_state"] != "image_pulling":
            return
        problem = self.images.problem(
            container["project_id"], container["image"], container["image_driver"], container["image_pull_policy"]
        )
        if problem is not None:
            self._fail(container, problem)
            return
        self.rows.update(container, task_state="container_creating")
        self.after(SECONDS_TO_CREATE, self.finish_create, container_id, run)

    def finish_create(self, container_id: str, run: bool) -> None:
        """Give a new container its networks; start it if it is to run."""
        container = self.rows.get(container_id)
        if container is None or container["task_state"] != "container_creating":
            return
        if (reason := container.pop("_fault", None)) is not None:
            self._fail(container, reason)
            return
        try:
            self.storage.attach_created(container)
            for wanted in container.pop("_interfaces", ()):
                self.networking.plug(container, wanted)
        except ApiError as error:
            self.networking.release(container)
            self._fail(container, error.message)
            return
        self.rows.update(container, status=CREATED, task_state=None)
        if run:
            self.begin(container, "start", "container_starting", SECONDS_TO_START, status=RUNNING)

    def _fail(self, container: Record, reason: str) -> None:
        self.rows.update(container, status=ERROR, status_reason=reason, task_state=None)

    # -- actions ------------------------------------------------------------------------------------------------

    def begin(self, container: Record, action: str, task: str, seconds: float, **changes: Any) -> None:
        """Begin an action, at the end of which the container has these changes. Raises ApiError 409."""
        self.require_state(container, action)
        self.rows.update(container, task_state=task, updated_at=self.records.timestamp(TIMESTAMP))
        self.after(seconds, self.finish_action, container["id"], task, changes)

    def finish_action(self, container_id: str, task: str, changes: Record) -> None:
        """End an action, unless the container is being deleted."""
        container = self.rows.get(container_id)
        if container is None or container["task_state"] != task:
            return
        if (reason := container.pop("_fault", None)) is not None:
            self._fail(container, reason)
            return
        continues = task == "container_unpausing"
        self.rows.update(container, **changes, task_state=None, status_reason=None)
        if container["status"] == RUNNING and not continues:
            container["_retries"] = 0
            self._run_command(container)

    def _run_command(self, container: Record) -> None:
        course = course_of(container["command"])
        run = container["_run"] + 1
        self.rows.update(
            container,
            _run=run,
            _output=container["_output"] + course.output,
            started_at=self.records.timestamp(TIMESTAMP),
            status_detail="Up 1 second",
        )
        if course.seconds is not None:
            self.after(course.seconds, self.end_command, container["id"], run, course.code)

    def end_command(self, container_id: str, run: int, code: int) -> None:
        """Stop a container whose command has ended, or restart it if its policy says so."""
        container = self.rows.get(container_id)
        if container is None or container["status"] != RUNNING or container["_run"] != run:
            return
        policy = container["restart_policy"] or {"Name": "no"}
        most = int(policy.get("MaximumRetryCount", 0))
        again = policy["Name"] in ("always", "unless-stopped") or (
            policy["Name"] == "on-failure" and code != 0 and (most == 0 or container["_retries"] < most)
        )
        if again:
            pause = min(LONGEST_PAUSE, 2.0 ** container["_retries"])
            self.rows.update(container, _retries=container["_retries"] + 1)
            self.after(pause, self.restart, container_id, run)
        elif container["auto_remove"]:
            self._remove(container)
        else:
            self.rows.update(container, status=STOPPED, status_detail=f"Exited({code}) 1 seconds ago")

    def restart(self, container_id: str, run: int) -> None:
        """Run the command of a container again."""
        container = self.rows.get(container_id)
        if container is not None and container["status"] == RUNNING and container["_run"] == run:
            self._run_command(container)

    def resize(self, container: Record, wanted: Mapping[str, Any]) -> None:
        """Change the name, CPUs and memory of a container. Raises ApiError 403 and 409."""
        self.require_state(container, "update")
        changes: dict[str, Any] = {}
        if "name" in wanted:
            changes["name"] = wanted["name"]
        if "cpu" in wanted:
            changes["cpu"] = float(wanted["cpu"])
        if "memory" in wanted:
            changes["memory"] = str(mebibytes(wanted["memory"]))
        before, after = _size(container), _size({**container, **changes})
        self.quotas.admit(container["project_id"], {name: after[name] - before[name] for name in before})
        self.rows.update(container, **changes, updated_at=self.records.timestamp(TIMESTAMP))

    # -- deletion -----------------------------------------------------------------------------------------------

    def begin_delete(self, container: Record, *, stop: bool, force: bool) -> None:
        """Begin to delete a container; with `stop` it is stopped first. Raises ApiError 409."""
        self.require_state(container, "delete_force" if force else "delete_after_stop" if stop else "delete")
        seconds = SECONDS_TO_DELETE + (SECONDS_TO_STOP if container["status"] == RUNNING else 0)
        self.rows.update(container, status=DELETING, task_state="container_deleting")
        self.after(seconds, self.finish_delete, container["id"])

    def finish_delete(self, container_id: str) -> None:
        """Remove a container, or let it fail if a fault rule demands it."""
        container = self.rows.get(container_id)
        if container is None:
            return
        if (reason := container.pop("_fault", None)) is not None:
            self._fail(container, reason)
            return
        self._remove(container)

    def _remove(self, container: Record) -> None:
        self.networking.release(container)
        self.storage.release(container)
        self.rows.remove(container)


def _size(container: Mapping[str, Any]) -> dict[str, float]:
    """Return what counts against the quota of a container."""
    return {name: float(container[name] or 0) for name in ("cpu", "memory", "disk")}
