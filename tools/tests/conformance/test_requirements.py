"""The requirements of other people's programs that use the project's own distributions."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
EDITABLE = "--editable "


def declared(folder: Path) -> dict[str, Any]:
    """The table `project` of a distribution, with all of its requirements in one list."""
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project.get("optional-dependencies", {}).values()
    return {
        **project,
        "dependencies": [*project.get("dependencies", ()), *(one for extra in optional for one in extra)],
    }


def own_distributions() -> dict[str, Path]:
    return {declared(found.parent)["name"]: found.parent for found in ROOT.glob("packages/*/pyproject.toml")}


def editable(requirements: Path) -> list[Path]:
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return [ROOT / line.removeprefix(EDITABLE).partition("[")[0] for line in lines if line.startswith(EDITABLE)]


@pytest.mark.parametrize("requirements", [*ROOT.glob("tools/conformance/**/*.txt")], ids=lambda path: path.stem)
def test_own_distributions_are_installed_with_all_that_they_require_of_each_other(requirements: Path) -> None:
    """They are in no index: what a distribution requires of the others must be named beside it."""
    own = own_distributions()
    named = {declared(folder)["name"]: folder for folder in editable(requirements)}
    assert named.items() <= own.items()
    required = {Requirement(one).name for folder in named.values() for one in declared(folder)["dependencies"]}
    assert required & own.keys() <= named.keys()
