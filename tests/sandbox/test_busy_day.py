"""Nothing that a busy cloud does by itself, and nothing that a stack does itself, is drift: hours in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stoker.testing import Sandbox, Signal

HOUR = 3600.0
MEMBER = """\
heat_template_version: 2021-04-16
parameters:
  network: {type: string}
  pool: {type: string}
  group: {type: string}
  release: {type: string}
resources:
  port:
    type: OS::Neutron::Port
    properties: {network: {get_param: network}, security_groups: [{get_param: group}]}
  disk: {type: OS::Cinder::Volume, properties: {size: 1, metadata: {release: {get_param: release}}}}
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.tiny
      metadata: {release: {get_param: release}}
      networks: [{port: {get_resource: port}}]
  attachment:
    type: OS::Cinder::VolumeAttachment
    properties: {instance_uuid: {get_resource: server}, volume_id: {get_resource: disk}}
  member:
    type: OS::Octavia::PoolMember
    properties:
      pool: {get_param: pool}
      address: {get_attr: [server, first_address]}
      protocol_port: 80
"""
STACK = """\
heat_template_version: 2021-04-16
parameters:
  release: {type: string, default: "0"}
  ports: {type: json, default: ["80"]}
resources:
  network: {type: OS::Neutron::Net, properties: {name: office}}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: network}, cidr: 10.9.0.0/24, dns_nameservers: [10.9.0.2]}
  router: {type: OS::Neutron::Router, properties: {external_gateway_info: {network: public}}}
  interface:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
  group:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        repeat:
          for_each: {"%port%": {get_param: ports}}
          template: {protocol: tcp, port_range_min: "%port%", port_range_max: "%port%"}
  balancer: {type: OS::Octavia::LoadBalancer, properties: {vip_subnet: {get_resource: subnet}}}
  listener:
    type: OS::Octavia::Listener
    properties: {loadbalancer: {get_resource: balancer}, protocol: HTTP, protocol_port: 80}
  pool:
    type: OS::Octavia::Pool
    properties: {listener: {get_resource: listener}, protocol: HTTP, lb_algorithm: ROUND_ROBIN}
  monitor:
    type: OS::Octavia::HealthMonitor
    properties: {pool: {get_resource: pool}, type: HTTP, delay: 5, timeout: 2, max_retries: 3}
  address:
    type: OS::Neutron::FloatingIP
    depends_on: interface
    properties: {floating_network: public, port_id: {get_attr: [balancer, vip_port_id]}}
  members:
    type: OS::Heat::AutoScalingGroup
    depends_on: interface
    properties:
      min_size: 1
      max_size: 3
      cooldown: 60
      resource:
        type: member.yaml
        properties:
          network: {get_resource: network}
          pool: {get_resource: pool}
          group: {get_resource: group}
          release: {get_param: release}
  more:
    type: OS::Heat::ScalingPolicy
    properties: &policy
      auto_scaling_group_id: {get_resource: members}
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
  less:
    type: OS::Heat::ScalingPolicy
    properties: {<<: *policy, scaling_adjustment: -1}
  alarm:
    type: OS::Aodh::GnocchiAggregationByResourcesAlarm
    properties:
      metric: cpu
      resource_type: instance
      query: '{"=": {"server_group": "web"}}'
      aggregation_method: mean
      granularity: 300
      evaluation_periods: 1
      comparison_operator: gt
      threshold: 80
      alarm_actions: [{get_attr: [more, alarm_url]}]
      ok_actions: [{get_attr: [less, alarm_url]}]
  handle: {type: OS::Heat::WaitConditionHandle}
  ready: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 600}}
  config:
    type: OS::Heat::SoftwareConfig
    properties: {config: {str_replace: {template: echo R, params: {R: {get_param: release}}}}}
  machine:
    type: OS::Nova::Server
    depends_on: interface
    properties:
      image: cirros
      flavor: m1.tiny
      user_data_format: SOFTWARE_CONFIG
      networks: [{network: {get_resource: network}}]
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties: {server: {get_resource: machine}, config: {get_resource: config}}
  data: {type: OS::Cinder::Volume, properties: {size: 1, name: data}}
  secret: {type: OS::Barbican::Secret, properties: {name: password, payload: hidden}}
  container: {type: OS::Swift::Container, properties: {name: files}}
  zone: {type: OS::Designate::Zone, properties: {name: example.org., email: a@example.org}}
  record:
    type: OS::Designate::RecordSet
    properties:
      zone: {get_resource: zone}
      name: www.example.org.
      type: A
      records: [{get_attr: [address, floating_ip_address]}]
"""


WEB = {"name": "web", "id": None}
NOT_COMPARED = {"handle", "more", "less", "secret"}
"""Resources of which the emulated service shows nothing, or not everything."""


def statuses(sandbox: Sandbox) -> dict[str, Any]:
    """The drift status of each resource of the tree, with what differs; members have the group before their names."""
    listed = sandbox.call("resource_list", ref=WEB, nested_depth=3)["resources"]
    found: dict[str, Any] = {}
    for stack_id in {row["stack_id"] for row in listed}:
        ref = {"name": None, "id": stack_id}
        detection = sandbox.call("drift_detect", ref=ref)["id"]
        while sandbox.call("drift_status", detection_id=detection)["status"] == "IN_PROGRESS":
            sandbox.advance(1)
        for each in sandbox.call("drift_list", ref=ref):
            outer = each["stack_name"] == "web"
            found[each["name"] if outer else f"{each['stack_name']}.{each['name']}"] = (
                each["status"],
                each["differences"],
            )
    return found


def drifted(found: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in found.items() if each[0] in ("MODIFIED", "DELETED")}


def test_service_side_changes_are_not_drift(tmp_path: Path) -> None:
    """In eight hours, the group grows, shrinks and grows again, and each of the other events happens at least once."""
    (tmp_path / "member.yaml").write_text(MEMBER)
    template = tmp_path / "web.yaml"
    template.write_text(STACK)
    finished = [Signal("handle", {"status": "SUCCESS"}), Signal("deployment", {"deploy_status_code": 0})]
    with Sandbox() as sandbox:
        stack = sandbox.deploy("web", template, signals=finished)
        assert stack.state == "CREATE_COMPLETE", stack.reason
        assert not drifted(statuses(sandbox))
        sizes = set()
        for hour in range(8):
            _an_hour(sandbox, template, hour)
            sizes.add(sum(path.endswith(".server") for path in sandbox.stack("web").resources))
            if hour % 6 == 5:
                assert not sandbox.drift("web").actions, hour
        assert sizes == {1, 2, 3}, "the group was scaled"
        after = statuses(sandbox)
        assert not drifted(after)
        compared = {name for name, (status, _) in after.items() if status == "IN_SYNC"}
        assert {name for name, (status, _) in after.items() if status in ("UNKNOWN", "UNSUPPORTED")} == NOT_COMPARED
        assert len(compared) == 17 + 6 * sum(name.endswith(".server") for name in compared), compared

        stack = sandbox.stack("web")
        path = f"/network/v2.0/networks/{stack['network'].physical_id}"
        sandbox.cloud.request("PUT", path, {"network": {"name": "theirs"}})
        assert set(drifted(statuses(sandbox))) == {"network"}
        assert sandbox.drift("web").actions == {"network": "update"}


def _an_hour(sandbox: Sandbox, template: Path, hour: int) -> None:
    """Scale the group as the alarm does; at some hours take snapshots, restart, update, suspend and check."""
    sandbox.signal("web", "more" if hour % 6 < 3 else "less")
    sandbox.advance(HOUR / 4)
    if hour % 4 == 0:
        taken = sandbox.call("snapshot_create", ref=WEB, name=f"hour {hour}")
        sandbox.advance(HOUR / 4)
        if hour % 8:
            sandbox.call("snapshot_delete", ref=WEB, snapshot_id=taken["id"])
    if hour % 5 == 1:
        given = {"release": str(hour), "ports": ["80", "443", str(8000 + hour)]}
        deployed = [Signal("deployment", {"deploy_status_code": 0})]
        stack = sandbox.deploy("web", template, parameters=given, signals=deployed)
        assert stack.state == "UPDATE_COMPLETE", stack.reason
        server = f"/compute/v2.1/servers/{stack['machine'].physical_id}"
        sandbox.cloud.request("POST", f"{server}/action", {"reboot": {"type": "SOFT"}})
    if hour == 7:
        for action in ("suspend", "resume", "check"):
            sandbox.call("stack_action", ref=WEB, action=action)
            sandbox.advance(HOUR / 8)
            assert sandbox.stack("web").state == f"{action.upper()}_COMPLETE"
    sandbox.advance(HOUR / 2)
