"""`python -m tests.cli.openstack_batch`: runs OpenStack's client on the arguments, as JSON, in each line of its input.

It prints a line with the result. One process for all: most of a command's time is the client's start.

The client asks every few seconds how far a stack is; here it does so ten times a second.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time

from openstackclient.shell import OpenStackShell

PAUSE_SECONDS = 0.1
_sleep = time.sleep


def run(arguments: list[str]) -> dict[str, object]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        shell = OpenStackShell()
        shell.stdout = out
        status = shell.run(arguments) or 0  # some plug-ins return None, for which a program exits with 0
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    time.sleep = lambda seconds: _sleep(min(float(seconds), PAUSE_SECONDS))
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
