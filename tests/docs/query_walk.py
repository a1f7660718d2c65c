"""A walk over the actions of the CloudFormation Query API with boto3, which records requests and answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.dom import minidom

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from tests.cfn.query_service import QueryService
from tests.docs.recorded import BASE, Anonymizer

TEMPLATE = """AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Name: {Type: String, Default: front}
Resources:
  Net:
    Type: OS::Neutron::Net
    Properties: {name: !Ref Name}
  Handle:
    Type: AWS::CloudFormation::WaitConditionHandle
Outputs:
  Network:
    Value: !Ref Net
    Export: {Name: shared-network}
"""
_NETWORK = """\
    DependsOn: Addresses
  Net:
    Type: OS::Neutron::Net
  Addresses:
    Type: OS::Neutron::Subnet
    Properties: {network: !Ref Net, cidr: 10.0.0.0/24}
"""
_KEYS = re.compile(r"Signature=[^&<]+|AWSAccessKeyId=[^&<]+")

_FAST = {"Delay": 0.05, "MaxAttempts": 1000}

Examples = dict[str, dict[str, Any]]


class Recorder:
    """Keeps the last request and answer of each action of a client of boto3."""

    def __init__(self, client: Any, disguise: Anonymizer) -> None:
        self.examples: Examples = {}
        self._disguise = disguise
        client.meta.events.register("before-call.cloudformation", self._sent)
        client.meta.events.register("after-call.cloudformation", self._answered)

    def _sent(self, params: Any, **_: Any) -> None:
        self._request = {key: value for key, value in params["body"].items() if key != "Version"}

    def _answered(self, http_response: Any, **_: Any) -> None:
        root = minidom.parseString(http_response.content).documentElement
        assert root is not None
        answer = root.toprettyxml(indent="  ")
        self.examples[self._request["Action"]] = {
            "request": self._disguise.plain(self._request),
            "answer": _KEYS.sub(lambda found: found[0].partition("=")[0] + "=…", self._disguise.plain(_short(answer))),
        }


def _short(answer: str) -> str:
    """Return XML without empty lines, and lists with two members."""
    lines, level, members = [], "", 0
    for line in filter(str.strip, answer.splitlines()):
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == "<member>" and members == 0:
            level = indent
        members += line == f"{level}<member>"
        if line.startswith(f"{level[:-2]}</") and len(indent) < len(level):
            members = 0
        if members <= 2:
            lines.append(line)
    return "\n".join(lines)


def walk(folder: Path) -> Examples:
    """Call the actions, and return the examples by action."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served, QueryService(folder, served) as service:
        keys = service.keys()
        disguise = Anonymizer({service.url: BASE, served.url: "https://cloud.example.com"})
        disguise.project(keys.project_id)
        client = service.client(keys)
        recorder = Recorder(client, disguise)
        _templates(client)
        _change_sets(client, service)
        _rollbacks(client, service, served)
        _stack(client, service)
        _drift(client, service)
        _generation(client, service)
        _refactoring(client)
        client.update_stack(StackName="web", TemplateBody=TEMPLATE, Parameters=_named("back"))
        _settled(client, service, "web")
        client.update_termination_protection(StackName="web", EnableTerminationProtection=False)
        client.delete_stack(StackName="web")
        return dict(sorted(recorder.examples.items()))


def _named(name: str) -> list[dict[str, str]]:
    return [{"ParameterKey": "Name", "ParameterValue": name}]


def _settled(client: Any, service: QueryService, name: str) -> None:
    def done() -> bool:
        status = client.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
        assert "FAILED" not in status
        return bool(status.endswith("_COMPLETE"))

    service.until(done)


def _templates(client: Any) -> None:
    client.validate_template(TemplateBody=TEMPLATE)
    client.get_template_summary(TemplateBody=TEMPLATE)
    client.estimate_template_cost(TemplateBody=TEMPLATE)
    client.describe_account_limits()
    client.list_types(Visibility="PUBLIC")
    client.describe_type(Type="RESOURCE", TypeName="OS::Heat::UpdateWaitConditionHandle")


def _change_sets(client: Any, service: QueryService) -> None:
    planned = {"StackName": "web", "TemplateBody": TEMPLATE, "Parameters": _named("front")}
    client.create_change_set(ChangeSetName="first", ChangeSetType="CREATE", **planned)
    named = {"StackName": "web", "ChangeSetName": "first"}
    service.until(lambda: client.describe_change_set(**named)["Status"] == "CREATE_COMPLETE")
    client.list_change_sets(StackName="web")
    client.execute_change_set(**named)
    _settled(client, service, "web")
    client.create_change_set(StackName="web", ChangeSetName="second", TemplateBody=TEMPLATE, Parameters=_named("side"))
    service.until(
        lambda: client.describe_change_set(StackName="web", ChangeSetName="second")["Status"][-8:] == "COMPLETE"
    )
    client.describe_change_set(StackName="web", ChangeSetName="second", IncludePropertyValues=True)
    client.delete_change_set(StackName="web", ChangeSetName="second")


def _stack(client: Any, service: QueryService) -> None:
    client.create_stack(StackName="other", TemplateBody=TEMPLATE.replace("shared-network", "other-network"))
    _settled(client, service, "other")
    client.list_stacks()
    client.describe_stack_events(StackName="web")
    client.describe_stack_resource(StackName="web", LogicalResourceId="Net")
    client.describe_stack_resources(StackName="web")
    client.list_stack_resources(StackName="web")
    client.get_template(StackName="web")
    client.list_exports()
    user = TEMPLATE.partition("Parameters:")[0] + (
        "Resources:\n  Subnet:\n    Type: OS::Neutron::Subnet\n"
        "    Properties: {network: !ImportValue other-network, cidr: 10.0.0.0/24}\n"
    )
    client.create_stack(StackName="user", TemplateBody=user)
    _settled(client, service, "user")
    _hooks(client, service)
    client.list_imports(ExportName="other-network")
    client.signal_resource(StackName="web", LogicalResourceId="Handle", UniqueId="1", Status="SUCCESS")
    client.set_stack_policy(
        StackName="web",
        StackPolicyBody='{"Statement": [{"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}]}',
    )
    client.get_stack_policy(StackName="web")
    client.update_termination_protection(StackName="web", EnableTerminationProtection=True)
    client.create_stack(StackName="shop", TemplateBody=TEMPLATE.replace("shared-network", "third-network"))
    _settled(client, service, "web")


def _hooks(client: Any, service: QueryService) -> None:
    policy = "{name: small-networks, types: ['OS::Neutron::Subnet'], expression: 'false', verdict: warn}"
    service.call("plan_policies_change", policies=f"policies: [{policy}]")
    thing = "Resources:\n  Thing:\n    Type: OS::Heat::RandomString\n"
    body = TEMPLATE.partition("Parameters:")[0] + thing + _NETWORK
    named = {"StackName": "user", "ChangeSetName": "third"}
    client.create_change_set(**named, TemplateBody=body)
    client.describe_change_set_hooks(**named)
    made = client.describe_change_set(**named)["ChangeSetId"]
    (result,) = client.list_hook_results(TargetType="CHANGE_SET", TargetId=made)["HookResults"]
    client.get_hook_result(HookResultId=result["HookResultId"])
    client.delete_change_set(**named)
    service.call("plan_policies_change", policies=None)


def _drift(client: Any, service: QueryService) -> None:
    detection = client.detect_stack_drift(StackName="web")["StackDriftDetectionId"]

    def detected() -> bool:
        reported = client.describe_stack_drift_detection_status(StackDriftDetectionId=detection)
        return bool(reported["DetectionStatus"] == "DETECTION_COMPLETE")

    service.until(detected)
    client.describe_stack_resource_drifts(StackName="web")
    client.detect_stack_resource_drift(StackName="web", LogicalResourceId="Net")
    client.describe_events(StackName="web", Filters={"FailedEvents": False})


def _generation(client: Any, service: QueryService) -> None:
    scan = {"ResourceScanId": client.start_resource_scan()["ResourceScanId"]}
    service.until(lambda: client.describe_resource_scan(**scan)["Status"] == "COMPLETE")
    client.list_resource_scans()
    client.list_resource_scan_resources(**scan, ResourceTypePrefix="OS::Neutron::")
    shown = client.describe_stack_resource(StackName="other", LogicalResourceId="Net")["StackResourceDetail"]
    body = {"ResourceType": "OS::Neutron::Net", "ResourceIdentifier": {"Id": shown["PhysicalResourceId"]}}
    client.list_resource_scan_related_resources(**scan, Resources=[body])
    template = {"GeneratedTemplateName": "network"}
    client.create_generated_template(**template, Resources=[body])

    def generated() -> bool:
        return bool(client.describe_generated_template(**template)["Status"] == "COMPLETE")

    service.until(generated)
    client.update_generated_template(**template, RefreshAllResources=True)
    service.until(generated)
    client.get_generated_template(**template, Format="YAML")
    client.list_generated_templates()
    client.delete_generated_template(**template)


def _refactoring(client: Any) -> None:
    leaving = "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Thing: {Type: OS::Heat::RandomString}\n"
    client.create_stack(StackName="whole", TemplateBody=leaving + "  Rest: {Type: OS::Heat::RandomString}\n")
    client.get_waiter("stack_create_complete").wait(StackName="whole", WaiterConfig=_FAST)
    made = client.create_stack_refactor(
        EnableStackCreation=True,
        StackDefinitions=[
            {"StackName": "whole", "TemplateBody": leaving.replace("Thing", "Rest")},
            {"StackName": "part", "TemplateBody": leaving},
        ],
    )
    refactor = {"StackRefactorId": made["StackRefactorId"]}
    client.get_waiter("stack_refactor_create_complete").wait(**refactor, WaiterConfig=_FAST)
    client.list_stack_refactor_actions(**refactor)
    client.execute_stack_refactor(**refactor)
    client.get_waiter("stack_refactor_execute_complete").wait(**refactor, WaiterConfig=_FAST)
    client.list_stack_refactors()


def _rollbacks(client: Any, service: QueryService, served: ServedCloud) -> None:
    client.create_stack(StackName="trial", TemplateBody=_trial(value="first"))
    _settled(client, service, "trial")
    client.update_stack(StackName="trial", TemplateBody=_trial(value="second", wait_secs=2))
    client.cancel_update_stack(StackName="trial")
    service.until(lambda: _status(client, "trial") == "UPDATE_ROLLBACK_COMPLETE")
    added = _trial(value="third", fail=True) + _NETWORK
    client.update_stack(StackName="trial", TemplateBody=added, DisableRollback=True)
    service.until(lambda: _status(client, "trial") == "UPDATE_FAILED")
    token = served.token("demo", "demo")
    shown = client.describe_stack_resource(StackName="trial", LogicalResourceId="Net")["StackResourceDetail"]
    port = {"network_id": shown["PhysicalResourceId"]}
    made = served.call("POST", "/network/v2.0/ports", {"port": port}, token).json["port"]["id"]
    client.rollback_stack(StackName="trial")
    service.until(lambda: _status(client, "trial") == "UPDATE_ROLLBACK_FAILED", interval=0.5)  # after many attempts
    served.call("DELETE", f"/network/v2.0/ports/{made}", None, token)
    client.continue_update_rollback(StackName="trial")
    service.until(lambda: _status(client, "trial") == "UPDATE_ROLLBACK_COMPLETE")


def _trial(**properties: Any) -> str:
    return (
        "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Thing:\n    Type: OS::Heat::TestResource\n"
        f"    Properties: {json.dumps(properties)}\n"
    )


def _status(client: Any, name: str) -> str:
    return str(client.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])
