"""Aodh: alarms on metrics, events and other alarms' rules."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Aodh::Alarm": "threshold:Alarm",
        "OS::Aodh::CompositeAlarm": "alarms:CompositeAlarm",
        "OS::Aodh::EventAlarm": "alarms:EventAlarm",
        "OS::Aodh::GnocchiAggregationByMetricsAlarm": "gnocchi:GnocchiAggregationByMetricsAlarm",
        "OS::Aodh::GnocchiAggregationByResourcesAlarm": "gnocchi:GnocchiAggregationByResourcesAlarm",
        "OS::Aodh::GnocchiResourcesAlarm": "gnocchi:GnocchiResourcesAlarm",
        "OS::Aodh::LBMemberHealthAlarm": "alarms:LBMemberHealthAlarm",
        "OS::Aodh::PrometheusAlarm": "alarms:PrometheusAlarm",
    },
)
