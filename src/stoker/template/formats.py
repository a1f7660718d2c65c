"""How a template says which format it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AWS_KEY, AWS_VALUE = "AWSTemplateFormatVersion", "2010-09-09"

VERSION_KEYS: tuple[str, ...] = ("heat_template_version", "HeatTemplateFormatVersion", AWS_KEY)


def named_formats(data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that say the format, with their values: one, in a template that is right.

    AWS has one format and does not ask for its name: a template that has `Resources` and names none is of that one.
    """
    named = {key: data[key] for key in VERSION_KEYS if key in data}
    return named or ({AWS_KEY: AWS_VALUE} if "Resources" in data else {})
