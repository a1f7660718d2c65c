"""OS::Aodh::CompositeAlarm, EventAlarm, LBMemberHealthAlarm and PrometheusAlarm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.aodh.base import COMPARISON, OPERATORS, SHARED, THRESHOLD, AlarmResource
from stoker.resources.declare import length, one_of
from stoker.resources.wire import without_nulls
from stoker.schema.property import Change, Property, Support, Type

QUERY_TYPES = ("integer", "float", "string", "boolean", "datetime")


def query(type_support: Support | None = None, support: Support | None = None) -> Property:
    """Return the declaration of a query: conditions on fields, all of which must hold."""
    return Property(
        Type.LIST,
        "Conditions, all of which must hold.",
        items=Property(
            Type.MAP,
            "A condition.",
            schema={
                "field": Property(description="The field that is compared."),
                "op": Property(description="How it is compared.", constraints=one_of(*OPERATORS)),
                "type": Property(
                    description="The type of the value.",
                    default="string",
                    constraints=one_of(*QUERY_TYPES),
                    support=type_support or Support(),
                ),
                "value": Property(description="The value with which the field is compared."),
            },
        ),
        change=Change.UPDATE,
        support=support or Support(),
    )


class CompositeAlarm(AlarmResource):
    """An alarm on several rules."""

    type_name = "OS::Aodh::CompositeAlarm"
    description = "An alarm on the combination of several rules."
    support = Support(version="8.0.0")
    alarm_type = "composite"

    properties = {
        **SHARED,
        "composite_rule": Property(
            Type.MAP,
            "The rules and their combination.",
            required=True,
            schema={
                "operator": Property(
                    description="Whether one rule or all rules must hold.",
                    required=True,
                    constraints=one_of("or", "and"),
                    change=Change.UPDATE,
                ),
                "rules": Property(
                    Type.LIST,
                    "Rules of threshold alarms (with a `type`), or further combinations (`{and: [...]}`).",
                    required=True,
                    constraints=length(2),
                    change=Change.UPDATE,
                ),
            },
            change=Change.UPDATE,
        ),
    }

    def rule(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        given = properties["composite_rule"]
        return {given["operator"]: given["rules"]}

    def rule_differences(self, properties: Mapping[str, object], rule: Mapping[str, object]) -> dict[str, object]:
        return {"composite_rule": rule}


class EventAlarm(AlarmResource):
    """An alarm on events."""

    type_name = "OS::Aodh::EventAlarm"
    description = "An alarm on an event, such as a notification of a service."
    support = Support(version="8.0.0")
    alarm_type = "event"

    properties = {
        **SHARED,
        "event_type": Property(
            description="The type of the event, with * for any characters.", default="*", change=Change.UPDATE
        ),
        "query": query(),
    }

    def rule(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        given = {
            "event_type": properties["event_type"],
            "query": [without_nulls(condition) for condition in properties["query"] or []],
        }
        return {name: value for name, value in given.items() if value}


class LBMemberHealthAlarm(AlarmResource):
    """An alarm on the health of a load balancer's members."""

    type_name = "OS::Aodh::LBMemberHealthAlarm"
    description = "An alarm on unhealthy members of a load balancer's pool that are members of a scaling group."
    support = Support(version="13.0.0")
    alarm_type = "loadbalancer_member_health"

    properties = {
        **SHARED,
        "pool": Property(
            description="The pool of the load balancer, by name or ID.",
            required=True,
            resolve="octavia.pool",
            change=Change.UPDATE,
        ),
        "stack": Property(description="The stack whose unhealthy resources are updated, by name or ID.", required=True),
        "autoscaling_group_id": Property(
            description="ID of the scaling group's nested stack.", required=True, change=Change.UPDATE
        ),
    }

    def rule(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "pool_id": properties["pool"],
            "stack_id": properties["stack"],
            "autoscaling_group_id": properties["autoscaling_group_id"],
        }

    def rule_differences(self, properties: Mapping[str, object], rule: Mapping[str, object]) -> dict[str, object]:
        found = super().rule_differences(properties, rule)
        live = {"pool": rule.get("pool_id"), "stack": rule.get("stack_id")}
        return found | {name: value for name, value in live.items() if properties[name] != value}


class PrometheusAlarm(AlarmResource):
    """An alarm on a value of Prometheus."""

    type_name = "OS::Aodh::PrometheusAlarm"
    description = "An alarm on the result of a Prometheus query."
    support = Support(version="22.0.0")
    alarm_type = "prometheus"

    properties = {
        **SHARED,
        "comparison_operator": COMPARISON,
        "query": Property(description="The query, in PromQL.", required=True, change=Change.UPDATE),
        "threshold": THRESHOLD,
    }

    def rule(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        return without_nulls({name: properties[name] for name in ("comparison_operator", "query", "threshold")})
