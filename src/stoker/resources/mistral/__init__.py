"""Types of Mistral, the workflow service."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.mistral.cron_trigger import CronTrigger
from stoker.resources.mistral.external_resource import ExternalResource
from stoker.resources.mistral.workflow import Workflow

TYPES: tuple[type[ResourceType], ...] = (CronTrigger, ExternalResource, Workflow)
