"""Lists of alarms: whose alarms they have, their conditions and their order; and how actions are kept."""

from __future__ import annotations

import json

import pytest

from openstack_emulator.testing import ServedCloud
from tests.emulator.alarming.test_alarms import BY_METRICS, EVENT, Client, rule

ALARMS = "/alarming/v2/alarms"
EVERYWHERE = f"{ALARMS}?q.field=all_projects&q.op=eq&q.value=true"


def test_administrators_list_the_alarms_of_all_projects_on_request(served: ServedCloud) -> None:
    client, administrator = Client(served), Client(served, "admin")
    own, other = client.alarm(**EVENT), administrator.alarm(**EVENT)

    def ids(who: Client, path: str) -> set[str]:
        return {alarm["alarm_id"] for alarm in who.call("GET", path).json}

    assert ids(administrator, ALARMS) == {other["alarm_id"]}
    assert ids(administrator, EVERYWHERE) == {own["alarm_id"], other["alarm_id"]}
    of_project = f"{ALARMS}?q.field=project_id&q.op=eq&q.value="
    assert ids(administrator, of_project + own["project_id"]) == {own["alarm_id"]}
    assert client.call("GET", EVERYWHERE).status == 403
    assert client.call("GET", of_project + other["project_id"]).status == 401


def test_the_history_is_searched_by_the_alarm(served: ServedCloud) -> None:
    client = Client(served)
    own, other = client.alarm(**EVENT), client.alarm(**EVENT)
    history, search = f"{ALARMS}/{own['alarm_id']}/history", "/alarming/v2/query/alarms/history"
    found = client.call("POST", search, {"filter": json.dumps({"=": {"alarm_id": own["alarm_id"]}})}).json
    assert [entry["alarm_id"] for entry in found] == [own["alarm_id"]] and "severity" not in found[0]
    assert client.call("GET", f"{history}?q.field=alarm_id&q.op=eq&q.value={own['alarm_id']}").json == found
    assert client.call("POST", search, {"filter": json.dumps({"=": {"event_id": found[0]["event_id"]}})}).json == found
    assert client.call("POST", search, {"filter": json.dumps({"=": {"meter_name": "cpu"}})}).json == []
    assert other["alarm_id"] in {entry["alarm_id"] for entry in client.call("POST", search, {}).json}


@pytest.mark.parametrize(
    "query",
    [
        "q.field=name&q.op=gt&q.value=a",
        "q.field=timestamp&q.op=gt&q.value=2030-01-01",
        "q.field=colour&q.op=eq&q.value=red",
        "sort=colour:asc",
        "sort=name:upwards",
    ],
)
def test_an_unknown_condition_or_order_is_refused(served: ServedCloud, query: str) -> None:
    assert Client(served).call("GET", f"{ALARMS}?{query}").status == 400


def test_lists_are_sorted_by_several_fields(served: ServedCloud) -> None:
    client = Client(served)
    made = [client.alarm(**{**EVENT, "name": name}) for name in ("b", "a", "b")]
    expected = sorted((alarm["name"], alarm["alarm_id"]) for alarm in made)
    listed = client.call("GET", f"{ALARMS}?sort=name:asc&sort=alarm_id:asc").json
    assert [(alarm["name"], alarm["alarm_id"]) for alarm in listed] == expected
    assert client.call("GET", f"{ALARMS}?sort=name:desc").json[-1]["name"] == "a"


def test_duplicate_and_empty_actions_are_removed(served: ServedCloud) -> None:
    client = Client(served, "admin")
    actions = ["log://", "http://127.0.0.1:1/a", "log://", "http://127.0.0.1:1/a", "test://"]
    assert client.alarm(**EVENT, alarm_actions=actions)["alarm_actions"] == ["log:", "http://127.0.0.1:1/a", "test:"]
    wrong = {"name": "x", "type": BY_METRICS, f"{BY_METRICS}_rule": rule("m", aggregation_method="magic")}
    assert client.call("POST", ALARMS, wrong).status == 400
