"""The records of the workflow service: the graph of its components."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.identity.service_trusts import service_user
from openstack_emulator.workflow.definitions import Definitions
from openstack_emulator.workflow.environments import Environments
from openstack_emulator.workflow.event_triggers import EventTriggers
from openstack_emulator.workflow.executions import Executions
from openstack_emulator.workflow.running_actions import RunningActions
from openstack_emulator.workflow.runs import Runs
from openstack_emulator.workflow.sharing import Sharing
from openstack_emulator.workflow.tasks import Tasks
from openstack_emulator.workflow.triggers import SERVICE_USER, Triggers


class WorkflowRecords(Records):
    """Definitions, executions and triggers."""

    service = "mistral"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.sharing = Sharing(self)
        self.definitions = Definitions(self, self.sharing)
        self.environments = Environments(self, self.sharing)
        self.runs = Runs(self)
        self.running_actions = RunningActions(self, self.runs, self.definitions)
        tasks = Tasks(self, self.runs, self.running_actions)
        self.execution_starter = Executions(self, self.runs, self.definitions, self.environments, tasks)
        self.event_triggers = EventTriggers(self, self.sharing, self.definitions)
        self.triggers = Triggers(self, self.sharing, self.definitions, self.execution_starter)

    def seed(self) -> None:
        service_user(self.cloud, SERVICE_USER)

    def opened(self) -> None:
        self.running_actions.resume_after_restart()
