"""Existing objects imported by change sets of the type IMPORT, with boto3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from openstack_emulator.core.faults import Fault
from testing.project_objects import Objects
from tests.cfn.query_service import QueryService

FAST = {"Delay": 0.05, "MaxAttempts": 2000}
NETWORKS = "/network/v2.0/networks"


def template(**names: str) -> str:
    """A template of networks with these names in the cloud."""
    resources = {
        name: {"Type": "OS::Neutron::Net", "Properties": {"name": given}, "DeletionPolicy": "Retain"}
        for name, given in names.items()
    }
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})


def net(world: QueryService, name: str) -> str:
    token = world.served.token("demo", "demo")
    made = world.served.call("POST", NETWORKS, {"network": {"name": name}}, token).json["network"]
    return str(made["id"])


def imports(**objects: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"ResourceType": "OS::Neutron::Net", "LogicalResourceId": name, "ResourceIdentifier": identifier}
        for name, identifier in objects.items()
    ]


def propose(boto: Any, body: str, to_import: list[dict[str, Any]], name: str = "take") -> dict[str, Any]:
    made: dict[str, Any] = boto.create_change_set(
        StackName="taken", ChangeSetName=name, ChangeSetType="IMPORT", TemplateBody=body, ResourcesToImport=to_import
    )
    return made


def writes(world: QueryService) -> list[str]:
    entries = world.served.do(lambda: world.served.cloud.journal.select({}))
    return [
        entry["path"] for entry in entries if entry["method"] not in ("GET", "HEAD") and entry["service"] != "keystone"
    ]


def execute(boto: Any, name: str) -> None:
    boto.execute_change_set(ChangeSetName=name, StackName="taken")
    boto.get_waiter("stack_import_complete").wait(StackName="taken", WaiterConfig=FAST)


@pytest.mark.usefixtures("clean")
def test_import_change_sets_make_no_cloud_writes(boto: Any, world: QueryService) -> None:
    first, second = net(world, "imported-1"), net(world, "imported-2")
    before = writes(world)
    (summary,) = boto.get_template_summary(TemplateBody=template(One="imported-1"))["ResourceIdentifierSummaries"]
    assert summary == {
        "ResourceType": "OS::Neutron::Net",
        "LogicalResourceIds": ["One"],
        "ResourceIdentifiers": ["Id"],
    }
    made = propose(boto, template(One="imported-1"), imports(One={"Id": first}))
    boto.get_waiter("change_set_create_complete").wait(ChangeSetName=made["Id"], WaiterConfig=FAST)
    (change,) = boto.describe_change_set(ChangeSetName=made["Id"])["Changes"]
    shown = change["ResourceChange"]
    assert (shown["Action"], shown["LogicalResourceId"], shown["PhysicalResourceId"]) == ("Import", "One", first)
    assert boto.describe_stacks(StackName="taken")["Stacks"][0]["StackStatus"] == "REVIEW_IN_PROGRESS"

    execute(boto, "take")
    propose(boto, template(One="imported-1", Two="imported-2"), imports(Two={"name": "imported-2"}), "more")
    execute(boto, "more")
    rows = boto.list_stack_resources(StackName="taken")["StackResourceSummaries"]
    assert {row["LogicalResourceId"]: row["PhysicalResourceId"] for row in rows} == {"One": first, "Two": second}
    (listed,) = [each for each in boto.list_stacks()["StackSummaries"] if each["StackName"] == "taken"]
    assert listed["StackStatus"] == "IMPORT_COMPLETE"
    assert writes(world) == before

    boto.update_stack(StackName="taken", TemplateBody=template(One="imported-1", Two="renamed"))
    boto.get_waiter("stack_update_complete").wait(StackName="taken", WaiterConfig=FAST)
    assert writes(world)[len(before) :] == [f"{NETWORKS}/{second}"]


def test_import_change_set_with_other_changes_fails(boto: Any, world: QueryService) -> None:
    one = net(world, "imported-3")
    for name, body in (("differs", template(One="another")), ("creates", template(One="imported-3", New="new"))):
        made = propose(boto, body, imports(One={"Id": one}), name)
        shown = boto.describe_change_set(ChangeSetName=made["Id"])
        assert (shown["Status"], shown["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
        assert "imports objects as they are, and changes nothing" in shown["StatusReason"]
        assert {"differs": "One (name)", "creates": "New (name)"}[name] in shown["StatusReason"]
    boto.delete_stack(StackName="taken")  # which has change sets only


def test_impossible_imports_are_refused(boto: Any, world: QueryService) -> None:
    one = net(world, "imported-4")
    body = template(One="imported-4")
    for to_import, output in (
        (imports(One={"Id": "00000000-0000-4000-8000-000000000000"}), "neutron has no object"),
        (imports(One={"name": "nobody"}), "lists no object with name=nobody"),
        (imports(One={"Id": one, "name": "imported-4"}), "give one or the others"),
        (imports(Other={"Id": one}), "the template has no resource Other"),
        ([], "ResourcesToImport is for change sets of the type IMPORT"),
    ):
        with pytest.raises(ClientError) as refused:
            propose(boto, body, to_import)
        assert output in refused.value.response["Error"]["Message"]
        assert refused.value.response["Error"]["Code"] == "ValidationError"
    with pytest.raises(ClientError) as refused:
        boto.create_change_set(
            StackName="taken", ChangeSetName="x", ChangeSetType="CREATE", TemplateBody=body,
            ResourcesToImport=imports(One={"Id": one}),
        )  # fmt: skip
    assert "ResourcesToImport is for" in refused.value.response["Error"]["Message"]


@pytest.mark.usefixtures("clean")
def test_existing_objects_with_the_names_of_new_resources_are_imported(boto: Any, world: QueryService) -> None:
    one, two = net(world, "found-1"), net(world, "found-2")
    before = writes(world)
    for kind, body, imported, added in (
        ("CREATE", template(One="found-1"), {"One": one}, set()),
        ("UPDATE", template(One="found-1", Two="found-2", Own="found-1", New="nowhere"), {"Two": two}, {"Own", "New"}),
    ):
        made = boto.create_change_set(
            StackName="taken", ChangeSetName=kind, ChangeSetType=kind, TemplateBody=body, ImportExistingResources=True
        )
        shown = [each["ResourceChange"] for each in boto.describe_change_set(ChangeSetName=made["Id"])["Changes"]]
        actions = {each["LogicalResourceId"]: each for each in shown}
        assert {name: actions[name]["PhysicalResourceId"] for name in imported} == imported
        assert {name for name, each in actions.items() if each["Action"] == "Import"} == imported.keys()
        assert {name for name, each in actions.items() if each["Action"] == "Add"} == added
        boto.execute_change_set(ChangeSetName=made["Id"])
        boto.get_waiter(f"stack_{kind.lower()}_complete").wait(StackName="taken", WaiterConfig=FAST)
        rows = boto.list_stack_resources(StackName="taken")["StackResourceSummaries"]
        objects = {row["LogicalResourceId"]: row["PhysicalResourceId"] for row in rows}
        assert imported.items() <= objects.items()
    assert objects["Own"] != one  # which the stack has already
    assert writes(world)[len(before) :] == [NETWORKS, NETWORKS]


def test_a_name_of_several_objects_is_refused(boto: Any, world: QueryService) -> None:
    ids = {net(world, "twins"), net(world, "twins")}
    with pytest.raises(ClientError) as refused:
        boto.create_change_set(
            StackName="taken", ChangeSetName="one", ChangeSetType="CREATE", TemplateBody=template(One="twins"),
            ImportExistingResources=True,
        )  # fmt: skip
    message = refused.value.response["Error"]["Message"]
    assert "2 existing objects have the name of the resource One" in message
    assert all(each in message for each in ids)
    with pytest.raises(ClientError) as refused:
        boto.create_change_set(
            StackName="taken", ChangeSetName="one", ChangeSetType="CREATE", ImportExistingResources=True,
            TemplateBody=template(One="alone", Two="alone") if net(world, "alone") else "",
        )  # fmt: skip
    assert "have the name of the same existing object" in refused.value.response["Error"]["Message"]


@contextmanager
def network_not_found(world: QueryService, network: str, after: int = 0) -> Iterator[Fault]:
    """The network is not found any more, after it has been read so many times. The fault counts all reads (`seen`)."""
    message = f"Network {network} could not be found."
    fault = Fault(on=f"GET {NETWORKS}/{network}", do="fail", status=404, after=after, message=message)
    world.served.do(lambda: world.served.cloud.faults.add(fault))
    try:
        yield fault
    finally:
        world.served.do(lambda: world.served.cloud.faults.remove(fault.id))


@pytest.mark.usefixtures("clean")
def test_failed_import_is_rolled_back_without_cloud_writes(boto: Any, world: QueryService) -> None:
    first, second = net(world, "kept-1"), net(world, "lost-2")
    propose(boto, template(One="kept-1"), imports(One={"Id": first}))
    execute(boto, "take")
    with network_not_found(world, second, after=1000) as read:
        propose(boto, template(One="kept-1", Two="lost-2"), imports(Two={"Id": second}), "more")
    before = writes(world)
    with network_not_found(world, second), pytest.raises(ClientError) as refused:
        boto.execute_change_set(ChangeSetName="more", StackName="taken")
    assert f"neutron has no object {second}" in refused.value.response["Error"]["Message"]

    with network_not_found(world, second, after=read.seen):  # after the check of the request
        boto.execute_change_set(ChangeSetName="more", StackName="taken")
        with pytest.raises(WaiterError) as failed:
            boto.get_waiter("stack_import_complete").wait(StackName="taken", WaiterConfig=FAST)
        assert "IMPORT_ROLLBACK_" in str(failed.value)
        assert world.until(lambda: ended_status(boto)) == "IMPORT_ROLLBACK_COMPLETE"
    rows = boto.list_stack_resources(StackName="taken")["StackResourceSummaries"]
    assert {row["LogicalResourceId"]: row["PhysicalResourceId"] for row in rows} == {"One": first}
    assert writes(world) == before


def ended_status(boto: Any) -> str | None:
    status: str = boto.describe_stacks(StackName="taken")["Stacks"][0]["StackStatus"]
    return None if status.endswith("IN_PROGRESS") else status


@pytest.mark.usefixtures("clean")
def test_a_generated_template_is_imported_by_a_change_set(boto: Any, world: QueryService) -> None:
    objects = Objects(world.served)
    made = objects.net("generated")
    objects.router(objects.subnet(made))
    before = writes(world)
    found = world.call("project_generate")
    resources = {each["resource_name"]: each for each in found["resources"]}
    to_import = [
        {
            "ResourceType": each["resource_type"],
            "LogicalResourceId": name,
            "ResourceIdentifier": {"Id": each["physical_resource_id"]},
        }
        for name, each in resources.items()
    ]
    boto.create_change_set(
        StackName="taken",
        ChangeSetName="all",
        ChangeSetType="IMPORT",
        TemplateBody=json.dumps(found["template"]),
        Parameters=[
            {"ParameterKey": name, "ParameterValue": value}
            for name, value in found["environment"]["parameters"].items()
        ],
        ResourcesToImport=to_import,
    )
    execute(boto, "all")
    detection = boto.detect_stack_drift(StackName="taken")["StackDriftDetectionId"]
    status = boto.describe_stack_drift_detection_status(StackDriftDetectionId=detection)
    while status["DetectionStatus"] == "DETECTION_IN_PROGRESS":
        status = boto.describe_stack_drift_detection_status(StackDriftDetectionId=detection)
    assert status["StackDriftStatus"] == "IN_SYNC"
    rows = boto.list_stack_resources(StackName="taken")["StackResourceSummaries"]
    assert {row["LogicalResourceId"] for row in rows} == resources.keys()
    assert writes(world) == before
