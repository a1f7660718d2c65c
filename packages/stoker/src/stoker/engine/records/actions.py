"""Groups of actions with the same meaning for a stack."""

from __future__ import annotations

NOTHING = ""
"""Replaces the id of inputs: an operation towards the empty definition."""

REMOVES = ("DELETE", "ABANDON")
"""The stack does not exist after these."""

FORWARD = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")
"""These apply a definition."""

PLANNED = (*FORWARD, "DELETE")
"""These have a plan with decisions; others do the same to every resource."""

DEFINES = ("CREATE", "UPDATE", "ADOPT", "RESTORE")
"""These apply a definition that a user has requested."""

RETURNS = ("ROLLBACK", "RESTORE")
"""These return to a former definition, whose transfers were carried out at that time."""

ROLLS_BACK = ("CREATE", "UPDATE", "ADOPT")
"""These are rolled back after a failure, if they are requested with rollback; a restore has no such option."""

NOT_CREATED = "INIT"
"""The action of a resource that is held by a hook before its creation."""
