"""The page of the manual with what the templates of the community have answered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.conformance.community.run import Case, Document

PAGE = Path(__file__).parents[3] / "docs/reference/community-templates.md"
HEAD = """\
# Templates of the community, with guests

`make guests-community` deploys these templates of the repository openstack/heat-templates in a cloud with guests, as
they are but for the adaptations in the second column, and asks the servers: by the outputs of the stack, by pages at
floating IPs, and by commands over SSH. This page is written by that command.

The templates are not part of Stoker: `STOKER_TEMPLATE_CORPUS` names their folder. What the user data install must be in
the image, since guests do not reach the Internet:

```console
$ stoker guests build --with agents,puppet {packages}
$ make guests-community
```

Parameters name images, flavors, networks and keys of the cloud. Scripts that templates read, and that are not in the
repository's copy, are written for the test.

| Template | Adapted | Answer | Outcome |
| --- | --- | --- | --- |
"""


def page(document: Document, results: Mapping[str, str]) -> str:
    """Return the page. results: name of a template → why it has failed, empty if it has not."""
    packages = " ".join(f"--package {name}" for name in document.packages)
    lines = [
        f"| `{case.name}` | {_adapted(case)} | {case.answer} | {'failed' if results[case.name] else 'passed'} |"
        for case in document.cases
    ]
    return HEAD.replace("{packages}", packages) + "\n".join(lines) + "\n"


def _adapted(case: Case) -> str:
    parts = ["parameters"]
    if case.environment:
        parts.append(f"environment `{Path(case.environment).name}`")
    parts += [f"`{old.strip()}` → `{new.strip()}`" for old, new in case.words.items()]
    parts += [f"the missing file `{Path(name).name}`" for name in case.files]
    return ", ".join(parts)
