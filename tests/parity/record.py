"""Record the responses of a real Heat to the cases of templates and validation: `python -m tests.parity.record`.

The service is found as the OpenStack client finds it: OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME name a
user of a cloud with Heat, and PARITY_HEAT_URL (default http://127.0.0.1:15004/v1) the service itself. Only cases that
have not been recorded, or whose template has changed, are asked; with `--all` every one is.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tests.parity import template_cases, validation_cases
from tests.parity.heat_client import Service, token
from tests.parity.template_cases import fingerprint


def main() -> None:
    environment = os.environ
    given, project = token(
        environment["OS_AUTH_URL"],
        environment["OS_USERNAME"],
        environment["OS_PASSWORD"],
        environment["OS_PROJECT_NAME"],
    )
    url = environment.get("PARITY_HEAT_URL", "http://127.0.0.1:15004/v1")
    service = Service(f"{url}/{project}", given)
    record(template_cases.RECORDED, template_cases.cases(), template_cases.recorded(), service.outcome)
    ask = partial(validation_cases.outcome, service)
    record(validation_cases.RECORDED, validation_cases.cases(), validation_cases.recorded(), ask)


def record(
    path: Path,
    everything: Mapping[str, Mapping[str, Any]],
    known: Mapping[str, dict[str, Any]],
    ask: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> None:
    """Ask about the cases that have changed since they were recorded, and write the file."""
    known = {} if "--all" in sys.argv[1:] else known
    pending = [name for name, case in everything.items() if known.get(name, {}).get("of") != fingerprint(case)]
    found = {name: outcome for name, outcome in known.items() if name in everything and name not in pending}
    with ThreadPoolExecutor(8) as pool:
        outcomes = pool.map(lambda name: ask(everything[name]), pending)
        for name, outcome in zip(pending, outcomes, strict=True):
            found[name] = {"of": fingerprint(everything[name]), **outcome}
            write(path, found)
    write(path, found)
    print(f"{path.name}: {len(pending)} cases asked, {len(found)} recorded")


def write(path: Path, found: Mapping[str, dict[str, Any]]) -> None:
    """Write the recorded responses, one line per case, so that an interrupted recording can be resumed."""
    lines = [f"{json.dumps(name)}: {json.dumps(found[name], sort_keys=True)}" for name in sorted(found)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
