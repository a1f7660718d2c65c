"""Run the public test suites of the orchestration service and of the emulated services against an embedded Stoker.

    python -m tools.conformance [--service NAME] [--only PARTS] [--tests REGEX] [--workers N] [--guests IMAGE]
                          [--keep DIRECTORY] [--record]

Each suite is installed into `.venv-conformance/suites/NAME`; everything else happens in a temporary directory. The exit
status is 0 when no test has failed and some have passed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from tools.conformance.installed import installed
from tools.conformance.place import embedded
from tools.conformance.report import Result, show
from tools.conformance.results_page import record
from tools.conformance.suite import Suite, names, run


def main() -> int:
    arguments = _arguments()
    services = names() if arguments.service == "all" else [arguments.service]
    return max(_run(_suite(service, arguments), arguments) for service in services)


def _suite(service: str, arguments: argparse.Namespace) -> Suite:
    suite = Suite.read(service)
    return suite.with_guests() if arguments.guests else suite


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--service", default="heat", choices=[*names(), "all"], help="whose suite to run (default: heat)"
    )
    parser.add_argument("--only", default="", help="parts of the suite to run, with commas between them")
    parser.add_argument("--tests", default="", metavar="REGEX", help="the tests with such names only")
    parser.add_argument(
        "--workers", type=int, help="processes that run tests side by side (default: what the suite says)"
    )
    parser.add_argument(
        "--guests",
        default="",
        metavar="IMAGE",
        help="let servers run guests of this image, and run the tests that use them",
    )
    parser.add_argument("--keep", type=Path, help="directory for the data and logs, which is then left as it is")
    parser.add_argument("--record", action="store_true", help="write the results into docs/reference/conformance.md")
    arguments = parser.parse_args()
    if arguments.record and (arguments.only or arguments.tests):
        parser.error("only the results of a whole suite can be recorded: leave out --only and --tests")
    if arguments.only and arguments.service == "all":
        parser.error("--only needs the suite of one service: give --service")
    if arguments.guests and (arguments.service == "all" or Suite.read(arguments.service).guests is None):
        usable = ", ".join(name for name in names() if Suite.read(name).guests)
        parser.error(f"--guests needs a suite with tests that use guests: --service {usable}")
    if arguments.only:
        suite = _suite(arguments.service, arguments)
        if unknown := set(arguments.only.split(",")) - set(suite.parts):
            parser.error(f"there is no part {', '.join(sorted(unknown))}; parts are {', '.join(suite.parts)}")
    return arguments


def _run(suite: Suite, arguments: argparse.Namespace) -> int:
    """Run one suite on a Stoker of its own, and print its results; returns the exit status."""
    print(f"{suite.title}:", flush=True)
    results = _results(suite, arguments)
    if arguments.record:
        record(suite, results)
    return show(results)


def _results(suite: Suite, arguments: argparse.Namespace) -> list[Result]:
    programs = installed(f"suites/{suite.name}")
    workers = arguments.workers or suite.workers or os.cpu_count() or 1
    parts = arguments.only.split(",") if arguments.only else list(suite.parts)
    temporary = tempfile.TemporaryDirectory(prefix="stoker-conformance-")
    with nullcontext(arguments.keep) if arguments.keep else temporary as directory:
        home = Path(directory).resolve() / suite.name
        home.mkdir(parents=True, exist_ok=True)
        with embedded(home, arguments.guests) as place:
            return run(suite, programs, place, home, parts, workers, arguments.tests)


if __name__ == "__main__":
    sys.exit(main())
