"""Failures of operations that release 0.1.0 or a Heat has recorded, in a sentence only.

Such a row has no `failure`. Each failed operation of a later release has one.
"""

from __future__ import annotations

import re

from stoker.engine.records.failure import Failure
from stoker.store.records import Operation

_SENTENCE = re.compile(
    r"(?:Resource [A-Z_]+ failed: )?(?P<kind>\w+): (?P<path>resources[.\[]\S*?): (?P<message>.*)", re.DOTALL
)
_NAME = re.compile(r"resources(?:\[([^\]]+)\]|\.([^.\[]+(?:\.(?!resources[.\[])[^.\[]+)*))")


def failure_of(operation: Operation) -> Failure:
    """Return why an operation has failed."""
    if operation.failure is not None:
        return Failure.from_json(operation.failure)
    match = _SENTENCE.fullmatch(operation.reason)
    if match is None:
        return Failure.of_operation(operation.reason)
    path = tuple(index or name for index, name in _NAME.findall(match["path"]))
    return Failure(match["kind"], path, match["message"])
