"""Values of expression languages as JSON data."""

from __future__ import annotations

import json
from typing import Any


def plain(value: object) -> Any:
    """Return a result as JSON data. Sets are sorted, so that an expression gives the same list in every process."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"the result is a {type(value).__name__}, which is not JSON data")
