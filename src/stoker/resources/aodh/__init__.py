"""Aodh: alarms on metrics, events and other alarms' rules."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.aodh.alarms import CompositeAlarm, EventAlarm, LBMemberHealthAlarm, PrometheusAlarm
from stoker.resources.aodh.gnocchi import (
    GnocchiAggregationByMetricsAlarm,
    GnocchiAggregationByResourcesAlarm,
    GnocchiResourcesAlarm,
)
from stoker.resources.aodh.threshold import Alarm

TYPES: tuple[type[ResourceType], ...] = (
    Alarm,
    CompositeAlarm,
    EventAlarm,
    GnocchiAggregationByMetricsAlarm,
    GnocchiAggregationByResourcesAlarm,
    GnocchiResourcesAlarm,
    LBMemberHealthAlarm,
    PrometheusAlarm,
)
