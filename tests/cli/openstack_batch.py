"""`python openstack_batch.py`: runs OpenStack's client on each of the argument lists that stand on standard input, as
JSON, and writes what each of them came to. One process for all: most of a command's time is the client's start.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from openstackclient.shell import OpenStackShell


def run(arguments: list[str]) -> dict[str, object]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        shell = OpenStackShell()
        shell.stdout = out
        status = shell.run(arguments)
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    json.dump([run(arguments) for arguments in json.load(sys.stdin)], sys.stdout)
