"""The exit of a process of a cluster, which threads of libraries can delay."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

BUSY = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from stoker.processes.lifetime import exit_within
begun = threading.Event()

def send():
    begun.set()
    threading.Event().wait()

ThreadPoolExecutor(1).submit(send)
begun.wait()
print("all is recorded", flush=True)
exit_within(0.1)
"""
IDLE = """
import atexit
from stoker.processes.lifetime import exit_within
atexit.register(print, "as usual")
exit_within(60)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True)


def test_a_thread_that_waits_for_the_broker_does_not_keep_a_process_alive() -> None:
    done = run(BUSY)
    assert done.stdout == "all is recorded\n"
    assert "Exiting without waiting" in done.stderr


def test_a_process_whose_threads_are_idle_exits_as_usual() -> None:
    done = run(IDLE)
    assert (done.stdout, done.stderr) == ("as usual\n", "")
