"""Validation of cron expressions: five fields, or six or seven with seconds and years after them."""

from __future__ import annotations

_LONGEST = 1024
"""The maximum number of characters: a longer list of values takes the parser seconds."""


def cron_problem(expression: str) -> str | None:
    """Return what is wrong with a cron expression; None when it is valid."""
    if len(expression) > _LONGEST:
        return f"a cron expression has at most {_LONGEST} characters; this one has {len(expression)}"
    from croniter import croniter  # few templates have cron expressions

    try:
        croniter.expand(expression)
    except (ValueError, KeyError) as error:
        return f"{expression!r} is not a cron expression: {error}"
    return None
