"""The examples of the REST reference against answers of the API; STOKER_REWRITE_EXAMPLES=1 records them again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stoker.api.v1.routes import ROUTES
from tests.docs.rest_walk import walk

pytestmark = pytest.mark.slow


def shape(value: Any) -> Any:
    """What clients rely on: the keys of maps, and the types of values."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value[:1]] if isinstance(value, list) else type(value).__name__


def test_the_examples_are_what_the_api_answers(docs: Path, tmp_path: Path) -> None:
    recorded = docs / "_ext" / "stoker_reference" / "rest_examples.json"
    answered = walk(tmp_path)
    if os.environ.get("STOKER_REWRITE_EXAMPLES"):
        recorded.write_text(json.dumps(answered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    shown = json.loads(recorded.read_text(encoding="utf-8"))
    routes = {
        f"{m} {path}" for path, methods in ROUTES.items() for m, action in methods.items() if action.success != 302
    }
    assert routes == answered.keys() == shown.keys()
    assert "FAILED" not in json.dumps(answered)
    for route, example in shown.items():
        assert shape(example) == shape(answered[route]), route
