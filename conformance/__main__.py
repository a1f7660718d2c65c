"""Run the orchestration service's public test suite against an embedded Stoker, and say what came of it.

    python -m conformance [--only api,functional,scenario] [--tests REGEX] [--workers N] [--keep DIRECTORY]

The suite is installed into `.venv-conformance/tempest`; everything else happens in a temporary directory. The exit
status is 0 when no test has failed and some have passed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from conformance.installed import installed
from conformance.place import embedded
from conformance.report import show
from conformance.suite import PARTS, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS), help="parts of the suite to run, with commas between them")
    parser.add_argument("--tests", default="", metavar="REGEX", help="the tests with such names only")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes that run tests side by side"
    )
    parser.add_argument("--keep", type=Path, help="directory for the data and logs, which is then left as it is")
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    programs = installed("tempest")
    temporary = tempfile.TemporaryDirectory(prefix="stoker-conformance-")
    with nullcontext(arguments.keep) if arguments.keep else temporary as directory:
        home = Path(directory).resolve()
        home.mkdir(parents=True, exist_ok=True)
        with embedded(home) as place:
            results = run(programs, place, home, parts, arguments.workers, arguments.tests)
    return show(results)


if __name__ == "__main__":
    sys.exit(main())
