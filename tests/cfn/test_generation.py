"""Resource scans and generated templates, with boto3: from objects that nobody manages to a stack, without a write."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from testing.project_objects import Objects
from tests.cfn.query_service import Keys, QueryService

FAST = {"Delay": 0.05, "MaxAttempts": 2000}
NET, SUBNET, ROUTER, SERVER = "OS::Neutron::Net", "OS::Neutron::Subnet", "OS::Neutron::Router", "OS::Nova::Server"


@pytest.fixture(scope="module")
def objects(world: QueryService) -> Objects:
    return Objects(world.served)


@pytest.fixture(scope="module")
def shop(objects: Objects) -> dict[str, str]:
    """The IDs of a few objects of the project, by type."""
    net = objects.net("shop")
    subnet = objects.subnet(net)
    port = objects.port(net, "door")
    router = objects.router(subnet)
    server = objects.server("till", port, metadata={"env": "production"})
    return {NET: net, SUBNET: subnet, "OS::Neutron::Port": port, ROUTER: router, SERVER: server}


@pytest.fixture(autouse=True)
def no_templates(boto: Any) -> Iterator[None]:
    """Leaves no generated template behind."""
    yield
    for each in boto.list_generated_templates()["Summaries"]:
        boto.delete_generated_template(GeneratedTemplateName=each["GeneratedTemplateName"])


def writes(world: QueryService) -> list[str]:
    entries = world.served.do(lambda: world.served.cloud.journal.select({}))
    return [
        entry["path"] for entry in entries if entry["method"] not in ("GET", "HEAD") and entry["service"] != "keystone"
    ]


def scanned(world: QueryService, boto: Any, **filters: Any) -> str:
    """The ID of a scan that has ended."""
    scan: str = boto.start_resource_scan(**filters)["ResourceScanId"]
    shown = world.until(lambda: ended(boto.describe_resource_scan(ResourceScanId=scan)))
    assert shown["Status"] == "COMPLETE", shown
    return scan


def generated(world: QueryService, boto: Any, name: str) -> dict[str, Any]:
    """A generated template when it has been generated."""
    shown: dict[str, Any] = world.until(lambda: ended(boto.describe_generated_template(GeneratedTemplateName=name)))
    return shown


def ended(shown: dict[str, Any]) -> dict[str, Any] | None:
    return None if shown["Status"].endswith("IN_PROGRESS") else shown


def found_in(boto: Any, scan: str, **selection: Any) -> dict[str, list[str]]:
    """The IDs of the listed objects, by type, read in pages of two."""
    found: dict[str, list[str]] = {}
    pages = boto.get_paginator("list_resource_scan_resources")
    for page in pages.paginate(ResourceScanId=scan, PaginationConfig={"PageSize": 2}, **selection):
        for each in page["Resources"]:
            found.setdefault(each["ResourceType"], []).append(each["ResourceIdentifier"]["Id"])
    return found


def definitions(**objects: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {"LogicalResourceId": name, "ResourceType": kind, "ResourceIdentifier": {"Id": identifier}}
        for name, (kind, identifier) in objects.items()
    ]


def refused(call: Any, **arguments: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    shown = error.value.response["Error"]
    return shown["Code"], shown["Message"]


# -- scans ---------------------------------------------------------------------------------------------------------


def test_a_scan_lists_the_objects_of_the_project(boto: Any, world: QueryService, shop: dict[str, str]) -> None:
    scan = scanned(world, boto)
    shown = boto.describe_resource_scan(ResourceScanId=scan)
    assert shown["PercentageCompleted"] == 100.0
    assert shown["StartTime"] <= shown["EndTime"]
    assert NET in shown["ResourceTypes"]
    assert "ScanFilters" not in shown

    found = found_in(boto, scan)
    assert all(identifier in found[kind] for kind, identifier in shop.items())
    assert sum(map(len, found.values())) == shown["ResourcesScanned"] <= shown["ResourcesRead"]

    assert found_in(boto, scan, ResourceIdentifier=shop[NET]) == {NET: [shop[NET]]}
    assert found_in(boto, scan, ResourceTypePrefix="OS::Nova::S") == {SERVER: [shop[SERVER]]}
    assert found_in(boto, scan, TagKey="env") == {SERVER: [shop[SERVER]]}
    assert found_in(boto, scan, TagKey="env", TagValue="production") == {SERVER: [shop[SERVER]]}
    assert found_in(boto, scan, TagKey="env", TagValue="test") == {}
    (summary,) = [
        each for each in boto.list_resource_scans()["ResourceScanSummaries"] if each["ResourceScanId"] == scan
    ]
    assert (summary["Status"], summary["ScanType"]) == ("COMPLETE", "FULL")


def test_a_scan_of_some_types(boto: Any, world: QueryService, shop: dict[str, str]) -> None:
    scan = scanned(world, boto, ScanFilters=[{"Types": ["OS::Neutron::S*", NET]}])
    shown = boto.describe_resource_scan(ResourceScanId=scan)
    assert shown["ScanFilters"] == [{"Types": ["OS::Neutron::S*", NET]}]
    assert shown["ResourceTypes"] == [NET, "OS::Neutron::SecurityGroup", SUBNET]
    assert found_in(boto, scan).keys() <= set(shown["ResourceTypes"])
    partial = boto.list_resource_scans(ScanTypeFilter="PARTIAL")["ResourceScanSummaries"]
    assert [each["ResourceScanId"] for each in partial] == [scan]
    code, message = refused(boto.start_resource_scan, ScanFilters=[{"Types": ["AWS::S3::*"]}])
    assert (code, "fits the filter AWS::S3::*" in message) == ("ValidationError", True)


def test_related_objects_are_grouped(boto: Any, world: QueryService, shop: dict[str, str]) -> None:
    scan = scanned(world, boto)

    def related(kind: str) -> set[str]:
        related_to = [{"ResourceType": kind, "ResourceIdentifier": {"Id": shop[kind]}}]
        listed = boto.list_resource_scan_related_resources(ResourceScanId=scan, Resources=related_to)[
            "RelatedResources"
        ]
        assert not any(each["ManagedByStack"] for each in listed)
        return {each["ResourceIdentifier"]["Id"] for each in listed}

    assert related(SERVER) == {shop["OS::Neutron::Port"]}
    assert {shop[SUBNET], shop["OS::Neutron::Port"]} <= related(NET)
    unknown = [{"ResourceType": NET, "ResourceIdentifier": {"Id": "nothing"}}]
    code, message = refused(boto.list_resource_scan_related_resources, ResourceScanId=scan, Resources=unknown)
    assert (code, "has no object nothing" in message) == ("ValidationError", True)


def test_scans_of_other_or_former_projects_are_hidden(boto: Any, world: QueryService) -> None:
    scan = scanned(world, boto, ScanFilters=[{"Types": [NET]}])
    other = world.client(world.stranger())
    assert other.list_resource_scans()["ResourceScanSummaries"] == []
    for call in (other.describe_resource_scan, other.list_resource_scan_resources):
        assert refused(call, ResourceScanId=scan)[0] == "ResourceScanNotFound"


@pytest.mark.usefixtures("clean")
def test_one_request_with_a_token_is_one_scan(boto: Any, world: QueryService) -> None:
    token = {"ClientRequestToken": "again"}
    first = scanned(world, boto, **token)
    assert scanned(world, boto, **token) == first


# -- generated templates -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("clean")
def test_scanned_resources_become_a_stack_without_cloud_writes(
    boto: Any, world: QueryService, shop: dict[str, str]
) -> None:
    before = writes(world)
    scan = scanned(world, boto)
    resources: list[dict[str, Any]] = [
        {"ResourceType": kind, "ResourceIdentifier": {"Id": identifier}}
        for kind, identifiers in found_in(boto, scan).items()
        for identifier in identifiers
        if kind.startswith(("OS::Neutron::", "OS::Nova::Server"))
    ]
    boto.create_generated_template(GeneratedTemplateName="shop", Resources=resources)
    shown = generated(world, boto, "shop")
    assert shown["Status"] == "COMPLETE", shown
    assert shown["Progress"]["ResourcesSucceeded"] == len(resources) == len(shown["Resources"])
    import_with(boto, boto.get_generated_template(GeneratedTemplateName="shop")["TemplateBody"], shown["Resources"])
    assert drift_of(world, boto, "taken") == "IN_SYNC"
    assert writes(world) == before

    scan = scanned(world, boto)
    pages = boto.get_paginator("list_resource_scan_resources").paginate(ResourceScanId=scan)
    managed = {
        each["ResourceIdentifier"]["Id"] for page in pages for each in page["Resources"] if each["ManagedByStack"]
    }
    assert managed == {each["ResourceIdentifier"]["Id"] for each in resources}

    split_in_two(boto, shop[SERVER], "servers")
    assert drift_of(world, boto, "taken") == drift_of(world, boto, "servers") == "IN_SYNC"
    assert writes(world) == before


def split_in_two(boto: Any, server: str, stack: str) -> None:
    """Move a server from the stack `taken` into a new one, where the IDs of what it refers to replace references."""
    found = boto.describe_stack_resources(StackName="taken")["StackResources"]
    identifiers = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}
    [name] = [name for name, identifier in identifiers.items() if identifier == server]

    def referred(value: Any) -> Any:
        if isinstance(value, dict):
            ref = value.get("Ref")
            return identifiers.get(ref, value) if ref else {key: referred(inner) for key, inner in value.items()}
        return [referred(inner) for inner in value] if isinstance(value, list) else value

    template = boto.get_template(StackName="taken")["TemplateBody"]
    leaving = {**template, "Resources": {name: referred(template["Resources"][name])}}
    staying = {**template, "Resources": {each: body for each, body in template["Resources"].items() if each != name}}
    refactor = boto.create_stack_refactor(
        EnableStackCreation=True,
        StackDefinitions=[
            {"StackName": each, "TemplateBody": json.dumps(body)}
            for each, body in (("taken", staying), (stack, leaving))
        ],
    )["StackRefactorId"]
    boto.get_waiter("stack_refactor_create_complete").wait(StackRefactorId=refactor, WaiterConfig=FAST)
    boto.execute_stack_refactor(StackRefactorId=refactor)
    boto.get_waiter("stack_refactor_execute_complete").wait(StackRefactorId=refactor, WaiterConfig=FAST)


def import_with(boto: Any, body: str, resources: list[dict[str, Any]], stack: str = "taken") -> None:
    """Import objects into a stack by a change set."""
    imported = [
        {name: each[name] for name in ("ResourceType", "LogicalResourceId", "ResourceIdentifier")} for each in resources
    ]
    made = boto.create_change_set(
        StackName=stack, ChangeSetName="take", ChangeSetType="IMPORT", TemplateBody=body, ResourcesToImport=imported
    )
    shown = boto.describe_change_set(ChangeSetName=made["Id"])
    assert shown["Status"] == "CREATE_COMPLETE", shown["StatusReason"]
    assert {each["ResourceChange"]["Action"] for each in shown["Changes"]} == {"Import"}
    boto.execute_change_set(ChangeSetName=made["Id"])
    boto.get_waiter("stack_import_complete").wait(StackName=stack, WaiterConfig=FAST)
    names = {each["LogicalResourceId"] for each in imported}
    rows = boto.describe_stack_resources(StackName=stack)["StackResources"]
    events = boto.describe_stack_events(StackName=stack)["StackEvents"]
    statuses = {each["ResourceStatus"] for each in (*rows, *events) if each["LogicalResourceId"] in names}
    assert statuses == {"IMPORT_COMPLETE"}


def drift_of(world: QueryService, boto: Any, stack: str) -> str:
    detection = boto.detect_stack_drift(StackName=stack)["StackDriftDetectionId"]

    def detected() -> dict[str, Any] | None:
        shown = boto.describe_stack_drift_detection_status(StackDriftDetectionId=detection)
        return None if shown["DetectionStatus"] == "DETECTION_IN_PROGRESS" else dict(shown)

    return str(world.until(detected)["StackDriftStatus"])


def test_content_of_generated_template(boto: Any, world: QueryService, shop: dict[str, str]) -> None:
    made = boto.create_generated_template(
        GeneratedTemplateName="net",
        Resources=definitions(Shop=(NET, shop[NET]), Way=(ROUTER, shop[ROUTER])),
        TemplateConfiguration={"DeletionPolicy": "DELETE", "UpdateReplacePolicy": "RETAIN"},
    )
    shown = generated(world, boto, made["GeneratedTemplateId"])
    assert shown["TemplateConfiguration"] == {"DeletionPolicy": "DELETE", "UpdateReplacePolicy": "RETAIN"}
    assert shown["TotalWarnings"] == 0
    got = boto.get_generated_template(GeneratedTemplateName="net")
    template = json.loads(got["TemplateBody"])
    assert template["AWSTemplateFormatVersion"] == "2010-09-09"
    assert template["Resources"]["Shop"] == {
        "Type": NET, "DeletionPolicy": "Delete", "UpdateReplacePolicy": "Retain", "Properties": {"name": "shop"},
    }  # fmt: skip
    gateway = template["Resources"]["Way"]["Properties"]["external_gateway_info"]["network"]
    assert template["Parameters"][gateway["Ref"]]["Default"]
    text = boto.get_generated_template(GeneratedTemplateName="net", Format="YAML")["TemplateBody"]
    assert yaml.safe_load(text) == template
    assert text.startswith("AWSTemplateFormatVersion: '2010-09-09'\n")
    (summary,) = boto.list_generated_templates()["Summaries"]
    assert (summary["GeneratedTemplateName"], summary["NumberOfResources"]) == ("net", 2)
    boto.validate_template(TemplateBody=text)


def test_a_generated_template_is_changed(
    boto: Any, world: QueryService, objects: Objects, shop: dict[str, str]
) -> None:
    net = objects.net("passing")
    boto.create_generated_template(GeneratedTemplateName="first", Resources=definitions(Net=(NET, net)))
    generated(world, boto, "first")
    objects.send("PUT", f"/network/v2.0/networks/{net}", {"network": {"name": "renamed"}})
    boto.update_generated_template(
        GeneratedTemplateName="first",
        NewGeneratedTemplateName="second",
        AddResources=definitions(Gone=(NET, "00000000-0000-4000-8000-000000000000"), Till=(SERVER, shop[SERVER])),
    )
    shown = generated(world, boto, "second")
    resources = {each["LogicalResourceId"]: each for each in shown["Resources"]}
    assert (shown["Status"], shown["StatusReason"]) == ("FAILED", "1 of 3 resources could not be generated.")
    assert resources["Gone"]["ResourceStatusReason"] == "the project has no such object"
    assert shown["Progress"]["ResourcesFailed"] == 1
    (unseen,) = resources["Till"]["Warnings"]
    assert unseen["Type"] == "UNSUPPORTED_PROPERTIES"
    assert all(not each["Required"] for each in unseen["Properties"])
    assert shown["TotalWarnings"] == 1
    assert names(boto, "second") == {"Net": "passing", "Till": "till"}

    boto.update_generated_template(
        GeneratedTemplateName="second", RemoveResources=["Gone", "Till"], RefreshAllResources=True
    )
    assert generated(world, boto, "second")["Status"] == "COMPLETE"
    assert names(boto, "second") == {"Net": "renamed"}
    assert refused(boto.describe_generated_template, GeneratedTemplateName="first")[0] == "GeneratedTemplateNotFound"
    code, message = refused(boto.update_generated_template, GeneratedTemplateName="second", RemoveResources=["Gone"])
    assert (code, "has no resource Gone" in message) == ("ValidationError", True)


def names(boto: Any, name: str) -> dict[str, str]:
    """The property `name` of each resource of a generated template."""
    body = boto.get_generated_template(GeneratedTemplateName=name)["TemplateBody"]
    found = json.loads(body)["Resources"]
    return {key: each["Properties"]["name"] for key, each in found.items()}


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("notation", ["cfn", "hot"])
def test_resources_are_added_to_the_template_of_a_stack(
    boto: Any, world: QueryService, objects: Objects, notation: str
) -> None:
    base: Any = (
        {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Net": {"Type": NET, "Properties": {"name": "base"}}}}
        if notation == "cfn"
        else {
            "heat_template_version": "2021-04-16",
            "resources": {"Net": {"type": NET, "properties": {"name": "base"}}},
        }
    )
    boto.create_stack(StackName="taken", TemplateBody=json.dumps(base))
    boto.get_waiter("stack_create_complete").wait(StackName="taken", WaiterConfig=FAST)
    (row,) = boto.list_stack_resources(StackName="taken")["StackResourceSummaries"]
    net = row["PhysicalResourceId"]
    subnet = objects.subnet(net, "10.9.0.0/24")
    boto.create_generated_template(
        GeneratedTemplateName="more", StackName="taken", Resources=definitions(Own=(NET, net), Sub=(SUBNET, subnet))
    )
    shown = generated(world, boto, "more")
    assert shown["Status"] == "COMPLETE", shown
    assert shown["StackId"] == boto.describe_stacks(StackName="taken")["Stacks"][0]["StackId"]
    body = boto.get_generated_template(GeneratedTemplateName="more")["TemplateBody"]
    template = json.loads(body)
    section = "Resources" if notation == "cfn" else "resources"
    assert template[section].keys() == {"Net", "Sub"}
    assert template[section]["Net"] == base[section]["Net"]
    text = json.dumps(template)
    before = writes(world)
    import_with(boto, text, [each for each in shown["Resources"] if each["LogicalResourceId"] == "Sub"])
    assert writes(world) == before
    if notation == "hot":
        code, message = refused(
            boto.create_generated_template, GeneratedTemplateName="no", StackName="taken",
            TemplateConfiguration={"UpdateReplacePolicy": "DELETE"},
        )  # fmt: skip
        assert (code, "give both policies the same value" in message) == ("ValidationError", True)
        boto.update_generated_template(
            GeneratedTemplateName="more", TemplateConfiguration={"UpdateReplacePolicy": "RETAIN"}
        )
        assert generated(world, boto, "more")["Status"] == "COMPLETE"


def test_invalid_generated_template_requests_are_refused(boto: Any, world: QueryService, shop: dict[str, str]) -> None:
    one = definitions(One=(NET, shop[NET]))
    boto.create_generated_template(GeneratedTemplateName="there", Resources=one)
    generated(world, boto, "there")
    other = {"ResourceType": NET, "ResourceIdentifier": {"name": "shop"}}
    for arguments, expected, output in (
        ({"GeneratedTemplateName": "there"}, "AlreadyExistsException", "already has a generated template there"),
        ({"GeneratedTemplateName": "1st"}, "ValidationError", "must start with a letter"),
        ({"Resources": one + one}, "ValidationError", "is given twice"),
        ({"Resources": definitions(One=("OS::Heat::Value", "x"))}, "ValidationError", "cannot be generated"),
        ({"Resources": [other]}, "ValidationError", "must have the key Id alone"),
        ({"StackName": "nobody"}, "ValidationError", "Stack with id nobody does not exist"),
    ):
        code, message = refused(boto.create_generated_template, **{"GeneratedTemplateName": "new", **arguments})
        assert (code, output in message) == (expected, True), message
    assert refused(boto.get_generated_template, GeneratedTemplateName="new")[0] == "GeneratedTemplateNotFound"


def test_generated_templates_of_others_are_not_shown(
    boto: Any, world: QueryService, shop: dict[str, str], keys: Keys
) -> None:
    made = boto.create_generated_template(GeneratedTemplateName="mine", Resources=definitions(One=(NET, shop[NET])))
    generated(world, boto, "mine")
    other = world.client(world.stranger())
    for name in ("mine", made["GeneratedTemplateId"], made["GeneratedTemplateId"].rpartition("/")[2]):
        assert refused(other.get_generated_template, GeneratedTemplateName=name)[0] == "GeneratedTemplateNotFound"
        assert refused(other.delete_generated_template, GeneratedTemplateName=name)[0] == "GeneratedTemplateNotFound"
    assert other.list_generated_templates()["Summaries"] == []
    other.create_generated_template(GeneratedTemplateName="mine", Resources=definitions(One=(NET, shop[NET])))
    shown = generated(world, other, "mine")
    assert [each["ResourceStatus"] for each in shown["Resources"]] == ["FAILED"]
    other.delete_generated_template(GeneratedTemplateName="mine")


def test_concurrent_template_changes_are_all_kept(world: QueryService, boto: Any, shop: dict[str, str]) -> None:
    """A change that was made from a state that is not the latest any more is refused."""
    boto.create_generated_template(GeneratedTemplateName="both", Resources=definitions(Net=(NET, shop[NET])))
    assert generated(world, boto, "both")["Status"] == "COMPLETE"
    further = {"Subnet": SUBNET, "Router": ROUTER, "Server": SERVER, "Port": "OS::Neutron::Port"}
    together = threading.Barrier(len(further))

    def add(name: str) -> str:
        together.wait()
        added = definitions(**{name: (further[name], shop[further[name]])})
        try:
            boto.update_generated_template(GeneratedTemplateName="both", AddResources=added)
        except ClientError:
            return ""
        return name

    with ThreadPoolExecutor(len(further)) as threads:
        made = {name for name in threads.map(add, further) if name}
    shown = generated(world, boto, "both")
    assert made and {each["LogicalResourceId"] for each in shown["Resources"]} == {"Net", *made}
