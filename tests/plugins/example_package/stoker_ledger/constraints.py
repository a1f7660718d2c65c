"""Constraints: one on the format of a value, and one that asks the service."""

from __future__ import annotations

import re
from typing import Any

from stoker.plugins.constraints import Exists, FormCheck

_CODE = re.compile(r"[A-Z]{3}-\d{4}")


class Code(FormCheck):
    """Three capital letters, a hyphen and four digits."""

    def problem(self, value: Any) -> str | None:
        return None if _CODE.fullmatch(str(value)) else f"{value!r} is not a code of the ledger, such as OPS-0042"


CONSTRAINTS = {"ledger.code": Code(), "ledger.account": Exists("ledger.account")}
