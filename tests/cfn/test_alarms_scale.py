"""The whole way from a metric to servers: an alarm calls a scaling policy, which changes the size of a group."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stoker.base.clock import ManualClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud
from tests.cfn.query_service import QueryService

ALARM = """
    type: OS::Aodh::GnocchiAggregationByResourcesAlarm
    properties:
      metric: cpu_util
      resource_type: instance
      query:
        str_replace: {template: '{"=": {"server_group": "GROUP"}}', params: {GROUP: {get_param: "OS::stack_id"}}}
      aggregation_method: mean
      granularity: 300
      evaluation_periods: 1
"""
POLICY = """
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: group}
      adjustment_type: change_in_capacity
      cooldown: 0
"""
TEMPLATE = f"""
heat_template_version: 2021-04-16
resources:
  net: {{type: "OS::Neutron::Net"}}
  subnet: {{type: "OS::Neutron::Subnet", properties: {{network: {{get_resource: net}}, cidr: 10.70.0.0/24}}}}
  group:
    type: OS::Heat::AutoScalingGroup
    depends_on: subnet
    properties:
      min_size: 1
      max_size: 2
      cooldown: 0
      resource:
        type: OS::Nova::Server
        properties:
          image: cirros
          flavor: m1.tiny
          networks: [{{network: {{get_resource: net}}}}]
          metadata: {{metering.server_group: {{get_param: "OS::stack_id"}}}}
  up: {POLICY}
      scaling_adjustment: 1
  down: {POLICY}
      scaling_adjustment: -1
  busy: {ALARM}
      comparison_operator: gt
      threshold: 80
      alarm_actions: [up]
    depends_on: up
  idle: {ALARM}
      comparison_operator: lt
      threshold: 20
      alarm_actions: [{{get_attr: [down, alarm_url]}}]
"""


class Scene:
    """A stack of the template; time passes in the cloud while the test waits."""

    def __init__(self, served: ServedCloud) -> None:
        self.served = served

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.served.call(method, path, body, self.served.token("demo", "demo"))
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None

    def servers(self) -> list[str]:
        found = self.call("GET", "/compute/v2.1/servers/detail")["servers"]
        return [server["id"] for server in found if server["status"] == "ACTIVE"]

    def load(self, percent: float) -> None:
        """Report the processor load of every server."""
        now = self.served.do(self.served.cloud.clock.now)
        measures = {key: {"cpu_util": [{"timestamp": now, "value": percent}]} for key in self.servers()}
        self.call("POST", "/metric/v1/batch/resources/metrics/measures", measures)

    def until(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, "it takes too long"
            self.served.advance(1)
            time.sleep(0.05)


def test_alarms_add_and_remove_servers(tmp_path: Path) -> None:
    clock = ManualClock(time.time())
    with ServedCloud(new_cloud(clock=clock)) as served, QueryService(tmp_path, served) as world:
        boto, scene = world.client(world.keys()), Scene(served)
        boto.create_stack(StackName="web", TemplateBody=TEMPLATE)

        def status() -> str:
            return str(boto.describe_stacks(StackName="web")["Stacks"][0]["StackStatus"])

        scene.until(lambda: status() != "CREATE_IN_PROGRESS")
        assert status() == "CREATE_COMPLETE"
        (first,) = scene.servers()

        scene.load(95)
        served.advance(60)
        scene.until(lambda: len(scene.servers()) == 2)

        served.advance(300)
        scene.load(5)
        served.advance(60)
        scene.until(lambda: len(scene.servers()) == 1)
        assert first not in scene.servers(), "the oldest member is removed first"
