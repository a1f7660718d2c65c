"""The states of a server as data: which status a state is shown as, and what each operation does to it."""

from __future__ import annotations

from dataclasses import dataclass

NO_STATE, RUNNING, PAUSED, SHUT_DOWN, CRASHED, SUSPENDED = 0, 1, 3, 4, 6, 7
"""Power states, as numbers of the API."""

STATUS = {
    "active": "ACTIVE",
    "building": "BUILD",
    "stopped": "SHUTOFF",
    "paused": "PAUSED",
    "suspended": "SUSPENDED",
    "rescued": "RESCUE",
    "resized": "VERIFY_RESIZE",
    "error": "ERROR",
    "shelved": "SHELVED",
    "shelved_offloaded": "SHELVED_OFFLOADED",
    "soft-delete": "SOFT_DELETED",
    "deleted": "DELETED",
}
RESIZING = ("resize_prep", "resize_migrating", "resize_migrated", "resize_finish")
REBUILDING = ("rebuilding", "rebuild_block_device_mapping", "rebuild_spawning")
TASK_STATUS = {
    **dict.fromkeys(RESIZING, "RESIZE"),
    **dict.fromkeys(REBUILDING, "REBUILD"),
    "rebooting": "REBOOT",
    "reboot_started": "REBOOT",
    "rebooting_hard": "HARD_REBOOT",
    "reboot_started_hard": "HARD_REBOOT",
    "updating_password": "PASSWORD",
    "migrating": "MIGRATING",
    "resize_reverting": "REVERT_RESIZE",
}
"""Tasks during which a server is shown with a status of the task, not of its state."""

PROGRESS = {"ACTIVE": 0, "BUILD": 0, "DELETED": 0, "MIGRATING": 0, "REBUILD": 0, "RESIZE": 0, "VERIFY_RESIZE": 0}
"""The statuses that come with a progress."""


def status_of(vm_state: str, task_state: str | None) -> str:
    """What the API calls a server in this state."""
    return TASK_STATUS.get(task_state or "", STATUS[vm_state])


@dataclass(frozen=True)
class Operation:
    """What is done to a server.

    name: as it stands in messages and, unless `action` says otherwise, in the list of instance actions.
    origins: the states of the server in which it may begin; empty: any.
    tasks: the task states the server passes through.
    state, power: what it becomes; None: what it was.
    guest: what happens to the system that runs in the server before it follows the power state; empty: nothing.
    event: the type of the event at its end, of those that alarms of the emulated cloud may wait for; empty: none.
    """

    name: str
    origins: tuple[str, ...]
    tasks: tuple[str, ...]
    state: str | None = None
    power: int | None = None
    guest: str = ""
    event: str = ""


RESTART, REINSTALL = "restart", "reinstall"
"""The guest is restarted; it is started with a new disk."""
ATTACHABLE = ("active", "paused", "stopped", "suspended", "resized", "soft-delete", "shelved", "shelved_offloaded")
PLUGGABLE = ("active", "paused", "stopped")

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "stop",
            ("active", "rescued", "error"),
            ("powering-off",),
            "stopped",
            SHUT_DOWN,
            event="compute.instance.power_off.end",
        ),
        Operation("start", ("stopped",), ("powering-on",), "active", RUNNING, event="compute.instance.power_on.end"),
        Operation("reboot", ("active",), ("rebooting", "reboot_started"), "active", RUNNING, RESTART),
        Operation(
            "hard reboot",
            ("active", "stopped", "paused", "suspended", "error"),
            ("rebooting_hard", "reboot_started_hard"),
            "active",
            RUNNING,
            RESTART,
        ),
        Operation("pause", ("active", "rescued"), ("pausing",), "paused", PAUSED),
        Operation("unpause", ("paused",), ("unpausing",), "active", RUNNING),
        Operation("suspend", ("active",), ("suspending",), "suspended", SHUT_DOWN),
        Operation("resume", ("suspended",), ("resuming",), "active", RUNNING),
        Operation("resize", ("active", "stopped"), RESIZING, "resized", guest=RESTART),
        Operation("migrate", ("active", "stopped"), RESIZING, "resized", guest=RESTART),
        Operation("confirmResize", ("resized",), ("resize_confirming",), "active"),
        Operation("revertResize", ("resized",), ("resize_reverting",), "active", guest=RESTART),
        Operation("rebuild", ("active", "stopped", "error"), REBUILDING, "active", RUNNING, REINSTALL),
        Operation("evacuate", ("active", "stopped", "error"), REBUILDING, "active", RUNNING, REINSTALL),
        Operation("os-migrateLive", ("active", "paused"), ("migrating",)),
        Operation("rescue", ("active", "stopped", "error"), ("rescuing",), "rescued", RUNNING, RESTART),
        Operation("unrescue", ("rescued",), ("unrescuing",), "active", RUNNING, RESTART),
        Operation(
            "shelve",
            ("active", "stopped", "paused", "suspended"),
            ("shelving", "shelving_image_pending_upload", "shelving_image_uploading", "shelving_offloading"),
            "shelved_offloaded",
            SHUT_DOWN,
        ),
        Operation("shelveOffload", ("shelved",), ("shelving_offloading",), "shelved_offloaded", SHUT_DOWN),
        Operation("unshelve", ("shelved", "shelved_offloaded"), ("unshelving", "spawning"), "active", RUNNING),
        Operation("changePassword", ("active",), ("updating_password",)),
        Operation(
            "createImage",
            ("active", "stopped", "paused", "suspended"),
            ("image_snapshot_pending", "image_snapshot", "image_pending_upload", "image_uploading"),
        ),
        Operation(
            "createBackup",
            ("active", "stopped", "paused", "suspended"),
            ("image_snapshot_pending", "image_backup", "image_pending_upload", "image_uploading"),
        ),
        Operation("restore", ("soft-delete",), ("restoring",), "active", RUNNING),
        Operation("trigger_crash_dump", ("active", "paused", "rescued", "error"), ()),
    )
}
