"""The custom constraints that templates and types may name: format checks, and lookups in services."""

from __future__ import annotations

from stoker.plugins.constraints import Checks
from stoker.resources.constraints.forms import FORMS
from stoker.resources.constraints.lookups import LOOKUPS

CONSTRAINTS: Checks = {**FORMS, **LOOKUPS}
