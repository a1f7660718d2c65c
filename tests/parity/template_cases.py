"""The cases of the differential suite: templates that a real Heat was given, what it answered, and what we accept.

`template_cases.yaml` has them in groups. A group's `versions` are the formats that each of its cases is tried in, its
`template` is what the cases have in common, and each case says what it puts in: whole sections, or with `value` an
output `o` of that value. A case whose outcome differs from the recorded one, for good reason, says so in `differs`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent
RECORDED = _HERE / "template_cases.json"
LATEST = "2021-04-16"
_SENT = ("parameters", "environment", "files")


def cases() -> dict[str, dict[str, Any]]:
    """What is sent for each case, by its name, and under `differs` what is accepted instead of the recorded outcome."""
    groups = yaml.load((_HERE / "template_cases.yaml").read_text(), Loader=yaml.CSafeLoader)
    return {name: case for title, group in groups.items() for name, case in _of_group(title, group)}


def _of_group(title: str, group: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, case in group["cases"].items():
        for version in case.get("versions", group.get("versions", [LATEST])):
            template = {"heat_template_version": version, **group.get("template", {}), **case.get("template", {})}
            if "value" in case:
                template["outputs"] = {"o": {"value": case["value"]}}
            sent = {key: case[key] for key in _SENT if key in case}
            if "files" in case:
                sent["files"] = {file: _text(content) for file, content in case["files"].items()}
            differs = {"differs": case["differs"]} if "differs" in case else {}
            yield f"{title}: {name} ({version})", {"template": template, **sent, **differs}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps({"heat_template_version": LATEST, **content})


def fingerprint(case: Mapping[str, Any]) -> str:
    """Of what is sent: a recorded answer holds for this and nothing else."""
    sent = {key: case[key] for key in ("template", *_SENT) if key in case}
    return hashlib.sha256(json.dumps(sent, sort_keys=True).encode()).hexdigest()[:12]


def recorded() -> dict[str, dict[str, Any]]:
    """What the real Heat answered, by the cases' names."""
    found: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    return found
