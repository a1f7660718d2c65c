"""What plain data consist of, in the form in which `type` and `isinstance` recognize it fastest."""

from __future__ import annotations

from collections.abc import Mapping

SCALARS = frozenset({str, int, float, bool, type(None)})
"""The types of values without parts, to be looked up by `type`: most values are of these."""

MAPPINGS = (dict, Mapping)
"""Most are dictionaries, which are recognized in a tenth of the time that the abstract class takes."""
