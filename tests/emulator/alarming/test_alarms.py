"""Alarms over HTTP: their bodies, states, evaluation and actions."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

EVENT = {"name": "down", "type": "event", "event_rule": {"event_type": "compute.*"}}


class Hook:
    """A web hook on a loopback port: the bodies and headers that it was sent."""

    def __init__(self) -> None:
        received: queue.Queue[tuple[dict[str, Any], dict[str, str]]] = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.put((json.loads(body), dict(self.headers)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                """Print nothing."""

        self.received = received
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self.server.server_address[1]}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self) -> tuple[dict[str, Any], dict[str, str]]:
        return self.received.get(timeout=10)


@pytest.fixture
def hook() -> Iterator[Hook]:
    running = Hook()
    yield running
    running.server.shutdown()
    running.server.server_close()


class Client:
    """A client of the alarming and metric services."""

    def __init__(self, served: ServedCloud, user: str = "demo", project: str | None = None) -> None:
        self.served, self.user, self.project = served, user, project or user

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        return self.served.call(method, path, body, self.served.token(self.user, self.project))

    def alarm(self, **fields: Any) -> dict[str, Any]:
        answer = self.call("POST", "/alarming/v2/alarms", fields)
        assert answer.status == 201, answer.content
        made: dict[str, Any] = answer.json
        return made

    def shown(self, alarm: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/alarming/v2/alarms/{alarm['alarm_id']}").json
        return found

    def metric(self, policy: str = "high") -> str:
        answer = self.call("POST", "/metric/v1/metric", {"name": "load", "archive_policy_name": policy})
        assert answer.status == 201, answer.content
        return str(answer.json["id"])

    def measure(self, metric: str, *values: float) -> None:
        """Post values, one for each minute up to now."""
        now = self.served.do(self.served.cloud.clock.now)
        measures = [{"timestamp": now - 60 * (len(values) - 1 - at), "value": value} for at, value in enumerate(values)]
        assert self.call("POST", f"/metric/v1/metric/{metric}/measures", measures).status == 202


@pytest.fixture
def client(served: ServedCloud) -> Client:
    return Client(served)


def rule(metric: str, **fields: Any) -> dict[str, Any]:
    given = {"metrics": [metric], "threshold": 50, "comparison_operator": "gt", "aggregation_method": "mean"}
    return {**given, "evaluation_periods": 2, **fields}


BY_METRICS = "gnocchi_aggregation_by_metrics_threshold"


def test_an_alarm_is_created_changed_listed_and_deleted(client: Client) -> None:
    made = client.alarm(**EVENT, severity="critical")
    assert (made["state"], made["enabled"], made["repeat_actions"]) == ("insufficient data", True, False)
    assert made["event_rule"] == {"event_type": "compute.*", "query": []}
    listed = client.call("GET", "/alarming/v2/alarms?q.field=name&q.op=eq&q.value=down").json
    assert [alarm["alarm_id"] for alarm in listed] == [made["alarm_id"]]
    assert client.call("GET", "/alarming/v2/alarms?q.field=name&q.op=eq&q.value=up").json == []
    place = f"/alarming/v2/alarms/{made['alarm_id']}"
    changed = client.call("PUT", place, {**made, "enabled": False}).json
    assert (changed["enabled"], changed["severity"]) == (False, "critical")
    search = {"filter": json.dumps({"and": [{"=": {"severity": "critical"}}, {"=": {"enabled": False}}]})}
    assert len(client.call("POST", "/alarming/v2/query/alarms", search).json) == 1
    assert client.call("DELETE", place).status == 204
    gone = client.call("GET", place)
    assert (gone.status, gone.json["error_message"]["faultcode"]) == (404, "Client")
    history = client.call("GET", f"{place}/history").json
    assert [entry["type"] for entry in history] == ["deletion", "rule change", "creation"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "type": "event", "threshold_rule": {"meter_name": "cpu", "threshold": 1}},
        {"name": "x", "type": "event"},
        {"name": "x", "type": "unknown", "unknown_rule": {}},
        {**EVENT, "alarm_actions": ["ftp://127.0.0.1/"]},
        {**EVENT, "severity": "high"},
        {**EVENT, "time_constraints": [{"name": "n", "start": "never", "duration": 1}]},
        {"name": "x", "type": BY_METRICS, f"{BY_METRICS}_rule": {"metrics": [], "threshold": "many"}},
        {"name": "x", "type": "composite", "composite_rule": {"xor": []}},
        {"name": "x", "type": "composite", "composite_rule": {"or": [{"type": "event"}]}},
        {**EVENT, "colour": "red"},
        [],
    ],
)
def test_an_invalid_alarm_is_refused(client: Client, body: Any) -> None:
    answer = client.call("POST", "/alarming/v2/alarms", body)
    assert answer.status == 400, answer.content
    assert answer.json["error_message"]["faultstring"]
    assert client.call("GET", "/alarming/v2/alarms").json == []


def test_default_description_names_the_alarm_type(client: Client) -> None:
    kind = "loadbalancer_member_health"
    fields = {"pool_id": "p", "stack_id": "s", "autoscaling_group_id": "g"}
    assert client.alarm(name="members", type=kind, **{f"{kind}_rule": fields})["description"] == f"{kind} alarm rule"
    assert client.alarm(**EVENT)["description"] == "Alarm when compute.* event occurred."
    assert client.alarm(**EVENT, description="words")["description"] == "words"


def test_a_threshold_is_a_number_that_is_finite(client: Client) -> None:
    body = {"name": "x", "type": BY_METRICS, f"{BY_METRICS}_rule": rule("m", threshold="5.5")}
    assert client.call("POST", "/alarming/v2/alarms", body).json[f"{BY_METRICS}_rule"]["threshold"] == 5.5
    for wrong in ("inf", "nan", "high", True, [1]):
        body[f"{BY_METRICS}_rule"] = rule("m", threshold=wrong)
        assert client.call("POST", "/alarming/v2/alarms", body).status == 400


def test_projects_see_their_own_alarms_and_have_quotas(served: ServedCloud, client: Client) -> None:
    other = Client(served, "admin")
    hidden = other.alarm(**EVENT)
    assert client.call("GET", "/alarming/v2/alarms").json == []
    assert client.call("GET", f"/alarming/v2/alarms/{hidden['alarm_id']}").status == 404
    project = client.alarm(**EVENT)["project_id"]
    quota = {"project_id": project, "quotas": [{"resource": "alarms", "limit": 1}]}
    assert client.call("POST", "/alarming/v2/quotas", quota).status == 403
    assert other.call("POST", "/alarming/v2/quotas", quota).status == 201
    refused = client.call("POST", "/alarming/v2/alarms", EVENT)
    assert (refused.status, "quota" in refused.json["error_message"]["faultstring"]) == (403, True)


def test_metric_threshold_alarm_changes_state(served: ServedCloud, client: Client, hook: Hook) -> None:
    metric = client.metric()
    url = f"http://{hook.place}"
    alarm = client.alarm(
        name="load", type=BY_METRICS, alarm_actions=[url], ok_actions=[url], **{f"{BY_METRICS}_rule": rule(metric)}
    )
    served.advance(60)
    assert client.shown(alarm)["state"] == "insufficient data"
    client.measure(metric, 90, 80)
    served.advance(60)
    assert client.shown(alarm)["state"] == "alarm"
    body, _ = hook.next()
    assert (body["alarm_id"], body["previous"], body["current"]) == (alarm["alarm_id"], "insufficient data", "alarm")
    client.measure(metric, 10)
    served.advance(60)
    assert client.shown(alarm)["state"] == "alarm", "no trend: one value on each side"
    client.measure(metric, 10)
    served.advance(60)
    assert client.shown(alarm)["state"] == "ok"
    assert hook.next()[0]["current"] == "ok"


def test_actions_are_repeated_if_asked_for(served: ServedCloud, client: Client, hook: Hook) -> None:
    metric = client.metric()
    client.measure(metric, 90, 90, 90)
    fields = {f"{BY_METRICS}_rule": rule(metric, evaluation_periods=1), "alarm_actions": [f"http://{hook.place}"]}
    client.alarm(name="load", type=BY_METRICS, repeat_actions=True, **fields)
    served.advance(60)
    client.measure(metric, 90)
    served.advance(60)
    assert [hook.next()[0]["previous"] for _ in range(2)] == ["insufficient data", "alarm"]


def test_a_composite_alarm(served: ServedCloud, client: Client) -> None:
    high, low = client.metric(), client.metric()
    parts = [{"type": BY_METRICS, **rule(metric, evaluation_periods=1)} for metric in (high, low)]
    both = client.alarm(name="both", type="composite", composite_rule={"and": parts})
    either = client.alarm(name="either", type="composite", composite_rule={"or": parts})
    client.measure(high, 90)
    client.measure(low, 10)
    served.advance(60)
    assert (client.shown(both)["state"], client.shown(either)["state"]) == ("ok", "alarm")


def test_an_alarm_is_evaluated_in_its_periods_only(served: ServedCloud, client: Client) -> None:
    metric = client.metric()
    hour = 3600
    morning = [{"name": "morning", "start": "0 8 * * *", "duration": hour, "timezone": "UTC"}]
    fields = {f"{BY_METRICS}_rule": rule(metric, evaluation_periods=1), "time_constraints": morning}
    alarm = client.alarm(name="load", type=BY_METRICS, **fields)
    now = served.do(served.cloud.clock.now)
    served.advance(7.5 * hour - now % (24 * hour) + 24 * hour)
    client.measure(metric, 90)
    served.advance(60)
    assert client.shown(alarm)["state"] == "insufficient data"
    served.advance(0.6 * hour)
    client.measure(metric, 90)
    served.advance(60)
    assert client.shown(alarm)["state"] == "alarm"


def test_alarms_can_be_evaluated_at_once(served: ServedCloud, client: Client) -> None:
    metric = client.metric()
    fields = {f"{BY_METRICS}_rule": rule(metric, evaluation_periods=1)}
    alarm = client.alarm(name="load", type=BY_METRICS, **fields)
    client.measure(metric, 90)
    for state in ("alarm", "ok"):
        assert served.call("POST", "/control/evaluations").status == 202
        served.advance(1)
        assert client.shown(alarm)["state"] == state
        client.measure(metric, 1)
    pending = served.do(lambda: list(served.cloud.store.tables["core", "transitions"]))
    assert [change.method for change in pending].count("evaluate_all") == 1, (
        "one regular evaluation is scheduled, as before"
    )


def test_events_raise_alarms_that_match(served: ServedCloud, client: Client) -> None:
    query = [{"field": "traits.state", "op": "eq", "value": "error"}]
    alarm = client.alarm(name="down", type="event", event_rule={"event_type": "compute.*", "query": query})
    for kind, state in (("network.create", "error"), ("compute.update", "active")):
        event = {"project_id": alarm["project_id"], "event_type": kind, "traits": {"state": state}}
        assert served.call("POST", "/control/events", event).status == 202
        served.advance(1)
        assert client.shown(alarm)["state"] == "insufficient data"
    event = {"project_id": alarm["project_id"], "event_type": "compute.update", "traits": {"state": "error"}}
    served.call("POST", "/control/events", event)
    served.advance(1)
    assert client.shown(alarm)["state"] == "alarm"


def test_an_action_with_a_trust_carries_a_token_of_the_user(served: ServedCloud, client: Client, hook: Hook) -> None:
    alarm = client.alarm(**EVENT, alarm_actions=[f"trust+http://{hook.place}", "http://127.0.0.1:1/"])
    trusts = client.call("GET", "/identity/v3/OS-TRUST/trusts?trustor_user_id=" + alarm["user_id"]).json["trusts"]
    assert len(trusts) == 1
    assert alarm["alarm_actions"][0] == f"trust+http://{hook.place}"
    place = f"/alarming/v2/alarms/{alarm['alarm_id']}"
    assert client.call("PUT", f"{place}/state", "alarm").json == "alarm"
    body, headers = hook.next()
    assert body["current"] == "alarm"
    token = headers["X-Auth-Token"]
    assert served.call("GET", "/alarming/v2/alarms", None, token).json[0]["alarm_id"] == alarm["alarm_id"]
    client.call("PUT", place, {**client.shown(alarm), "alarm_actions": []})
    assert served.call("GET", "/alarming/v2/alarms", None, token).status == 401


def test_alarm_trust_is_hidden_from_other_users(served: ServedCloud, client: Client, hook: Hook) -> None:
    """Another user of the project neither sees the trust of an alarm nor gets its token."""
    actions = [f"trust+http://{hook.place}", "trust+zaqar://?queue_name=alarms"]
    alarm = client.alarm(**EVENT, alarm_actions=actions)
    trusts = client.call("GET", "/identity/v3/OS-TRUST/trusts?trustor_user_id=" + alarm["user_id"]).json["trusts"]
    place = f"/alarming/v2/alarms/{alarm['alarm_id']}"
    client.call("PUT", place, {**client.shown(alarm), "description": "changed"})
    for path in (place, "/alarming/v2/alarms", f"{place}/history"):
        answer = client.call("GET", path)
        assert answer.status == 200
        assert not [trust["id"] for trust in trusts if trust["id"] in answer.content.decode()]
    assert client.shown(alarm)["alarm_actions"] == actions
    other = Client(served, "admin", "demo")
    theirs = f"trust+http://{trusts[0]['id']}@{hook.place}"
    body = {"name": "theirs", "type": "event", "event_rule": {}, "alarm_actions": [theirs]}
    assert other.call("POST", "/alarming/v2/alarms", body).status == 401
    kept = {**client.shown(alarm), "alarm_actions": [theirs]}
    assert other.call("PUT", place, kept).status == 401
    other.call("PUT", place, {**client.shown(alarm), "alarm_actions": [f"trust+http://{hook.place}/theirs"]})
    client.call("PUT", f"{place}/state", "alarm")
    _, headers = hook.next()
    tokens = "/identity/v3/auth/tokens"
    sent = {"X-Subject-Token": headers["X-Auth-Token"]}
    user = served.call("GET", tokens, None, headers["X-Auth-Token"], sent).json["token"]["user"]
    assert user["name"] == "admin", "the user who chose the address"


@pytest.mark.parametrize(
    "bad",
    ["http://127.0.0.1:80x/", "http://127.0.0.1:99999999/", "http://127.0.0.1/a b\x7f", "http://[::1", "http:///"],
)
def test_invalid_action_url_does_not_stop_other_actions(client: Client, hook: Hook, bad: str) -> None:
    for name, action in (("bad", bad), ("good", f"http://{hook.place}/")):
        made = client.call("POST", "/alarming/v2/alarms", {**EVENT, "name": name, "alarm_actions": [action]})
        if made.status == 201:
            client.call("PUT", f"/alarming/v2/alarms/{made.json['alarm_id']}/state", "alarm")
    assert hook.next()[0]["alarm_name"] == "good"


def test_alarm_action_sends_queue_message(served: ServedCloud, client: Client) -> None:
    alarm = client.alarm(**EVENT, alarm_actions=["trust+zaqar://?queue_name=alarms"])
    client.call("PUT", f"/alarming/v2/alarms/{alarm['alarm_id']}/state", "alarm")
    headers = {"Client-ID": "11111111-1111-4111-8111-111111111111"}
    token = served.token("demo", "demo")
    found = served.call("GET", "/messaging/v2/queues/alarms/messages?echo=true", None, token, headers).json["messages"]
    assert [message["body"]["current"] for message in found] == ["alarm"]


def test_alarms_are_evaluated_after_a_disabled_one_is_enabled(served: ServedCloud, client: Client) -> None:
    metric = client.metric()
    fields = {f"{BY_METRICS}_rule": rule(metric, evaluation_periods=1)}
    alarm = client.alarm(name="load", type=BY_METRICS, enabled=False, **fields)
    client.measure(metric, 90)
    served.advance(60)
    assert client.shown(alarm)["state"] == "insufficient data"
    client.call("PUT", f"/alarming/v2/alarms/{alarm['alarm_id']}", {**client.shown(alarm), "enabled": True})
    client.measure(metric, 90)
    served.advance(60)
    assert client.shown(alarm)["state"] == "alarm"


def test_load_balancer_member_health_alarm(served: ServedCloud, client: Client) -> None:
    subnet = balanced_subnet(client)
    pool = {"name": "web", "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    body = {"loadbalancer": {"vip_subnet_id": subnet}}
    balancer = client.call("POST", "/load-balancer/v2.0/lbaas/loadbalancers", body).json["loadbalancer"]
    served.advance(10)
    body = {"pool": {**pool, "loadbalancer_id": balancer["id"]}}
    pool_id = client.call("POST", "/load-balancer/v2.0/lbaas/pools", body).json["pool"]["id"]
    served.advance(5)
    fields = {"pool_id": pool_id, "stack_id": "s", "autoscaling_group_id": "g"}
    kind = "loadbalancer_member_health"
    alarm = client.alarm(name="members", type=kind, **{f"{kind}_rule": fields})
    served.advance(60)
    assert "no members" in client.shown(alarm)["state_reason"]
    member = {"member": {"address": "10.61.0.77", "protocol_port": 80, "subnet_id": subnet}}
    assert client.call("POST", f"/load-balancer/v2.0/lbaas/pools/{pool_id}/members", member).status == 201
    served.advance(60)
    assert client.shown(alarm)["state"] == "ok", "nothing watches the members"
    monitor = {"pool_id": pool_id, "type": "HTTP", "delay": 5, "timeout": 3, "max_retries": 2}
    body = {"healthmonitor": monitor}
    assert client.call("POST", "/load-balancer/v2.0/lbaas/healthmonitors", body).status == 201
    served.advance(60)
    assert client.shown(alarm)["state"] == "alarm", "no port has the address of the member"


def balanced_subnet(client: Client) -> str:
    """Create a network with a subnet, and return the subnet's ID."""
    network = client.call("POST", "/network/v2.0/networks", {"network": {"name": "lb"}}).json["network"]
    fields = {"network_id": network["id"], "cidr": "10.61.0.0/24", "ip_version": 4}
    return str(client.call("POST", "/network/v2.0/subnets", {"subnet": fields}).json["subnet"]["id"])


def test_an_alarm_on_one_resource_counts_its_measures(client: Client, served: ServedCloud) -> None:
    """The metric of one resource is not aggregated with others: its count is the number of measures in a period."""
    resource = {"id": "disk", "metrics": {"io": {"archive_policy_name": "high"}}}
    assert client.call("POST", "/metric/v1/resource/volume", resource).status == 201
    moment = served.do(served.cloud.clock.now) // 60 * 60
    measures = [{"timestamp": moment + at, "value": 1} for at in range(3)]
    path = "/metric/v1/resource/volume/disk/metric/io/measures"
    assert client.call("POST", path, measures).status == 202
    given = {"metric": "io", "resource_type": "volume", "resource_id": "disk", "threshold": 2, "granularity": 60}
    counted = {**given, "comparison_operator": "gt", "aggregation_method": "count", "evaluation_periods": 1}
    kind = "gnocchi_resources_threshold"
    alarm = client.alarm(name="busy", type=kind, **{f"{kind}_rule": counted})
    served.advance(60)
    assert client.shown(alarm)["state"] == "alarm"
