"""Access keys that belong to an application credential with access rules, whose service is `cloudformation` here."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest

from tests.cfn.query_service import QueryService
from tests.cfn.signing import FORM, query, send, version_4

LIST = {"service": "cloudformation", "method": "GET", "path": "/v1/"}
TEMPLATE = json.dumps({"HeatTemplateFormatVersion": "2012-12-12", "Resources": {}})


@pytest.mark.parametrize(
    ("rules", "method", "status"),
    [
        ([LIST], "GET", 200),
        ([{**LIST, "path": "/**"}], "GET", 200),
        ([{**LIST, "method": "POST"}], "POST", 200),
        ([{**LIST, "service": "compute"}, LIST], "GET", 200),
        ([LIST], "POST", 403),
        ([{**LIST, "path": "/v1/signal/**"}], "GET", 403),
        ([{**LIST, "service": "orchestration"}], "GET", 403),
        ([{**LIST, "service": "orchestration"}, {**LIST, "service": "compute", "path": "/**"}], "GET", 403),
    ],
)
def test_access_rules_decide(world: QueryService, rules: list[dict[str, str]], method: str, status: int) -> None:
    keys = world.restricted_keys(rules)
    if method == "GET":
        answer = query(world, keys, Action="ListStacks")
    else:
        body = urlencode({"Action": "ListStacks"})
        answer = send(world, "POST", "/v1/", body, {**version_4(keys, world.host, body), "Content-Type": FORM})
    assert (answer.status, answer.code) == (status, "" if status == 200 else "AccessDenied"), answer.content


def test_a_refused_request_changes_nothing(world: QueryService) -> None:
    keys = world.restricted_keys([{**LIST, "service": "orchestration"}])
    answer = query(world, keys, Action="CreateStack", StackName="limited", TemplateBody=TEMPLATE)
    assert (answer.status, answer.code) == (403, "AccessDenied"), answer.content
    shown = query(world, world.keys(), Action="DescribeStacks", StackName="limited")
    assert shown.status == 400
    assert b"exist" in shown.content


def test_a_signature_is_checked_once_though_the_request_moves_to_its_project(world: QueryService) -> None:
    counting = {"on": "POST /identity/v3/ec2tokens", "do": "delay", "seconds": 0}
    fault = world.served.call("POST", "/control/faults", counting).json["fault"]
    try:
        keys = world.keys()
        assert [query(world, keys, Action="ListStacks").status for _ in range(3)] == [200] * 3
        faults = world.served.call("GET", "/control/faults").json["faults"]
        assert [one["hits"] for one in faults if one["id"] == fault["id"]] == [3]
    finally:
        world.served.call("DELETE", f"/control/faults/{fault['id']}")
