"""The alarming service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.alarming.rules.alarms import Alarms
from openstack_emulator.alarming.rules.evaluation import Evaluator
from openstack_emulator.alarming.rules.notifications import Notifier
from openstack_emulator.alarming.rules.rule_evaluation import RuleEvaluator
from openstack_emulator.core.cloud import Cloud, Records


class Alarming(Records):
    """Alarms, their history, and the quotas of projects."""

    service = "aodh"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.alarms = Alarms(self, Notifier(self))
        self.evaluator = Evaluator(self, self.alarms, RuleEvaluator(self))
