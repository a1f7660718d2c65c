"""`python read_results.py FILE`: the results of the tests in a subunit stream, as JSON. Runs beside the suite."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from subunit import ByteStreamToStreamResult
from testtools import StreamToDict


def main(path: str) -> None:
    found: list[dict[str, str]] = []

    def note(test: dict[str, Any]) -> None:
        details = {
            name: content.as_text() for name, content in test["details"].items() if name in ("reason", "traceback")
        }
        lines = [line for line in details.get("traceback", "").strip().splitlines() if line.strip()]
        reason = details.get("reason") or "\n".join(lines[-12:])
        found.append({"test": test["id"], "status": test["status"], "reason": reason.strip()})

    results = StreamToDict(note)
    results.startTestRun()
    with Path(path).open("rb") as stream:
        ByteStreamToStreamResult(stream, non_subunit_name="output").run(results)
    results.stopTestRun()
    json.dump([item for item in found if item["status"] != "exists" and item["test"] != "output"], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
