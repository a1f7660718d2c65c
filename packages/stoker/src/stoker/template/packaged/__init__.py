"""The default environment: type mappings that apply unless the operator's or the user's environment overrides them.

The mappings are data of the package, in `environment.yaml`; templates that they refer to are beside it. The URLs of
these templates do not depend on where the package is installed, so a recorded stack is valid on every host.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from stoker.template.document import Document

URL = "stoker:///templates/"
"""The start of the URL of every packaged template; the name of its file follows."""

_FOLDER = Path(__file__).parent
_ENVIRONMENT = "environment.yaml"


@cache
def packaged_environment() -> Mapping[str, Any]:
    """Return the default environment as plain data."""
    return Document.parse((_FOLDER / _ENVIRONMENT).read_text(encoding="utf-8"), source=_ENVIRONMENT).data


@cache
def packaged_templates() -> Mapping[str, str]:
    """Return the content of the templates of the default environment by their URLs."""
    paths = sorted(path for path in _FOLDER.glob("*.yaml") if path.name != _ENVIRONMENT)
    return {URL + path.name: path.read_text(encoding="utf-8") for path in paths}
