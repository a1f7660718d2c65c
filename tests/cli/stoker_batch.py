"""`python stoker_batch.py BIN`: runs the `stoker` command for each order, a JSON object in a line of standard input.

Each command runs in a process of its own, forked from this one: what a command would import first is here already. An
order has `arguments`, `environment`, `directory`, the files `out` and `err`, and `timeout`, seconds after which the
signal SIGALRM ends the command. The answer to an order is a line with the status of the process, as `Popen` has it.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import sys
import threading
import traceback
from typing import Any

import stoker.cli.client.connection
import stoker.cli.commands.approvals
import stoker.cli.commands.deploy
import stoker.cli.commands.local
import stoker.cli.commands.logs
import stoker.cli.commands.stacks  # noqa: F401
from stoker.cli.main import main


def become(order: dict[str, Any], program: str) -> None:
    """Make this process what a shell would have started."""
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["directory"])
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, (path, mode) in enumerate(((os.devnull, os.O_RDONLY), (order["out"], flags), (order["err"], flags))):
        opened = os.open(path, mode)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = [program, *order["arguments"]]
    sys.path[0] = os.path.dirname(program)  # noqa: PTH120
    signal.alarm(int(order["timeout"]))


def status_of_main() -> int:
    """Run the command, and return what the interpreter would exit with."""
    try:
        main()
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run(order: dict[str, Any], program: str) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become(order, program)
            status = status_of_main()
            threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of an interpreter does
            atexit._run_exitfuncs()
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(run(json.loads(line), os.path.join(sys.argv[1], "stoker")), flush=True)  # noqa: PTH118
