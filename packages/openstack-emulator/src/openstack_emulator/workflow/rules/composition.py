"""The workflow service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.identity.rules.service_trusts import service_user
from openstack_emulator.workflow.records import CronTrigger, EventTrigger
from openstack_emulator.workflow.rules.cron_triggers import SERVICE_USER, CronTriggers, missing_cron_trigger
from openstack_emulator.workflow.rules.definitions import Definitions
from openstack_emulator.workflow.rules.environments import Environments
from openstack_emulator.workflow.rules.event_triggers import EventTriggers, missing_event_trigger
from openstack_emulator.workflow.rules.executions import Executions
from openstack_emulator.workflow.rules.runs import Runs
from openstack_emulator.workflow.rules.sharing import WorkflowSharing


class Workflows(Records):
    """Definitions, executions and triggers."""

    service = "mistral"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        cron_triggers = self.table("cron_triggers", CronTrigger, "name", "workflow_id", missing=missing_cron_trigger)
        event_triggers = self.table("event_triggers", EventTrigger, "workflow_id", missing=missing_event_trigger)
        self.sharing = WorkflowSharing(self)
        self.definitions = Definitions(self, self.sharing, {"event": event_triggers, "cron": cron_triggers})
        self.environments = Environments(self, self.sharing)
        self.runs = Runs(self)
        self.executions = Executions(self, self.runs, self.definitions, self.environments)
        self.actions = self.executions.tasks.actions
        self.event_triggers = EventTriggers(self, event_triggers, self.sharing, self.definitions)
        self.cron_triggers = CronTriggers(self, cron_triggers, self.sharing, self.definitions, self.executions)

    def seed(self) -> None:
        service_user(self.cloud, SERVICE_USER)

    def opened(self) -> None:
        self.actions.resume_after_restart()
