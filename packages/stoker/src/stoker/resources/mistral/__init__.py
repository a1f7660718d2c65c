"""Types of Mistral, the workflow service."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Mistral::CronTrigger": "cron_trigger:CronTrigger",
        "OS::Mistral::ExternalResource": "external_resource:ExternalResource",
        "OS::Mistral::Workflow": "workflow:Workflow",
    },
)
