"""Containers and their states: what begins with a request ends some seconds later.

`Creating` → `Created` → `Running` → `Stopped`, `Paused`; `Error` when something fails. While something is in progress,
`task_state` says what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openstack_emulator.container.records import Container
from openstack_emulator.container.rules.commands import command_result
from openstack_emulator.container.rules.errors import STATE
from openstack_emulator.container.rules.hosts import Hosts
from openstack_emulator.container.rules.images import Images
from openstack_emulator.container.rules.inputs import Change, NewContainer
from openstack_emulator.container.rules.networking import Networking
from openstack_emulator.container.rules.quotas import Quotas
from openstack_emulator.container.rules.storage import Storage
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, conflict
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.objects import by_name_or_id
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

TIMESTAMP = "%Y-%m-%d %H:%M:%S"
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


class Containers(Rules):
    """The containers of all projects."""

    def __init__(
        self,
        records: Records,
        rows: Table[Container],
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

    def find(self, context: Context, key: str) -> Container:
        """Return a container by ID or name. Raises ApiError 404 and 409."""
        return by_name_or_id(self.rows, "container", key, context.may_see)

    def require_state(self, container: Container, action: str) -> None:
        """Refuse an action that is impossible in the container's state. Raises ApiError 409."""
        busy = container.task_state is not None and not action.startswith("delete")
        if busy or container.status not in ALLOWED[action]:
            name, _, _ = action.partition("_after_")
            raise conflict(f"Cannot {name} container {container.id} in {container.status} state", STATE)

    # -- creation -----------------------------------------------------------------------------------------------

    def create(self, request: Request, new_container: NewContainer, run: bool) -> Container:
        """Begin to create a container, and with `run` to start it.

        Raises: ApiError 404 for networks and volumes that do not exist, 409 for ports and volumes in use, 403 for an
        exceeded quota.
        """
        context = request.context
        container = self._new(context, new_container)
        groups = self.networking.groups(context, new_container.security_groups)
        interfaces = self.networking.requested(request, new_container.nets)
        mounts = self.storage.requested(request, new_container.mounts)
        self.quotas.admit(context.project, {"containers": 1, **_size(container)})
        container.security_groups, container.interfaces = groups, interfaces
        try:
            container.host = self.hosts.place(
                new_container.cpu, int(container.memory or 0), new_container.availability_zone
            )
        except ApiError as error:
            container.status, container.status_reason, container.task_state = ERROR, error.message, None
            container.updated_at = self.records.timestamp(TIMESTAMP)
            return self.rows.add(container)
        self.rows.add(container)
        for mount in mounts:
            self.storage.mount(request, container, mount)
        self.after(SECONDS_TO_PULL, self.finish_pull, container.id, run)
        return container

    def _new(self, context: Context, new_container: NewContainer) -> Container:
        identifier = new_id()
        return Container(
            id=identifier,
            uuid=identifier,
            name=new_container.name or f"{identifier[:8]}-container",
            image=new_container.image,
            image_driver=new_container.image_driver,
            image_pull_policy=new_container.image_pull_policy,
            command=new_container.command,
            cpu=new_container.cpu,
            memory=str(new_container.memory),
            disk=new_container.disk,
            environment=new_container.environment,
            labels=new_container.labels,
            workdir=new_container.workdir,
            hostname=new_container.hostname,
            interactive=new_container.interactive,
            tty=new_container.tty,
            auto_remove=new_container.auto_remove,
            restart_policy=new_container.restart_policy,
            runtime=None,
            privileged=False,
            auto_heal=False,
            cpu_policy="shared",
            registry_id=None,
            entrypoint=[],
            healthcheck={},
            host=None,
            ports=[],
            security_groups=[],
            status=CREATING,
            status_reason=None,
            status_detail=None,
            task_state="image_pulling",
            project_id=context.project,
            user_id=context.user_id,
            created_at=self.records.timestamp(TIMESTAMP),
            updated_at=None,
            started_at=None,
            output="",
            run=0,
            retries=0,
            interfaces=[],
            files={},
        )

    def finish_pull(self, container_id: str, run: bool) -> None:
        """Continue with the creation once the image is there."""
        container = self.rows.get(container_id)
        if container is None or container.task_state != "image_pulling":
            return
        problem = self.images.problem(
            container.project_id, container.image, container.image_driver, container.image_pull_policy
        )
        if problem is not None:
            self._fail(container, problem)
            return
        container.task_state = "container_creating"
        self.rows.save(container)
        self.after(SECONDS_TO_CREATE, self.finish_create, container_id, run)

    def finish_create(self, container_id: str, run: bool) -> None:
        """Give a new container its networks; start it if it is to run."""
        container = self.rows.get(container_id)
        if container is None or container.task_state != "container_creating":
            return
        if (reason := container.take_fault()) is not None:
            self._fail(container, reason)
            return
        try:
            self.storage.attach_created(container)
            interfaces, container.interfaces = container.interfaces, []
            for interface in interfaces:
                self.networking.plug(container, interface)
        except ApiError as error:
            self.networking.release(container)
            self._fail(container, error.message)
            return
        container.status, container.task_state = CREATED, None
        self.rows.save(container)
        if run:
            self.begin(container, "start", "container_starting", SECONDS_TO_START, status=RUNNING)

    def _fail(self, container: Container, reason: str) -> None:
        container.status, container.status_reason, container.task_state = ERROR, reason, None
        self.rows.save(container)

    # -- actions ------------------------------------------------------------------------------------------------

    def begin(self, container: Container, action: str, task: str, seconds: float, **changes: object) -> None:
        """Begin an action, at the end of which the container has these changes. Raises ApiError 409."""
        self.require_state(container, action)
        container.task_state, container.updated_at = task, self.records.timestamp(TIMESTAMP)
        self.rows.save(container)
        self.after(seconds, self.finish_action, container.id, task, changes)

    def finish_action(self, container_id: str, task: str, changes: Mapping[str, object]) -> None:
        """End an action, unless the container is being deleted."""
        container = self.rows.get(container_id)
        if container is None or container.task_state != task:
            return
        if (reason := container.take_fault()) is not None:
            self._fail(container, reason)
            return
        continues = task == "container_unpausing"
        self.rows.update(container, **changes, task_state=None, status_reason=None)
        if container.status == RUNNING and not continues:
            container.retries = 0
            self._run_command(container)

    def _run_command(self, container: Container) -> None:
        course = command_result(container.command)
        run = container.run + 1
        container.run, container.output = run, container.output + course.output
        container.started_at, container.status_detail = self.records.timestamp(TIMESTAMP), "Up 1 second"
        self.rows.save(container)
        if course.seconds is not None:
            self.after(course.seconds, self.end_command, container.id, run, course.code)

    def end_command(self, container_id: str, run: int, code: int) -> None:
        """Stop a container whose command has ended, or restart it if its policy says so."""
        container = self.rows.get(container_id)
        if container is None or container.status != RUNNING or container.run != run:
            return
        restart_policy = container.restart_policy or {}
        policy, most = restart_policy.get("Name"), int(restart_policy.get("MaximumRetryCount", 0))
        again = policy in ("always", "unless-stopped") or (
            policy == "on-failure" and code != 0 and (most == 0 or container.retries < most)
        )
        if again:
            pause = min(LONGEST_PAUSE, 2.0**container.retries)
            container.retries += 1
            self.rows.save(container)
            self.after(pause, self.restart, container_id, run)
        elif container.auto_remove:
            self._remove(container)
        else:
            container.status, container.status_detail = STOPPED, f"Exited({code}) 1 seconds ago"
            self.rows.save(container)

    def restart(self, container_id: str, run: int) -> None:
        """Run the command of a container again."""
        container = self.rows.get(container_id)
        if container is not None and container.status == RUNNING and container.run == run:
            self._run_command(container)

    def resize(self, container: Container, requested: Change) -> None:
        """Change the name, CPUs and memory of a container. Raises ApiError 403 and 409."""
        self.require_state(container, "update")
        sizes = {
            "name": requested.name,
            "cpu": requested.cpu,
            "memory": None if requested.memory is None else str(requested.memory),
        }
        changes: dict[str, Any] = {name: value for name, value in sizes.items() if value is not None}
        before, after = _size(container), _size(replace(container, **changes))
        self.quotas.admit(container.project_id, {name: after[name] - before[name] for name in before})
        self.rows.update(container, **changes, updated_at=self.records.timestamp(TIMESTAMP))

    # -- deletion -----------------------------------------------------------------------------------------------

    def begin_delete(self, container: Container, *, stop: bool, force: bool) -> None:
        """Begin to delete a container; with `stop` it is stopped first. Raises ApiError 409."""
        self.require_state(container, "delete_force" if force else "delete_after_stop" if stop else "delete")
        seconds = SECONDS_TO_DELETE + (SECONDS_TO_STOP if container.status == RUNNING else 0)
        container.status, container.task_state = DELETING, "container_deleting"
        self.rows.save(container)
        self.after(seconds, self.finish_delete, container.id)

    def finish_delete(self, container_id: str) -> None:
        """Remove a container, or let it fail if a fault rule demands it."""
        container = self.rows.get(container_id)
        if container is None:
            return
        if (reason := container.take_fault()) is not None:
            self._fail(container, reason)
            return
        self._remove(container)

    def _remove(self, container: Container) -> None:
        self.networking.release(container)
        self.storage.release(container)
        self.rows.remove(container)


def _size(container: Container) -> dict[str, float]:
    """Return what counts against the quota of a container."""
    return {name: float(container.get(name) or 0) for name in ("cpu", "memory", "disk")}
