"""The type mappings that apply to every stack unless an environment overrides them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import TemplateInvalid
from stoker.engine.operator_environment import OperatorEnvironment
from stoker.engine.settings import EngineSettings
from stoker.template.packaged import packaged_environment, packaged_templates
from testing.harness import World

SETTINGS = {"heat_waitcondition_server_url": "http://cfn.example:8000/v1/waitcondition"}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=EngineSettings(type_options=SETTINGS))
    await world.start()
    yield world
    await world.stop()


def test_the_mappings_are_those_of_heats_default_environment() -> None:
    aodh = ("Alarm", "CombinationAlarm", "GnocchiAggregationByMetricsAlarm", "GnocchiAggregationByResourcesAlarm")
    targets = {
        **{f"OS::Ceilometer::{name}": f"OS::Aodh::{name}" for name in (*aodh, "GnocchiResourcesAlarm")},
        "OS::Metering::Alarm": "OS::Aodh::Alarm",
        "OS::Quantum*": "OS::Neutron*",
        "AWS::CloudWatch::Alarm": "stoker:///templates/AWS_CloudWatch_Alarm.yaml",
        "AWS::RDS::DBInstance": "stoker:///templates/AWS_RDS_DBInstance.yaml",
    }
    assert packaged_environment() == {"resource_registry": targets}
    assert set(packaged_templates()) == {target for target in targets.values() if target.startswith("stoker:")}


def test_the_operators_environment_overrides_and_removes_mappings(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "resource_registry: {'OS::Metering::Alarm': 'OS::Aodh::EventAlarm', 'AWS::RDS::*': null, 'Our::*': 'OS::*'}\n"
    )
    registry = OperatorEnvironment.read(str(tmp_path), str(tmp_path)).environment.registry
    resolved = [
        registry.resolve(name, "") for name in ("OS::Metering::Alarm", "AWS::RDS::DBInstance", "OS::Quantum::Net")
    ]
    assert resolved == ["OS::Aodh::EventAlarm", "AWS::RDS::DBInstance", "OS::Neutron::Net"]


async def test_an_alarm_with_the_properties_of_cloudformation(world: World) -> None:
    properties = {
        "MetricName": "cpu_util", "Statistic": "Average", "Period": "60", "EvaluationPeriods": "2",
        "Threshold": "50", "ComparisonOperator": "GreaterThanThreshold", "AlarmActions": [{"Ref": "policy"}],
        "Dimensions": [{"Name": "AutoScalingGroupName", "Value": {"Ref": "group"}}],
    }  # fmt: skip
    launch = {
        "Type": "AWS::AutoScaling::LaunchConfiguration",
        "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny"},
    }
    scaling = {"AutoScalingGroupName": {"Ref": "group"}, "AdjustmentType": "ChangeInCapacity", "ScalingAdjustment": 1}
    group = {"AvailabilityZones": [], "LaunchConfigurationName": {"Ref": "launch"}, "MinSize": 0, "MaxSize": 1}
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "launch": launch,
            "group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
            "policy": {"Type": "AWS::AutoScaling::ScalingPolicy", "Properties": scaling},
            "net": {"Type": "OS::Quantum::Net"},
            "alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": properties},
        },
    }
    stack = await world.create("web", template)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    rows = await world.resources("web", depth=1)
    assert rows["alarm"]["type"] == "AWS::CloudWatch::Alarm"
    assert rows["net"]["type"] == "OS::Quantum::Net"
    token = world.served.token("demo", "demo")
    path = f"/alarming/v2/alarms/{rows['Alarm']['physical_id']}"
    alarm = world.served.call("GET", path, token=token).json
    rule = alarm["threshold_rule"]
    assert [rule[name] for name in ("meter_name", "statistic", "comparison_operator")] == ["cpu_util", "avg", "gt"]
    assert [rule[name] for name in ("period", "evaluation_periods", "threshold")] == [60, 2, 50.0]
    (condition,) = rule["query"]
    assert condition["field"] == "metadata.user_metadata.AutoScalingGroupName"
    assert condition["value"] == rows["group"]["physical_id"]
    assert (alarm["repeat_actions"], len(alarm["alarm_actions"])) == (True, 1)
    properties["ComparisonOperator"] = "LessThanOrEqualToThreshold"
    assert (await world.update("web", template))["status"] == "COMPLETE"
    assert world.served.call("GET", path, token=token).json["threshold_rule"]["comparison_operator"] == "le"
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_a_database_server_of_relational_database_service(world: World) -> None:
    image = {"name": "F19-x86_64-cfntools", "disk_format": "qcow2", "container_format": "bare"}
    token = world.served.token("demo", "demo")
    made = world.served.call("POST", "/image/v2/images", image, token).json["id"]
    world.served.call(
        "PUT", f"/image/v2/images/{made}/file", b"disk", token, {"Content-Type": "application/octet-stream"}
    )
    properties: dict[str, Any] = {
        "DBInstanceClass": "db.m1.small", "AllocatedStorage": "5", "DBName": "wordpress", "Engine": "MySQL",
        "MasterUsername": "admin", "MasterUserPassword": "it's secret", "Port": "3307",
    }  # fmt: skip
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"db": {"Type": "AWS::RDS::DBInstance", "Properties": properties}},
        "Outputs": {name: {"Value": {"Fn::GetAtt": ["db", f"Endpoint.{name}"]}} for name in ("Address", "Port")},
    }
    created = await world.call("stack_create", name="data", template=template)
    nested: dict[str, Any] = {}

    async def waits() -> bool:
        nested.update(await world.resources("data", depth=1))
        return "WaitCondition" in nested and nested["WaitCondition"]["action"] == "CREATE"

    for _ in range(2000):
        if await waits():
            break
        await world.turn()
    ref = {"name": None, "id": nested["db"]["physical_id"]}
    metadata = await world.call("resource_metadata", ref=ref, name="DatabaseInstance")
    files = metadata["AWS::CloudFormation::Init"]["config"]["files"]
    assert "port = 3307" in files["/etc/my.cnf.d/port.cnf"]["content"]
    assert "secret" not in json.dumps(metadata), "the password is redacted for everyone but the server's agent"
    assert "CREATE DATABASE IF NOT EXISTS `wordpress`" in files["/root/database.sql"]["content"]
    signal = {"Status": "SUCCESS", "UniqueId": "1", "Reason": "", "Data": ""}
    await world.call("resource_signal", ref=ref, name="WaitHandle", details=signal)
    stack = await world.settle(created["id"])
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    outputs = world.outputs(stack)
    assert outputs["Port"] == "3307" and outputs["Address"].count(".") == 3
    assert (await world.delete("data"))["status"] == "COMPLETE"
    assert world.served.call("GET", "/compute/v2.1/servers", token=token).json["servers"] == []


async def test_values_of_the_mapped_types_are_checked_before_anything_is_created(world: World) -> None:
    wrong = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "cpu", "Statistic": "Mean"}}
    with pytest.raises(TemplateInvalid, match="Statistic"):
        await world.create("web", {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"alarm": wrong}})
