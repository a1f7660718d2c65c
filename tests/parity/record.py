"""Record the responses of a real Heat to the template cases: `python -m tests.parity.record`.

The service is found as the OpenStack client finds it: OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME name a
user of a cloud with Heat, and PARITY_HEAT_URL (default http://127.0.0.1:15004/v1) the service itself. Only cases that
have not been recorded, or whose template has changed, are asked; with `--all` every one is.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.parity.heat_client import Service, token
from tests.parity.template_cases import RECORDED, cases, fingerprint, recorded


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
    known = {} if "--all" in sys.argv[1:] else recorded()
    everything = cases()
    wanted = [name for name, case in everything.items() if known.get(name, {}).get("of") != fingerprint(case)]
    found = {name: outcome for name, outcome in known.items() if name in everything and name not in wanted}
    with ThreadPoolExecutor(8) as pool:
        outcomes = pool.map(lambda name: service.outcome(everything[name]), wanted)
        for name, outcome in zip(wanted, outcomes, strict=True):
            found[name] = {"of": fingerprint(everything[name]), **outcome}
            write(found)
    write(found)
    print(f"{len(wanted)} cases asked, {len(found)} recorded")


def write(found: dict[str, dict[str, Any]]) -> None:
    """Write the recorded responses, one line per case, so that an interrupted recording can be resumed."""
    lines = [f"{json.dumps(name)}: {json.dumps(found[name], sort_keys=True)}" for name in sorted(found)]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
