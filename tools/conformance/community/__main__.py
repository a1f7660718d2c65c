"""Deploy templates of the community whose servers run as guests, and write what answered into the manual.

    python -m tools.conformance.community [PATTERN]

With a PATTERN, a regular expression, only the templates whose paths contain it are deployed, and nothing is written.
`STOKER_TEMPLATE_CORPUS` names the folder with openstack/heat-templates; by default it is looked for beside this
repository. The exit status is 1 if something has failed. Without the templates, an image with the packages, or guests,
nothing is done, the status is 2, and a message says what is missing.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.guests.choices import guest_driver
from openstack_emulator.guests.images import DEFAULT, built_images
from testing import corpus
from tools.conformance.community.page import PAGE, page
from tools.conformance.community.run import Case, Community, Document, Failed, read_document
from tools.conformance.place import embedded

AT_ONCE = 2
FEATURES = ("agents", "puppet")


def main() -> int:
    document = read_document()
    collection, pattern = corpus.folder(), re.compile("".join(sys.argv[1:2]))
    chosen = [case for case in document.cases if pattern.search(case.name)]
    if reason := _missing(collection, document):
        print(f"Nothing is deployed: {reason}", file=sys.stderr)
        return 2
    assert collection is not None
    with tempfile.TemporaryDirectory(prefix="stoker-community-") as directory:
        home = Path(directory).resolve()
        with embedded(home, DEFAULT) as place:
            community = Community(place, collection, home, document.parameters)
            try:
                community.prepare()
            except Failed as error:
                print(error)
                return 1
            with ThreadPoolExecutor(AT_ONCE) as threads:
                problems = threads.map(lambda case: _row(community, case), chosen)
                results = {case.name: problem for case, problem in zip(chosen, problems, strict=True)}
    if chosen == list(document.cases):
        PAGE.write_text(page(document, results), encoding="utf-8")
    return 1 if any(results.values()) else 0


def _row(community: Community, case: Case) -> str:
    """Return why a template has failed; empty if it has not."""
    try:
        community.verify(case)
    except Failed as error:
        print(f"FAILED  {case.name}: {error}", flush=True)
        return str(error)
    print(f"passed  {case.name}: {case.answer}", flush=True)
    return ""


def _missing(collection: Path | None, document: Document) -> str:
    """Return what is missing for the run; empty if nothing is."""
    if collection is None:
        return corpus.ABSENT
    built: Mapping[str, object] = next((one for one in built_images() if one["name"] == DEFAULT), {})
    present = [*_strings(built.get("features")), *_strings(built.get("packages"))]
    if [name for name in (*FEATURES, *document.packages) if name not in present]:
        packages = " ".join(f"--package {name}" for name in document.packages)
        return (
            f"the guest image {DEFAULT!r} does not contain what the templates install. "
            f"`stoker guests build --with {','.join(FEATURES)} {packages}` builds it."
        )
    try:
        asyncio.run(guest_driver(Selection("namespace"), DEFAULT).close())
    except GuestsUnavailable as error:
        return str(error)
    return ""


def _strings(value: object) -> list[str]:
    return value if isinstance(value, list) else []


if __name__ == "__main__":
    sys.exit(main())
