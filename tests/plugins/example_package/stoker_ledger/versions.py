"""Template versions."""

from __future__ import annotations

from stoker.template.versions import HOT_2021_04_16, next_version

VERSIONS = (next_version(HOT_2021_04_16, "2026-04-01-ledger", functions={"ledger_code": "ledger_code/1"}),)
