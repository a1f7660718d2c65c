"""Policies and change control, as every client meets them: by REST, boto3, signed URLs and the console."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
from botocore.exceptions import ClientError

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.records.failure import Failure
from stoker.store import queries
from stoker.store.records import FAILED
from stoker_foundation.clock import SystemClock
from tests.cfn.query_service import QueryService
from tests.cfn.signing import send
from tests.console.support import Browser, add_user, logged_in, served_console

FREEZE = """
policies:
- name: freeze
  for: plan
  expression: "false"
  message: nothing may change
"""
JSON = {"Content-Type": "application/json"}
_SECONDS = 60.0


def template(*names: str) -> dict[str, Any]:
    net = {"type": "OS::Neutron::Net", "properties": {"name": "declared"}}
    return {"heat_template_version": "2021-04-16", "resources": dict.fromkeys(names, net)}


SCALING = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {
                "min_size": 1,
                "max_size": 3,
                "cooldown": 0,
                "resource": {"type": "OS::Neutron::Net"},
                "rolling_updates": {"max_batch_size": 1},
            },
        },
        "more": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
            },
        },
    },
    "outputs": {"url": {"value": {"get_attr": ["more", "alarm_url"]}}},
}


@dataclass
class Clients:
    """What the user demo has: boto3, REST and a browser; `call` asks the engine."""

    service: QueryService
    boto: Any
    browser: Browser

    def rest(self, method: str, path: str, body: Any = None, user: str = "demo") -> requests.Response:
        token = self.service.served.token(user, "demo")
        project = self.service.world.world.context.project_id
        url = f"{self.browser.base}/v1/{project}{path}"
        return requests.request(method, url, json=body, headers={"X-Auth-Token": token}, timeout=_SECONDS)

    def call(self, method: str, **arguments: Any) -> Any:
        return self.service.call(method, **arguments)

    def stack(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("stack_show", ref={"name": name, "id": None})
        return found

    def path(self, name: str) -> str:
        return f"/stacks/{name}/{self.stack(name)['id']}"

    def group(self, name: str) -> str:
        listed = self.call("resource_list", ref={"name": name, "id": None})["resources"]
        return str(next(row["physical_id"] for row in listed if row["name"] == "group"))

    def newest(self, stack_id: str) -> Any:
        """The newest operation of a stack, when it has ended."""
        self.service.world.settle(stack_id)
        return self.service.run(self.service.engine.services.database.read(queries.operations_of, stack_id))[0]

    def changes(self) -> list[dict[str, Any]]:
        """The requests that have changed the cloud, apart from logging in and trusts."""
        served = self.service.served
        return [each for each in served.do(lambda: served.cloud.journal.select({})) if each["service"] != "keystone"]

    def alarm(self, url: str) -> int:
        """Call the signed URL of a scaling policy, as an alarm does; return the status."""
        path = url.removeprefix(self.service.url)
        return int(send(self.service, "POST", path, json.dumps({"current": "alarm"}), JSON).status)


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    with (
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served,
        QueryService(tmp_path_factory.mktemp("query"), served) as service,
        served_console(service.world, tmp_path_factory.mktemp("rest")) as url,
    ):
        add_user(served, "boss", "manager", "demo")
        add_user(served, "second", "member", "demo")
        yield Clients(service, service.client(service.keys()), logged_in(url, served))


@contextmanager
def frozen(clients: Clients) -> Iterator[None]:
    """While a policy of the project denies all plans."""
    clients.call("plan_policies_change", policies=FREEZE)
    try:
        yield
    finally:
        clients.call("plan_policies_change", policies=None)


# -- no way in passes a deny -------------------------------------------------------------------------------------------

Way = Callable[[Clients, str], object]
BODY: dict[str, Any] = {"template": template("net", "two")}


def _change_set(clients: Clients, name: str) -> None:
    clients.boto.create_change_set(StackName=name, ChangeSetName="one", TemplateBody=json.dumps(template("net", "two")))
    with frozen(clients):
        clients.boto.execute_change_set(StackName=name, ChangeSetName="one")
        clients.newest(clients.stack(name)["id"])


def _console(clients: Clients, name: str) -> None:
    path = f"{clients.path(name)}/deploy"
    fields = {"do": "apply", "name": name, "template": json.dumps(template("net", "two"))}
    answer = clients.browser.submit(path, path, **fields)
    assert answer.status_code < 500


def _snapshot(clients: Clients, name: str) -> None:
    taken = clients.rest("POST", f"{clients.path(name)}/snapshots", {"name": "one"}).json()["id"]
    clients.newest(clients.stack(name)["id"])
    with frozen(clients):
        clients.rest("POST", f"{clients.path(name)}/snapshots/{taken}/restore")
        clients.newest(clients.stack(name)["id"])


WAYS: dict[str, tuple[str, Way]] = {
    "REST PUT": ("UPDATE", lambda clients, name: clients.rest("PUT", clients.path(name), BODY)),
    "REST PATCH": ("UPDATE", lambda clients, name: clients.rest("PATCH", clients.path(name), BODY)),
    "REST DELETE": ("DELETE", lambda clients, name: clients.rest("DELETE", clients.path(name))),
    "REST action": (
        "SUSPEND",
        lambda clients, name: clients.rest("POST", f"{clients.path(name)}/actions", {"suspend": None}),
    ),
    "REST retry": ("UPDATE", lambda clients, name: clients.rest("PATCH", clients.path(name), {"converge": True})),
    "UpdateStack": (
        "UPDATE",
        lambda clients, name: clients.boto.update_stack(StackName=name, TemplateBody=json.dumps(template("net", "x"))),
    ),
    "DeleteStack": ("DELETE", lambda clients, name: clients.boto.delete_stack(StackName=name)),
    "console": ("UPDATE", _console),
}
LATER: dict[str, tuple[str, Way]] = {
    "ExecuteChangeSet": ("UPDATE", _change_set),
    "REST restore": ("RESTORE", _snapshot),
}
"""Ways that begin before the policy is set."""


def refused(clients: Clients, stack_id: str, action: str) -> None:
    """The newest operation of a stack has this action, and a policy has denied it."""
    newest = clients.newest(stack_id)
    assert (newest.action, newest.status) == (action, FAILED)
    assert Failure.from_json(newest.failure).kind == "PolicyDenied"
    assert "policy-denied freeze: nothing may change" in newest.reason


@pytest.mark.parametrize("way", [*WAYS, *LATER])
def test_every_entry_point_applies_policies(clients: Clients, way: str) -> None:
    name = f"way-{[*WAYS, *LATER].index(way)}"
    made = clients.rest("POST", "/stacks", {"stack_name": name, "template": template("net")}).json()["stack"]["id"]
    assert clients.newest(made).status == "COMPLETE"
    before = clients.changes()
    action, act = {**WAYS, **LATER}[way]
    if way in LATER:
        act(clients, name)
    else:
        with frozen(clients):
            act(clients, name)
            clients.newest(made)
    refused(clients, made, action)
    assert clients.changes() == before


@pytest.mark.parametrize("way", ["REST", "boto3"])
def test_creations_are_checked_by_policies(clients: Clients, way: str) -> None:
    name, before = f"new-{way.lower()}", clients.changes()
    with frozen(clients):
        if way == "REST":
            body = {"stack_name": name, "template": template("net")}
            made = clients.rest("POST", "/stacks", body).json()["stack"]["id"]
        else:
            given = {"StackName": name, "TemplateBody": json.dumps(template("net")), "OnFailure": "DO_NOTHING"}
            made = clients.boto.create_stack(**given)["StackId"].rsplit("/", 1)[-1]
        clients.newest(made)
    refused(clients, made, "CREATE")
    assert clients.changes() == before


def test_rollbacks_are_checked_by_policies(clients: Clients) -> None:
    """RollbackStack and ContinueUpdateRollback, when only rollbacks are denied."""
    bad = {"type": "OS::Heat::TestResource", "properties": {"fail": True}, "depends_on": "net"}
    worse = template("net")
    worse["resources"] = {
        "net": {"type": "OS::Neutron::Net", "properties": {"name": "changed"}},
        "bad": bad,
    }
    made = clients.rest("POST", "/stacks", {"stack_name": "stuck", "template": template("net")}).json()["stack"]["id"]
    clients.newest(made)
    clients.boto.update_stack(StackName="stuck", TemplateBody=json.dumps(worse), DisableRollback=True)
    assert clients.newest(made).status == FAILED
    with frozen(clients):
        before = clients.changes()
        clients.boto.rollback_stack(StackName="stuck")
        refused(clients, made, "ROLLBACK")
        assert clients.changes() == before
    fault = clients.service.served.cloud.faults.add(Fault(on="PUT /network/v2.0/networks/*", do="fail", status=400))
    clients.boto.rollback_stack(StackName="stuck")
    assert clients.newest(made).status == FAILED
    clients.service.served.cloud.faults.remove(fault.id)
    with frozen(clients):
        before = clients.changes()
        clients.boto.continue_update_rollback(StackName="stuck")
        refused(clients, made, "ROLLBACK")
        assert clients.changes() == before
    clients.boto.continue_update_rollback(StackName="stuck")
    assert clients.newest(made).status == "COMPLETE"


@pytest.fixture(scope="module")
def scaled(clients: Clients) -> str:
    """The signed URL of the scaling policy of the stack `scaled`."""
    made = clients.rest("POST", "/stacks", {"stack_name": "scaled", "template": SCALING}).json()["stack"]["id"]
    assert clients.newest(made).status == "COMPLETE"
    return str(clients.call("stack_show", ref={"name": "scaled", "id": None})["outputs"][0]["output_value"])


def test_signals_are_checked_by_policies(clients: Clients, scaled: str) -> None:
    group, before = clients.group("scaled"), clients.changes()
    with frozen(clients):
        clients.rest("POST", f"{clients.path('scaled')}/resources/more/signal", {"current": "alarm"})
        refused(clients, group, "UPDATE")
        clients.alarm(scaled)
        refused(clients, group, "UPDATE")
    assert clients.changes() == before


# -- change windows ----------------------------------------------------------------------------------------------------


def closed(**more: Any) -> dict[str, Any]:
    """A change control whose freeze has begun."""
    now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    begin, end = (now + timedelta(hours=hours) for hours in (-1, 1))
    return {"freezes": [{"name": "sale", "start": begin.isoformat(), "end": end.isoformat()}], **more}


@contextmanager
def controlled(clients: Clients, name: str, control: dict[str, Any]) -> Iterator[None]:
    """While the changes of a stack need something, as a manager has said by REST."""
    path = f"{clients.path(name)}/settings/change_control"
    assert clients.rest("PUT", path, {"change_control": control}).status_code == 403
    assert clients.rest("PUT", path, {"change_control": control}, "boss").status_code == 200
    try:
        yield
    finally:
        assert clients.rest("DELETE", path, user="boss").status_code < 300


@pytest.mark.parametrize(("automatic", "by_url", "by_rest"), [("wait", 400, 409), ("refused", 403, 403)])
def test_alarms_obey_change_windows(clients: Clients, scaled: str, automatic: str, by_url: int, by_rest: int) -> None:
    """By the signed URL, by REST, and by SignalResource; the group is as it was until the freeze ends."""
    group = clients.group("scaled")
    before, newest = clients.changes(), clients.newest(group).id
    with controlled(clients, "scaled", closed(automatic=automatic)):
        assert clients.alarm(scaled) == by_url
        path = f"{clients.path('scaled')}/resources/more/signal"
        assert clients.rest("POST", path, {"current": "alarm"}).status_code == by_rest
        with pytest.raises(ClientError):
            clients.boto.signal_resource(StackName="scaled", LogicalResourceId="more", UniqueId="one", Status="SUCCESS")
        assert clients.newest(group).id == newest and clients.changes() == before
    assert clients.alarm(scaled) == 200
    clients.service.until(lambda: clients.newest(group).id != newest)
    assert clients.newest(group).status == "COMPLETE"


def test_boto3_and_rest_wait_for_change_window_or_use_emergency_override(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    made = clients.rest("POST", "/stacks", {"stack_name": "shop", "template": template("net")}).json()["stack"]["id"]
    clients.newest(made)
    changed = json.dumps(template("net", "two"))
    with controlled(clients, "shop", closed()):
        answer = clients.rest("PUT", clients.path("shop"), BODY)
        assert answer.status_code == 409 and answer.json()["error"]["type"] == "ChangeWindowClosed"
        with pytest.raises(ClientError, match="must not be changed until"):
            clients.boto.update_stack(StackName="shop", TemplateBody=changed)
        with pytest.raises(ClientError, match="must not be changed until"):
            clients.boto.delete_stack(StackName="shop")
        listed = clients.rest("GET", "/change_requests").json()["change_requests"]
        request, *_ = [each for each in listed if (each["stack_name"], each["action"]) == ("shop", "UPDATE")]
        path = f"/change_requests/{request['id']}/break_glass"
        assert clients.rest("POST", path, {"reason": "down"}, "second").status_code == 403, "a member may not"
        assert clients.rest("POST", path, {"reason": " "}, "boss").status_code == 400
        caplog.set_level(logging.WARNING, "stoker")
        assert clients.rest("POST", path, {"reason": "the shop is down"}, "boss").status_code == 200
        assert [each for each in caplog.records if "the shop is down" in each.getMessage()], "the audit log"
        clients.boto.update_stack(StackName="shop", TemplateBody=changed)
        assert clients.newest(made).status == "COMPLETE"
        with pytest.raises(ClientError, match="must not be changed until"):
            clients.boto.update_stack(StackName="shop", TemplateBody=json.dumps(template("net")))
    events = clients.rest("GET", f"{clients.path('shop')}/events").json()["events"]
    assert [each for each in events if "the shop is down" in str(each)]


def test_boto3_requires_two_approvals_of_the_plan(clients: Clients) -> None:
    """Approvals are of people other than the author, are counted, and are of one plan."""
    made = clients.rest("POST", "/stacks", {"stack_name": "bank", "template": template("net")}).json()["stack"]["id"]
    clients.newest(made)
    body = {"StackName": "bank", "TemplateBody": json.dumps(template("net", "two"))}
    with controlled(clients, "bank", {"approvals": [{"number": 2}]}):
        with pytest.raises(ClientError, match="needs the approval of 2 other people"):
            clients.boto.update_stack(**body)
        listed = clients.rest("GET", "/change_requests").json()["change_requests"]
        [request] = [each for each in listed if each["stack_name"] == "bank"]
        path, yes = f"/change_requests/{request['id']}/approval", {"verdict": "APPROVED"}
        assert clients.rest("PUT", path, yes).status_code == 403, "its author"
        for person, status in (("second", "WAITING"), ("boss", "APPROVED")):
            answer = clients.rest("PUT", path, yes, person)
            assert answer.json()["change_request"]["status"] == status, answer.text
        with pytest.raises(ClientError, match="needs the approval"):
            clients.boto.update_stack(StackName="bank", TemplateBody=json.dumps(template("net", "another")))
        clients.boto.update_stack(**body)
        assert clients.newest(made).status == "COMPLETE"
        assert clients.rest("GET", f"/change_requests/{request['id']}").json()["change_request"]["status"] == "USED"
