"""The tests on the page about pytest are run."""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from stoker.testing import Sandbox

DATA = """\
heat_template_version: 2021-04-16
resources:
  disk:
    type: OS::Cinder::Volume
    properties: {size: 1, volume_type: encrypted}
"""


@pytest.fixture
def folder(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in (docs.parent / "examples" / "web-tier").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "data.yaml").write_text(DATA)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_examples_pass(docs: Path, folder: Path) -> None:
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", (docs / "how-to" / "test-with-pytest.md").read_text(), re.DOTALL):
        exec(block, found)
    tests = [value for name, value in found.items() if name.startswith("test_")]
    assert len(tests) == 3
    for test in tests:
        with Sandbox() as sandbox:
            project = sandbox.cloud.request("GET", "/identity/v3/auth/projects")["projects"][0]["id"]
            encrypted = {"volume_type": {"name": "encrypted"}}
            sandbox.cloud.request("POST", f"/volume/v3/{project}/types", encrypted)
            parts = {"cloud": sandbox.cloud, "calls": sandbox.calls, "plan": sandbox.plan, "deploy": sandbox.deploy}
            names = inspect.signature(test).parameters
            test(**{name: parts[name.removeprefix("stoker_")] for name in names})
