"""What happens to whole stacks on real services: refusals, restores, kills, alarms, signals, lost tokens, and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tools.realcloud.scenarios import alarms, drift_of_kinds, kills, refusals, restores, signals, speed, tokens
from tools.realcloud.scenarios.trials import Place, Trial

SCENARIOS: Mapping[str, Callable[[Place], Iterable[Trial]]] = {
    "quotas": refusals.quotas,
    "conflicts": refusals.conflicts,
    "undeletable": refusals.undeletable,
    "restores": restores.restores,
    "drift_of_kinds": drift_of_kinds.drift_of_kinds,
    "kills": kills.kills,
    "alarms": alarms.alarms,
    "signals": signals.signals,
    "tokens": tokens.tokens,
    "speed": speed.speed,
}
"""The scenarios by name, in the order in which they run."""
