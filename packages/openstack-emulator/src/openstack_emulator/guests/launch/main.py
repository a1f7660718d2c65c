"""The program: it closes all files but those that the cloud gives it, and runs the task."""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise

from openstack_emulator.guests.launch.disks import copy, delete, run, unpack
from openstack_emulator.guests.launch.linux import live_with_parent
from openstack_emulator.guests.launch.networks import networks
from openstack_emulator.guests.launch.starting import boot, virtual

TASKS = {
    "run": run,
    "boot": boot,
    "delete": delete,
    "unpack": unpack,
    "networks": networks,
    "copy": copy,
    "virtual": virtual,
}


def main() -> int:
    """Run the task of the command line's argument, a JSON object, and return the exit status."""
    task = json.loads(sys.argv[1])
    live_with_parent()
    if os.getppid() != task["parent"]:
        return 1
    os.chdir(task["directory"])
    os.umask(0o022)  # what is made is for all users of a guest, unless it says otherwise; the cloud's own files are not
    descriptors = sorted({2, *(task[name] for name in ("control", "within", "monitor") if name in task)})
    for descriptor in descriptors[1:]:
        os.set_inheritable(descriptor, False)
    for before, after in pairwise([*descriptors, os.sysconf("SC_OPEN_MAX")]):
        os.closerange(before + 1, after)  # the guest gets no other open file of this machine
    return TASKS[task["task"]](task)
