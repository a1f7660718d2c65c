"""The keys by which a template states its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AWS_KEY, AWS_VALUE = "AWSTemplateFormatVersion", "2010-09-09"

VERSION_KEYS: tuple[str, ...] = ("heat_template_version", "HeatTemplateFormatVersion", AWS_KEY)


def named_formats(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that state the format, with their values: exactly one in a valid template.

    AWS has one format, and stating it is optional: a template with `Resources` that states none has that format.
    """
    named = {key: data[key] for key in VERSION_KEYS if key in data}
    return named or ({AWS_KEY: AWS_VALUE} if "Resources" in data else {})
