"""Access rules of application credentials: the requests that a token is limited to.

keystonemiddleware converts the path of a rule to a regular expression that backtracks: a member's rule with several
`**` would stop the process for minutes. So both APIs decide here, with patterns whose time is linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker_foundation.patterns.linear import covers_path

_MOST_RULES = 1_000


def covered(rules: Sequence[Mapping[str, Any]], service: str, method: str, path: str) -> bool:
    """Return whether one of a token's rules covers a request to the service of this type.

    Rules are `{service, method, path}`; of more than 1000, the others cover nothing.
    """
    return any(
        rule["service"] == service and rule["method"] == method and covers_path(rule["path"], path)
        for rule in rules[:_MOST_RULES]
    )
