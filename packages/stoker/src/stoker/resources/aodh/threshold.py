"""OS::Aodh::Alarm: an alarm on a meter, with the query of Ceilometer's time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.resources.aodh.alarms import query
from stoker.resources.aodh.base import COMPARISON, EVALUATION_PERIODS, SHARED, THRESHOLD, AlarmResource
from stoker.resources.declare import one_of
from stoker.resources.wire import without_nulls
from stoker.schema.live import same
from stoker.schema.property import Change, Property, Support, Type

_PLAIN = ("period", "evaluation_periods", "threshold", "statistic", "comparison_operator", "meter_name")
_NOVA_METER = re.compile(
    r"instance|memory(\.usage|\.resident)?|cpu|cpu_util|vcpus|disk\.(root|ephemeral)\.size"
    r"|disk\.(device\.)?(read|write)\.(requests|bytes)(\.rate)?|network\.(incoming|outgoing)\.(bytes|packets)(\.rate)?"
)
"""Meters of servers. Ceilometer keeps the metadata of their users under `user_metadata`."""


class Alarm(AlarmResource):
    """An alarm on a meter."""

    type_name = "OS::Aodh::Alarm"
    description = "An alarm on a meter; use the types of alarms on Gnocchi's metrics in new templates."
    support = Support("DEPRECATED", version="10.0.0", previous=Support(version="2014.1"))
    alarm_type = "threshold"

    properties = {
        **SHARED,
        "comparison_operator": COMPARISON,
        "evaluation_periods": EVALUATION_PERIODS,
        "matching_metadata": Property(
            Type.MAP,
            "Metadata that the resources of the meter must have, such as metering.stack of servers.",
            default={},
            change=Change.UPDATE,
        ),
        "meter_name": Property(description="Name of the meter.", required=True),
        "period": Property(Type.INTEGER, "Length of a period in seconds.", change=Change.UPDATE),
        "query": query(Support(version="8.0.0"), Support(version="2015.1")),
        "statistic": Property(
            description="How the values of a period become one.",
            constraints=one_of("count", "avg", "sum", "min", "max"),
            change=Change.UPDATE,
        ),
        "threshold": THRESHOLD,
    }

    def rule(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        rule = without_nulls({name: properties[name] for name in _PLAIN})
        conditions = [without_nulls(condition) for condition in properties["query"] or []]
        meter = str(properties["meter_name"])
        conditions += [_condition(meter, key, value) for key, value in (properties["matching_metadata"] or {}).items()]
        return {**rule, "query": conditions} if conditions else rule

    def rule_differences(self, properties: Mapping[str, object], rule: Mapping[str, object]) -> dict[str, object]:
        found = super().rule_differences(properties, rule)
        declared = self.rule(properties).get("query", [])
        return found if same(declared, rule.get("query", [])) else {**found, "query": None}


def _condition(meter: str, key: str, value: object) -> dict[str, object]:
    """Return an entry of `matching_metadata` as a condition of the query."""
    prefix = "user_metadata." if _NOVA_METER.fullmatch(meter) else "metering."
    bare = key.removeprefix("metadata.").removeprefix("metering.").removeprefix("user_metadata.")
    return {"field": f"metadata.{prefix}{bare}", "op": "eq", "value": str(value)}
