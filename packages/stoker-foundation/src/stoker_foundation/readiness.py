"""How a program reports that it answers: a line on an open file that it inherits from the program that started it."""

from __future__ import annotations

import argparse
import contextlib
import os

READY_PATH = "/readyz"
"""Where a program that serves HTTP says whether it is ready, and what it still has to do."""


def add_ready_option(parser: argparse.ArgumentParser) -> None:
    """Add `--ready-fd`, the number of the open file, as `ready_fd`."""
    parser.add_argument("--ready-fd", type=int, help="open file that receives a line once requests are served")


def report_ready(descriptor: int | None) -> None:
    """Report to the starter, if there is one, and close the file."""
    if descriptor is None:
        return
    with contextlib.suppress(BrokenPipeError):  # the starter has ended; the program stays
        os.write(descriptor, b"ready\n")
    os.close(descriptor)
