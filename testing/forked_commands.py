"""Commands for shells and clients that start programs themselves: files that have a program forked.

The process of such a file takes a fiftieth of the processor time that the program's own start would take. Signals that
end a program go to the program, and its status becomes the status of the process. The program has the environment
variables and the directory of the process, but is in another session: a terminal does not reach it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from testing.forked_program import STOKER, order_of, server_for

_COMMAND = """#!{python} -IS
import json, os, signal, socket, sys

order = json.loads({order!r})
order |= {{"arguments": sys.argv, "environment": dict(os.environ), "directory": os.getcwd()}}
reading, writing = os.pipe()
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    socket.send_fds(server, [json.dumps(order).encode()], [0, 1, 2, writing])
os.close(writing)
with os.fdopen(reading) as reports:
    program = int(reports.readline())
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(program, number))
    status = int(reports.readline())
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


def install(command: Path, program: str, imports: Sequence[str], distribution: str = STOKER) -> Path:
    """Write the file of a command, and return its path; the program and the rest are those of `ForkedProgram`."""
    order = json.dumps(order_of(program, [], imports, {}))
    address = server_for(distribution, os.environ).address
    command.parent.mkdir(exist_ok=True)
    command.write_text(_COMMAND.format(python=sys.executable, order=order, address=address))
    command.chmod(0o755)
    return command
