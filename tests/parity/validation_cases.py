"""The cases of template validation: what a real Heat answered to `POST /validate`, and where we differ.

`validation_cases.yaml` has them by name: `template` (with the latest HOT version, or CloudFormation's, if it states
none), `environment`, `files` (text, or the sections of a template), `parameters`, and `nested` if the parameters of
nested templates are asked for. `differs` is the reason why our answer may be another one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.parity.heat_client import Service
from tests.parity.template_cases import LATEST

_HERE = Path(__file__).parent
RECORDED = _HERE / "validation_cases.json"
_VERSIONS = ("heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion")
_SHOWN = ("Description", "Parameters", "ParameterGroups", "NestedParameters")


def cases() -> dict[str, dict[str, Any]]:
    """What is sent for each case, by its name, with `nested` and `differs` if the case has them."""
    written = yaml.load((_HERE / "validation_cases.yaml").read_text(), Loader=yaml.CSafeLoader)
    return {name: _whole(case) for name, case in written.items()}


def _whole(case: Mapping[str, Any]) -> dict[str, Any]:
    whole = {**case, "template": _template(case["template"])}
    if "files" in case:
        whole["files"] = {name: _file(content) for name, content in case["files"].items()}
    return whole


def _template(sections: Mapping[str, Any]) -> dict[str, Any]:
    if any(key in sections for key in _VERSIONS):
        return dict(sections)
    if any(key[0].isupper() for key in sections):
        return {"AWSTemplateFormatVersion": "2010-09-09", **sections}
    return {"heat_template_version": LATEST, **sections}


def _file(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(_template(content))


def outcome(service: Service, case: Mapping[str, Any]) -> dict[str, Any]:
    """The status of the answer, and what it says of the template if it is accepted.

    Services that are missing in the catalog are no error; a Heat without them hardly checks the resources that need
    them, so the catalog of a Heat that is recorded must have entries for all.
    """
    sent = {key: case[key] for key in ("template", "environment", "files", "parameters") if key in case}
    nested = "&show_nested=true" if case.get("nested") else ""
    status, answer = service.call("POST", f"/validate?ignore_errors=99001{nested}", sent)
    if status != 200:
        return {"status": status}
    return {"status": status, "answer": {key: answer[key] for key in _SHOWN if key in answer}}


def recorded() -> dict[str, dict[str, Any]]:
    """What the real Heat answered, by the cases' names."""
    found: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    return found
