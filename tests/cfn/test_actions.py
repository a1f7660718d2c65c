"""The other actions, and what is refused."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from botocore.exceptions import ClientError

from stoker.api.cfn.actions import ACTIONS
from stoker.api.policies import RULE_SETS
from tests.cfn.query_service import Keys, QueryService
from tests.cfn.signing import FORM, query, send, version_4

FAST = {"Delay": 0.05, "MaxAttempts": 2000}

TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Description: About nothing
Metadata: {Kept: here}
Parameters:
  Size: {Type: Number, Default: 3, AllowedValues: [1, 3], Description: How many}
  Key: {Type: String, NoEcho: true}
Resources:
  One: {Type: OS::Heat::TestResource, Properties: {value: {Ref: Key}}}
"""

PLAIN = json.dumps(
    {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            name: {"Type": "OS::Heat::TestResource", "Properties": {"value": "a"}} for name in ("Free", "Fixed")
        },
    }
)
POLICY = {
    "Statement": [
        {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
        {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/Fixed"},
    ]
}


def refused(expected: Any) -> tuple[str, str]:
    error = expected.value.response["Error"]
    return error["Code"], error["Message"]


def test_every_action_has_an_existing_policy_rule() -> None:
    known = {name for rules in RULE_SETS for name in rules.names}
    assert {action.policy for action in ACTIONS.values() if isinstance(action.policy, str)} <= known


def test_validate_template(boto: Any) -> None:
    found = boto.validate_template(TemplateBody=TEMPLATE)
    assert found["Description"] == "About nothing"
    assert found["Parameters"] == [
        {"ParameterKey": "Size", "DefaultValue": "3", "NoEcho": False, "Description": "How many"},
        {"ParameterKey": "Key", "NoEcho": True, "Description": ""},
    ]
    with pytest.raises(ClientError) as wrong:
        boto.validate_template(TemplateBody=TEMPLATE.replace("Ref: Key", "'Fn::GetAtt': [Kee, output]"))
    code, message = refused(wrong)
    assert code == "ValidationError"
    assert "Kee" in message


def test_unknown_error_reference(boto: Any) -> None:
    """As in Heat, a validation leaves what `Ref` names to the requests that have the values."""
    unknown = TEMPLATE.replace("Ref: Key", "Ref: Kee")
    assert boto.validate_template(TemplateBody=unknown)["Description"] == "About nothing"
    parameters = [{"ParameterKey": "Key", "ParameterValue": "k"}]
    with pytest.raises(ClientError) as wrong:
        boto.create_stack(StackName="unknown", TemplateBody=unknown, Parameters=parameters)
    code, message = refused(wrong)
    assert code == "ValidationError"
    assert "Kee" in message


def test_template_summary(boto: Any) -> None:
    found = boto.get_template_summary(TemplateBody=TEMPLATE)
    assert found["ResourceTypes"] == ["OS::Heat::TestResource"]
    assert found["Version"] == "2010-09-09"
    assert json.loads(found["Metadata"]) == {"Kept": "here"}
    size = next(each for each in found["Parameters"] if each["ParameterKey"] == "Size")
    assert size["ParameterType"] == "Number"
    assert size["ParameterConstraints"]["AllowedValues"] == ["1", "3"]


def test_booleans_and_lists_in_a_template_summary(boto: Any) -> None:
    """Booleans of YAML are strings, and lists are strings with commas, as the parameters' values are."""
    parameters = {
        "Flag": {"Type": "String", "Default": True, "AllowedValues": [True, False]},
        "Flags": {"Type": "CommaDelimitedList", "Default": [True, "b", 3]},
    }
    template = json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Parameters": parameters, "Resources": {}})
    flag, flags = boto.get_template_summary(TemplateBody=template)["Parameters"]
    assert (flag["DefaultValue"], flag["ParameterConstraints"]) == ("true", {"AllowedValues": ["true", "false"]})
    assert flags["DefaultValue"] == "true,b,3"
    validated = boto.validate_template(TemplateBody=template)["Parameters"]
    assert [each["DefaultValue"] for each in validated] == ["true", "true,b,3"]


@pytest.mark.usefixtures("clean")
def test_exports_and_imports(boto: Any) -> None:
    def template(**more: Any) -> str:
        return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {}, **more})

    exported = {"Outputs": {"Out": {"Value": "42", "Export": {"Name": "answer"}}}}
    boto.create_stack(StackName="giver", TemplateBody=template(**exported))
    boto.get_waiter("stack_create_complete").wait(StackName="giver", WaiterConfig=FAST)
    assert [(each["Name"], each["Value"]) for each in boto.list_exports()["Exports"]] == [("answer", "42")]
    with pytest.raises(ClientError) as unused:
        boto.list_imports(ExportName="answer")
    assert refused(unused)[0] == "ValidationError"
    boto.create_stack(
        StackName="taker", TemplateBody=template(Outputs={"Got": {"Value": {"Fn::ImportValue": "answer"}}})
    )
    boto.get_waiter("stack_create_complete").wait(StackName="taker", WaiterConfig=FAST)
    assert boto.list_imports(ExportName="answer")["Imports"] == ["taker"]
    boto.delete_stack(StackName="taker")
    boto.get_waiter("stack_delete_complete").wait(StackName="taker", WaiterConfig=FAST)


def test_resource_type_actions(boto: Any) -> None:
    names = [
        each["TypeName"]
        for page in boto.get_paginator("list_types").paginate(
            Filters={"TypeNamePrefix": "OS::Neutron::"}, PaginationConfig={"PageSize": 5}
        )
        for each in page["TypeSummaries"]
    ]
    assert "OS::Neutron::Net" in names
    assert len(names) == len(set(names)) > 5
    assert boto.list_types(Visibility="PRIVATE")["TypeSummaries"] == []
    found = boto.describe_type(Type="RESOURCE", TypeName="OS::Neutron::Subnet")
    schema = json.loads(found["Schema"])
    assert schema["typeName"] == "OS::Neutron::Subnet"
    assert "/properties/cidr" in schema["createOnlyProperties"]
    assert schema["properties"]["dns_nameservers"]["type"] == "array"
    assert boto.describe_type(Arn=found["Arn"])["TypeName"] == "OS::Neutron::Subnet"
    with pytest.raises(ClientError) as unknown:
        boto.describe_type(Type="RESOURCE", TypeName="OS::No::Such")
    assert refused(unknown)[0] == "TypeNotFoundException"


def test_describe_account_limits(boto: Any) -> None:
    assert boto.describe_account_limits()["AccountLimits"] == [{"Name": "StackLimit", "Value": 512}]


@pytest.mark.usefixtures("clean")
def test_termination_protection(boto: Any) -> None:
    boto.create_stack(StackName="kept", TemplateBody=PLAIN, EnableTerminationProtection=True)
    boto.get_waiter("stack_create_complete").wait(StackName="kept", WaiterConfig=FAST)
    assert boto.describe_stacks(StackName="kept")["Stacks"][0]["EnableTerminationProtection"] is True
    with pytest.raises(ClientError) as protected:
        boto.delete_stack(StackName="kept")
    code, message = refused(protected)
    assert code == "ValidationError"
    assert "termination protection" in message
    boto.update_termination_protection(StackName="kept", EnableTerminationProtection=False)
    boto.delete_stack(StackName="kept")
    boto.get_waiter("stack_delete_complete").wait(StackName="kept", WaiterConfig=FAST)


@pytest.mark.usefixtures("clean")
def test_a_stack_policy_is_enforced(boto: Any) -> None:
    boto.create_stack(StackName="ruled", TemplateBody=PLAIN, StackPolicyBody=json.dumps(POLICY))
    boto.get_waiter("stack_create_complete").wait(StackName="ruled", WaiterConfig=FAST)
    assert json.loads(boto.get_stack_policy(StackName="ruled")["StackPolicyBody"]) == POLICY

    def changed(*names: str) -> str:
        template = json.loads(PLAIN)
        for name in names:
            template["Resources"][name]["Properties"]["value"] = "b"
        return json.dumps(template)

    boto.update_stack(StackName="ruled", TemplateBody=changed("Free"))
    boto.get_waiter("stack_update_complete").wait(StackName="ruled", WaiterConfig=FAST)
    with pytest.raises(ClientError) as denied:
        boto.update_stack(StackName="ruled", TemplateBody=changed("Free", "Fixed"))
    assert refused(denied) == ("AccessDenied", "The stack policy of ruled does not allow Update:Modify of Fixed.")
    with pytest.raises(ClientError) as denied:
        gone = json.loads(PLAIN)
        del gone["Resources"]["Fixed"]
        boto.update_stack(StackName="ruled", TemplateBody=json.dumps(gone))
    assert "Update:Delete of Fixed" in refused(denied)[1]
    everything = {"Statement": [POLICY["Statement"][0]]}
    boto.update_stack(
        StackName="ruled",
        TemplateBody=changed("Free", "Fixed"),
        StackPolicyDuringUpdateBody=json.dumps(everything),
    )
    boto.get_waiter("stack_update_complete").wait(StackName="ruled", WaiterConfig=FAST)
    boto.set_stack_policy(StackName="ruled", StackPolicyBody=json.dumps(everything))
    boto.update_stack(StackName="ruled", TemplateBody=PLAIN)
    boto.get_waiter("stack_update_complete").wait(StackName="ruled", WaiterConfig=FAST)


@pytest.mark.parametrize(
    "policy",
    [
        "[]",
        "{}",
        '{"Statement": [{"Effect": "Maybe", "Action": "*", "Principal": "*", "Resource": "*"}]}',
        '{"Statement": [{"Effect": "Deny", "Action": "*", "Principal": "me", "Resource": "*"}]}',
        '{"Statement": [{"Effect": "Deny", "Principal": "*", "Resource": "*"}]}',
        '{"Statement": [{"Effect": "Deny", "Action": "*", "Principal": "*"}]}',
        '{"Statement": [{"Effect": "Deny", "Action": 1, "Principal": "*", "Resource": "*"}]}',
        '{"Statement": {"Effect": "Deny", "Action": "*", "Principal": "*", "Resource": "*", "Condition": {"Bool": 1}}}',
        '{"Statement": [{"Effect": "Deny", "Action": "*", "Principal": "*", "Resource": "*", "Condition": 5}]}',
        "not JSON",
    ],
)
def test_invalid_stack_policy_is_refused(boto: Any, policy: str) -> None:
    with pytest.raises(ClientError) as wrong:
        boto.create_stack(StackName="unruly", TemplateBody=PLAIN, StackPolicyBody=policy)
    assert refused(wrong)[0] == "ValidationError"
    assert "unruly" not in {each["StackName"] for each in boto.list_stacks()["StackSummaries"]}


def test_estimate_template_cost_uses_operator_calculator(boto: Any, world: QueryService) -> None:
    member = {"type": "OS::Heat::RandomString"}
    group = {"Type": "OS::Heat::ResourceGroup", "Properties": {"count": {"Ref": "Size"}, "resource_def": member}}
    request_body = {"Parameters": {"Size": {"Type": "Number"}}, "Resources": {"Group": group}}
    body = json.dumps({"AWSTemplateFormatVersion": "2010-09-09", **request_body})
    size = [{"ParameterKey": "Size", "ParameterValue": "3"}]
    made = {"OS::Heat::ResourceGroup": 1, "OS::Heat::RandomString": 3}

    media_type, _, document = boto.estimate_template_cost(TemplateBody=body, Parameters=size)["Url"].partition(",")
    assert (media_type, json.loads(unquote(document))) == ("data:application/json", made)
    world.config.set_override("cost_calculator_url", "https://prices.example/?cloud=one", "heat_api_cfn")
    try:
        url = urlsplit(boto.estimate_template_cost(TemplateBody=body, Parameters=size)["Url"])
    finally:
        world.config.clear_override("cost_calculator_url", "heat_api_cfn")
    assert (url.netloc, dict(parse_qsl(url.query))) == (
        "prices.example",
        {"cloud": "one"} | {name: str(count) for name, count in made.items()},
    )
    with pytest.raises(ClientError) as wrong:
        boto.estimate_template_cost(TemplateBody=body)
    assert "Size" in refused(wrong)[1]


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("create_stack", {"StackName": "x", "TemplateBody": TEMPLATE, "RoleARN": "arn:aws:iam::1:role/abcdefghij"}),
    ],
)
def test_unsupported_features_are_refused_with_a_message(boto: Any, action: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ClientError) as unsupported:
        getattr(boto, action)(**arguments)
    assert refused(unsupported)[0] == "ValidationError"


@pytest.mark.parametrize(
    ("code", "params"),
    [
        ("MissingAction", {}),
        ("InvalidAction", {"Action": "MakeCoffee"}),
        ("InvalidParameterValue", {"Action": "ListStacks", "Version": "1999-01-01"}),
        ("InvalidParameterValue", {"Action": "ListStacks", "ContentType": "YAML"}),
        ("MissingParameter", {"Action": "GetStackPolicy"}),
        ("InvalidQueryParameter", {"Action": "ListStacks", "Colour": "red"}),
        ("MissingParameter", {"Action": "CreateStack", "StackName": "x"}),
        ("InvalidParameterValue", {"Action": "CreateStack", "StackName": "x", "TimeoutInMinutes": "soon"}),
        (
            "ValidationError",
            {"Action": "CreateStack", "StackName": "x", "TimeoutInMinutes": "0"},
        ),
        ("ValidationError", {"Action": "UpdateStack", "StackName": "x", "TimeoutInMinutes": "999999999"}),
        ("ValidationError", {"Action": "ListTypes", "MaxResults": "0"}),
        ("ValidationError", {"Action": "ListTypes", "MaxResults": "101"}),
        ("ValidationError", {"Action": "ValidateTemplate", "TemplateBody": ""}),
        ("InvalidParameterValue", {"Action": "CreateStack", "StackName": "x", "Tags.member.a.Key": "x"}),
        ("InvalidParameterValue", {"Action": "CreateStack", "StackName": "x", "Tags": "x"}),
        ("InvalidQueryParameter", {"Action": "CreateStack", "StackName": "x", "StackName.a": "x"}),
        ("MissingParameter", {"Action": "CreateStack", "StackName": "x", "Parameters.member.1.ParameterKey": "x"}),
        ("InvalidParameterValue", {"Action": "CreateStack", "StackName": "x", "Capabilities.member.1": "ALL"}),
        (
            "InvalidParameterCombination",
            {
                "Action": "CreateStack",
                "StackName": "x",
                "TemplateBody": "x",
                "OnFailure": "ROLLBACK",
                "DisableRollback": "true",
            },
        ),
        ("ValidationError", {"Action": "CreateStack", "StackName": "1 x", "TemplateBody": PLAIN}),
        ("ValidationError", {"Action": "CreateStack", "StackName": "x", "TemplateURL": "file:///etc/passwd"}),
        ("ValidationError", {"Action": "DescribeStacks", "StackName": "nothing"}),
        ("ValidationError", {"Action": "DescribeStackResource", "StackName": "x", "LogicalResourceId": "y"}),
        ("InvalidParameterCombination", {"Action": "DescribeStackResources"}),
        ("ValidationError", {"Action": "DescribeChangeSet", "ChangeSetName": "x"}),
        ("ChangeSetNotFound", {"Action": "DescribeChangeSet", "ChangeSetName": "arn:aws:changeSet/x"}),
    ],
)
def test_invalid_input_is_refused(world: QueryService, keys: Keys, code: str, params: dict[str, str]) -> None:
    answer = query(world, keys, **params)
    assert 400 <= answer.status < 500
    assert answer.code == code, answer.content


def test_bodies_other_than_forms_are_refused(world: QueryService, keys: Keys) -> None:
    for body, kind in (("{}", "application/json"), ("Action=%ff", FORM), ("Action=%00", FORM), ("\u00e9", FORM)):
        headers = {**version_4(keys, world.host, body), "Content-Type": kind}
        answer = send(world, "POST", "/v1/", body.encode(), headers)
        assert 400 <= answer.status < 500
    huge = "Action=ListStacks&x=" + "y" * world.config.max_json_body_size
    assert send(world, "POST", "/v1/", huge, {"Content-Type": FORM}).status == 400
    assert send(world, "DELETE", "/v1/").status == 400
    assert send(world, "GET", "/nowhere").status == 404


def test_requests_without_a_signature(world: QueryService) -> None:
    for path in ("/", "/versions"):
        answer = send(world, "GET", path)
        assert answer.status == 300
        (version,) = json.loads(answer.content)["versions"]
        assert version["links"][0]["href"] == f"{world.url}/v1/"
    assert send(world, "GET", "/healthcheck").status == 200
