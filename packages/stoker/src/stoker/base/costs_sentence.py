"""The costs of a plan as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def costs_sentence(costs: Mapping[str, Any] | None) -> str:
    """Return what a plan costs per month, and the change: `Costs per month: 12.50 EUR, 2.50 EUR more than now.`

    `costs` are the costs in the data of the plan. Empty for None: the service has no price list.
    """
    if costs is None:
        return ""
    currency, change = costs["currency"], Decimal(costs["change"])
    sentence = f"Costs per month: {costs['after']} {currency}"
    if change:
        sentence += f", {abs(change)} {currency} {'more' if change > 0 else 'less'} than now"
    elif Decimal(costs["before"]):
        sentence += ", as now"
    if Decimal(costs["retained"]):
        sentence += f"; objects that stay without the stack cost another {costs['retained']} {currency}"
    return f"{sentence}."
