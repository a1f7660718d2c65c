"""Wait conditions, their handles, and the users that the handles are signalled by."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue
from stoker.cloud.session import Cloud
from stoker.plugins import capabilities
from stoker.plugins.outcome import Done, Failed, InProgress
from stoker.plugins.resource import Neighbour, StackFacts
from stoker.resources.heat.signals.wait_condition import WaitCondition, evaluate_signals
from stoker.resources.heat.signals.wait_condition_handle import WaitConditionHandle
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import ActionFailed, Bench, Resource

HANDLE = "OS::Heat::WaitConditionHandle"


@pytest.fixture
def stack(cloud: Cloud) -> StackFacts:
    project = cloud.project_id or ""
    return StackFacts("stack-1", "web", project, "root-1", f"arn:openstack:heat::{project}:stacks/web/stack-1")


@pytest.fixture
def handles(cloud: Cloud, clock: ManualClock, served: ServedCloud, stack: StackFacts) -> Bench:
    return Bench(WaitConditionHandle, cloud, clock, served.advance, stack)


@dataclass
class Domain:
    """What is in the domain of stacks' users, as its administrator sees it."""

    cloud: Cloud

    async def users(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = await self.cloud.list("keystone", "/users", "users", {"domain_id": "heat"})
        return [user for user in listed if user["name"] != "heat_domain_admin"]

    async def projects(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = await self.cloud.list("keystone", "/projects", "projects", {"domain_id": "heat"})
        return listed


@pytest.fixture
async def domain(cloud: Cloud) -> Domain:
    return Domain(await cloud.as_stack_domain_admin())


# -- users --------------------------------------------------------------------------------------------------------


async def test_user_and_project_are_created(handles: Bench, domain: Domain, stack: StackFacts) -> None:
    resource = await handles.create({})
    (user,) = await domain.users()
    (project,) = await domain.projects()
    assert resource.physical_id == user["id"] == resource.data["user_id"] == handles.reference(resource)
    assert user["name"] == handles.call(resource, "READ", {}).physical_name
    assert user["default_project_id"] == project["id"] == resource.data["stack_user_project_id"]
    assert project["name"] == f"{stack.project_id}-root-1"


@pytest.mark.parametrize("interrupted", ["after the project", "after the user"])
async def test_deletion_finds_the_project_of_an_interrupted_creation(
    handles: Bench, domain: Domain, stack: StackFacts, interrupted: str
) -> None:
    name = f"{stack.project_id}-root-1"
    body = {"project": {"name": name, "domain_id": "heat"}}
    made = (await domain.cloud.post("keystone", "/projects", body))["project"]["id"]
    resource = handles.resource()
    await handles.delete(resource)
    assert "stack_user_project_id" not in resource.data, "nothing was begun"
    resource.data["password"] = "chosen-before-anything-is-made"
    if interrupted == "after the user":
        user = {"name": "somebody", "domain_id": "heat", "default_project_id": made}
        resource.physical_id = (await domain.cloud.post("keystone", "/users", {"user": user}))["user"]["id"]
    await handles.delete(resource)
    assert resource.data["stack_user_project_id"] == made
    assert await domain.users() == []


async def test_second_handle_shares_the_project(handles: Bench, domain: Domain) -> None:
    one = await handles.create({}, "one")
    two = await handles.create({}, "two")
    assert one.data["stack_user_project_id"] == two.data["stack_user_project_id"]
    assert len(await domain.projects()) == 1
    assert len(await domain.users()) == 2


async def test_project_that_the_engine_has_recorded_is_used(handles: Bench, domain: Domain, stack: StackFacts) -> None:
    first = await handles.create({}, "first")
    known = first.data["stack_user_project_id"]
    handles.stack = StackFacts("other", "other", stack.project_id, "other", "arn", user_project_id=known)
    second = await handles.create({}, "second")
    assert second.data["stack_user_project_id"] == known


@pytest.mark.parametrize("entries", [1, 2, 3])
async def test_lost_responses_leave_one_user(handles: Bench, domain: Domain, entries: int) -> None:
    """Every call is repeated and its first outcome discarded, as by an engine that dies after the request."""
    resource = handles.resource()
    resource.properties = await handles.finalized({})
    for _ in range(entries):
        await handles.kind.create(handles.call(resource, "CREATE", resource.properties))
        lost = handles.call(resource, "CREATE", resource.properties)
        resource.physical_id = resource.physical_id or await handles.kind.find(lost)
    resource.data.pop("stack_user_project_id", None)
    await handles.run("create", resource)
    assert len(await domain.users()) == 1
    assert len(await domain.projects()) == 1


async def test_user_is_disabled_and_deleted(handles: Bench, domain: Domain, served: ServedCloud) -> None:
    """The key pair is deleted with the user, without a request of its own."""
    resource = await handles.create({"signal_transport": "CFN_SIGNAL"})
    pair = f"/credentials/{resource.data['credential_id']}"
    assert (await domain.cloud.get("keystone", pair))["credential"]["user_id"] == resource.physical_id
    await handles.run("suspend", resource)
    assert [user["enabled"] for user in await domain.users()] == [False]
    await handles.run("resume", resource)
    assert [user["enabled"] for user in await domain.users()] == [True]
    await handles.delete(resource)
    assert await domain.users() == []
    assert (await domain.cloud.request("GET", "keystone", pair, ok=(404,))).status == 404
    entries = served.do(lambda: served.cloud.journal.select({"method": "DELETE"}))
    assert [entry["path"].rpartition("/")[0] for entry in entries] == ["/identity/v3/users"]
    await handles.delete(resource)


async def test_handle_that_never_got_its_user(handles: Bench, served: ServedCloud) -> None:
    await handles.delete(handles.resource())
    assert served.do(lambda: list(served.cloud.journal.select({"method": "DELETE"}))) == []


# -- transports ---------------------------------------------------------------------------------------------------


async def test_token_signal(handles: Bench, served: ServedCloud) -> None:
    resource = await handles.create({}, "wait")
    project = resource.data["stack_user_project_id"]
    endpoint = f"http://orchestration.test:8004/v1/{project}/stacks/web/stack-1/resources/wait/signal"
    values = await handles.attributes(resource, [("token",), ("endpoint",), ("curl_cli",), ("signal",)])
    assert values[("endpoint",)] == endpoint
    assert values[("signal",)] == "null"
    token = values[("token",)]
    assert values[("curl_cli",)] == (
        f"curl -i -X POST -H 'X-Auth-Token: {token}' -H 'Content-Type: application/json' "
        f"-H 'Accept: application/json' {endpoint}"
    )
    shown = served.call(
        "GET", "/identity/v3/auth/tokens", token=served.token(), headers={"X-Subject-Token": token}
    ).json["token"]
    assert shown["project"]["id"] == project
    assert [role["name"] for role in shown["roles"]] == ["heat_stack_user"]


async def test_heat_signal(handles: Bench, served: ServedCloud, domain: Domain) -> None:
    resource = await handles.create({"signal_transport": "HEAT_SIGNAL"}, "wait")
    signal = json.loads(await handles.attribute(resource, "signal"))
    (user,) = await domain.users()
    assert signal["alarm_url"].endswith(f"/{signal['project_id']}/stacks/web/stack-1/resources/wait/signal")
    assert signal["domain_id"] == user["domain_id"]
    assert signal["username"] == user["name"]
    assert signal.keys() == {
        *("alarm_url", "auth_url", "username", "user_id", "password", "project_id", "domain_id", "region_name")
    }
    identity = {
        "methods": ["password"],
        "password": {"user": {"id": signal["user_id"], "password": signal["password"]}},
    }
    body = {"auth": {"identity": identity, "scope": {"project": {"id": signal["project_id"]}}}}
    assert served.call("POST", "/identity/v3/auth/tokens", body).status == 201
    assert await handles.attribute(resource, "token") is None
    assert await handles.attribute(resource, "curl_cli") is None


async def test_cfn_signal_is_signed_as_keystone_checks_it(handles: Bench, served: ServedCloud) -> None:
    resource = await handles.create({"signal_transport": "CFN_SIGNAL"}, "wait")
    url = json.loads(await handles.attribute(resource, "signal"))["alarm_url"]
    place = urlsplit(url)
    parameters = dict(parse_qsl(place.query))
    assert place.netloc == "orchestration.test:8000"
    assert unquote(place.path) == f"/v1/waitcondition/{handles.stack.arn}/resources/wait"
    assert "Timestamp" in parameters
    given = parameters.pop("Signature")
    credentials = {
        "access": parameters["AWSAccessKeyId"],
        "signature": given,
        "host": place.netloc,
        "verb": "PUT",
        "path": unquote(place.path),
        "params": parameters,
    }
    answer = served.call("POST", "/identity/v3/ec2tokens", {"credentials": credentials}, token=served.token())
    assert answer.status == 200, answer.json
    assert answer.json["token"]["user"]["id"] == resource.physical_id
    assert answer.json["token"]["project"]["id"] == resource.data["stack_user_project_id"]
    before = dict(resource.data)
    await handles.run("create", resource)
    assert {key: resource.data[key] for key in ("access_key", "credential_id")} == {
        key: before[key] for key in ("access_key", "credential_id")
    }


async def test_no_signal(handles: Bench) -> None:
    resource = await handles.create({"signal_transport": "NO_SIGNAL"})
    assert await handles.attribute(resource, "signal") == "{}"


# -- signals ------------------------------------------------------------------------------------------------------


async def send(bench: Bench, resource: Resource, details: dict[str, Any] | None) -> str:
    call = bench.call(resource, "SIGNAL", resource.properties)
    reason = await capabilities.signal(bench.kind, call, details)
    resource.metadata = call.metadata
    return reason


async def test_signals_are_stored(local: Callable[..., Bench]) -> None:
    bench = local(WaitConditionHandle)
    resource = bench.resource()
    assert await send(bench, resource, None) == "status:SUCCESS reason:Signal 1 received"
    await send(bench, resource, {"id": 5, "data": [1], "reason": "good", "status": "SUCCESS"})
    assert await send(bench, resource, {"id": "5", "status": "FAILURE"}) == "status:FAILURE reason:Signal 5 received"
    assert resource.metadata == {
        "1": {"status": "SUCCESS", "data": None, "reason": "Signal 1 received"},
        "5": {"status": "FAILURE", "data": None, "reason": "Signal 5 received"},
    }


@pytest.mark.parametrize("details", [{"status": "success"}, {"state": "SUCCESS"}])
async def test_malformed_signals(local: Callable[..., Bench], details: dict[str, Any]) -> None:
    bench = local(WaitConditionHandle)
    with pytest.raises(BadValue):
        await send(bench, bench.resource(), details)


# -- waiting ------------------------------------------------------------------------------------------------------


@dataclass
class OneNeighbour:
    """See plugins.resource.Neighbours."""

    neighbour: Neighbour
    reference: str = "handle-ref"

    async def by_reference(self, reference_id: Any) -> Neighbour | None:
        return self.neighbour if reference_id == self.reference else None

    async def by_name(self, name: str) -> Neighbour | None:
        return self.neighbour if name == self.neighbour.name else None

    async def collect(self, reference_id: Any) -> None:
        """What there is has been taken."""


@dataclass
class Signals:
    """A handle's metadata under construction."""

    metadata: dict[str, Any] = field(default_factory=dict)

    def add(self, status: str = "SUCCESS", reason: str = "fine", data: Any = None) -> Signals:
        self.metadata[str(len(self.metadata) + 1)] = {"status": status, "reason": reason, "data": data}
        return self

    def handle(self, kind: str = HANDLE, transport: str = "TOKEN_SIGNAL") -> Neighbour:
        return Neighbour("handle", kind, "user", self.metadata, {"signal_transport": transport})


def test_enough_signals() -> None:
    signals = Signals()
    assert evaluate_signals(signals.handle(), 2, 60, 0) == InProgress(after=60)
    assert evaluate_signals(signals.add().handle(), 2, 60, 0) == InProgress(after=60)
    assert evaluate_signals(signals.add().handle(), 2, 60, 0) == Done()


def test_one_failure_fails() -> None:
    signals = Signals().add().add("FAILURE", "disk").add("FAILURE", "net")
    assert evaluate_signals(signals.handle(), 9, 60, 0) == Failed("disk;net", "Failure")


def test_the_timeout_takes_precedence() -> None:
    signals = Signals().add(reason="a").add(reason="b")
    assert evaluate_signals(signals.handle(), 3, 0, 0) == Failed("2 of 3 received: a;b", "Timeout")
    assert evaluate_signals(Signals().handle(), 3, 0, 0) == Failed("0 of 3 received", "Timeout")


def test_handle_without_signals_is_not_waited_for() -> None:
    assert evaluate_signals(Signals().handle(transport="NO_SIGNAL"), 3, 60, 0) == Done()


@pytest.mark.parametrize("transport", ["TEMP_URL_SIGNAL", "ZAQAR_SIGNAL"])
def test_signals_that_another_service_stores_are_polled_less_and_less_often(transport: str) -> None:
    handle = Signals().handle(transport=transport)
    pauses = [(0, 0.25), (1, 0.25), (8, 2.0), (20, 5.0), (3600, 5.0)]
    assert [evaluate_signals(handle, 1, 60, elapsed) for elapsed, _ in pauses] == [
        InProgress(after=pause) for _, pause in pauses
    ]
    assert evaluate_signals(handle, 1, 3, 3600) == InProgress(after=3), "not beyond the timeout"


def test_signals_with_the_keys_of_cloudformation() -> None:
    signals = Signals({"a": {"Status": "FAILURE", "Reason": "no", "Data": 1}})
    assert evaluate_signals(signals.handle(), 1, 60, 0) == Failed("no", "Failure")


def test_metadata_of_the_template_is_not_a_signal() -> None:
    assert evaluate_signals(Signals({"purpose": {"text": "x"}, "note": "y"}).handle(), 1, 60, 0) == InProgress(after=60)


async def test_condition_waits_until_its_timeout(local: Callable[..., Bench]) -> None:
    bench = local(WaitCondition, neighbours=OneNeighbour(Signals().handle()))
    began = bench.clock.now()
    with pytest.raises(ActionFailed, match="WaitConditionTimeout"):
        await bench.create({"handle": "handle-ref", "timeout": 90})
    assert bench.clock.now() == began + 90


async def test_condition_is_met_and_then_needs_more_signals(local: Callable[..., Bench]) -> None:
    signals = Signals().add(data={"a": 1})
    bench = local(WaitCondition, neighbours=OneNeighbour(signals.handle()))
    resource = await bench.create({"handle": "handle-ref", "timeout": 90})
    assert json.loads(await bench.attribute(resource, "data")) == {"1": {"a": 1}}
    assert bench.reference(resource) == "thing"
    with pytest.raises(
        ActionFailed, match=r"1 of 2 received: fine\. The console log .* openstack console log show SERVER"
    ):
        await bench.update(resource, {"handle": "handle-ref", "timeout": 90, "count": 2})


@pytest.mark.parametrize("kind", ["OS::Heat::Value", HANDLE])
async def test_condition_on_other_handle_is_refused(local: Callable[..., Bench], kind: str) -> None:
    reference = "handle-ref" if kind != HANDLE else "other"
    bench = local(WaitCondition, neighbours=OneNeighbour(Signals().handle(kind), reference))
    with pytest.raises(ActionFailed, match="ValueError: 'handle-ref' is not the reference of a wait condition handle"):
        await bench.create({"handle": "handle-ref", "timeout": 90})
    resource = bench.resource()
    resource.properties = await bench.finalized({"handle": "handle-ref", "timeout": 90})
    assert await bench.attribute(resource, "data") == ""
