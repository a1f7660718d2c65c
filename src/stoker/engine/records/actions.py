"""Sets of operations' actions that are alike in what they mean for a stack."""

from __future__ import annotations

NOTHING = ""
"""In place of inputs: an operation towards the empty definition."""

REMOVES = ("DELETE", "ABANDON")
"""After these the stack is gone."""

FORWARD = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")
"""These lead to a definition."""

ROLLS_BACK = ("CREATE", "UPDATE", "ADOPT", "RESTORE")
