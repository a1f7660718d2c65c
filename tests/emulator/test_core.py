"""The core through HTTP, with a tiny service that makes widgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import RemoteDisconnected
from pathlib import Path
from typing import Any, ClassVar

import pytest

from openstack_emulator.core.cloud import Cloud, Microversions, Records, Routes, Service, new_id
from openstack_emulator.core.control import CONTROL
from openstack_emulator.core.errors import ApiError, conflict, fault_body
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.typed import TypedRecord, named, to_public
from openstack_emulator.identity.service import IDENTITY
from openstack_emulator.testing import Answer, ServedCloud
from stoker_foundation.clock import ManualClock

WIDGETS = "/widget/v1/widgets"


@dataclass(slots=True, kw_only=True, eq=False)
class Widget(TypedRecord):
    """What the service keeps."""

    name: str
    project_id: str
    status: str
    secret: str = field(metadata=named("_secret"))


class WidgetRecords(Records):
    service = "widget"
    not_found_messages: ClassVar = {"widgets": "Widget {} could not be found."}

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.widgets = self.table("widgets", Widget, "name")

    def create(self, name: str, project_id: str) -> Widget:
        if self.widgets.first(name=name) is not None:
            raise conflict(f"Widget {name} exists.")
        record = self.widgets.add(Widget(id=new_id(), name=name, project_id=project_id, status="BUILD", secret="x"))
        self.change_later(2.0, self.widgets, record, {"status": "ACTIVE"}, {"status": "ERROR"})
        return record


def create(records: WidgetRecords, request: Request) -> Response:
    record = records.create(request.object("widget")["name"], request.context.project)
    return Response({"widget": to_public(record)}, 201)


def show(records: WidgetRecords, request: Request) -> Response:
    return Response({"widget": to_public(records.widgets.require(request.vars["widget_id"]))})


def index(records: WidgetRecords, request: Request) -> Response:
    return Response({"widgets": [to_public(r) for r in records.widgets]})


def delete(records: WidgetRecords, request: Request) -> Response:
    records.widgets.remove(records.widgets.require(request.vars["widget_id"]))
    return Response(status=204)


def crash(records: WidgetRecords, request: Request) -> Response:
    raise RuntimeError("a bug")


def version(records: WidgetRecords, request: Request) -> Response:
    return Response({"version": list(request.version)})


def rest(records: WidgetRecords, request: Request) -> Response:
    return Response({"rest": request.vars["rest"]})


ROUTES: Routes = {
    "/widgets": {"GET": index, "POST": create},
    "/widgets/{widget_id}": {"GET": show, "DELETE": delete},
    "/widgets/version": {"GET": version},
    "/crash": {"GET": crash},
    "/rest/{rest:*}": {"GET": rest},
}
WIDGET = Service(
    name="widget",
    mount="/widget",
    records=WidgetRecords,
    endpoints={"widget": "/widget/v1/%(project_id)s"},
    routes=ROUTES,
    error_body=fault_body,
    prefixes=("/v1", "/v1/{project_id}"),
    public=frozenset({"GET /widgets/version"}),
    microversions=Microversions("widget", (1, 0), (1, 9), (1, 2), "X-Widget-Version"),
    request_id_header="x-widget-request-id",
)


def make_cloud(**options: Any) -> Cloud:
    return Cloud((IDENTITY, CONTROL, WIDGET), **options)


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(make_cloud(clock=ManualClock())) as running:
        yield running


def create_widget(served: ServedCloud, name: str = "one") -> Answer:
    return served.call("POST", WIDGETS, {"widget": {"name": name}}, served.token())


def add_fault(served: ServedCloud, **rule: Any) -> None:
    answer = served.call("POST", "/control/faults", {"on": f"POST {WIDGETS}", **rule})
    assert answer.status == 201, answer.content


def names(served: ServedCloud) -> list[str]:
    answer = served.call("GET", WIDGETS, token=served.token())
    return [widget["name"] for widget in answer.json["widgets"]]


def status_of(served: ServedCloud, key: str) -> str:
    status: str = served.call("GET", f"{WIDGETS}/{key}", token=served.token()).json["widget"]["status"]
    return status


def test_private_fields_are_not_shown(served: ServedCloud) -> None:
    widget = create_widget(served).json["widget"]
    assert widget.keys() == {"id", "name", "project_id", "status"}


def test_state_transitions_follow_the_clock(served: ServedCloud) -> None:
    key = create_widget(served).json["widget"]["id"]
    served.advance(1.9)
    assert status_of(served, key) == "BUILD"
    served.advance(0.2)
    assert status_of(served, key) == "ACTIVE"


def test_a_state_change_of_a_deleted_object_is_harmless(served: ServedCloud) -> None:
    key = create_widget(served).json["widget"]["id"]
    assert served.call("DELETE", f"{WIDGETS}/{key}", token=served.token()).status == 204
    served.advance(3)
    assert names(served) == []


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", f"{WIDGETS}/none", 404, "Widget none could not be found."),
        ("GET", "/widget/v1/none/such/path", 404, "The resource could not be found."),
        ("PATCH", WIDGETS, 405, "The method PATCH is not allowed for this resource."),
    ],
)
def test_errors_have_the_body_of_the_service(
    served: ServedCloud, method: str, path: str, status: int, message: str
) -> None:
    answer = served.call(method, path, token=served.token())
    assert answer.status == status
    assert answer.json == fault_body(ApiError(status, message))


def test_internal_error_has_the_error_body_of_the_service(
    served: ServedCloud, caplog: pytest.LogCaptureFixture
) -> None:
    answer = served.call("GET", "/widget/v1/crash", token=served.token())
    assert answer.status == 500
    assert answer.headers["x-openstack-request-id"] in answer.json["computeFault"]["message"]
    assert "a bug" in caplog.text
    assert "a bug" not in answer.json["computeFault"]["message"]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"widget": 1}', b""])
def test_a_malformed_body_is_a_400(served: ServedCloud, body: bytes) -> None:
    answer = served.call("POST", WIDGETS, body, served.token())
    assert answer.status == 400
    assert "badRequest" in answer.json


@pytest.mark.parametrize("token", [None, "gAAAAAwrong"])
def test_without_a_valid_token_the_answer_is_401(served: ServedCloud, token: str | None) -> None:
    answer = served.call("GET", WIDGETS, token=token)
    assert answer.status == 401
    assert answer.json["error"]["code"] == 401
    assert answer.headers["www-authenticate"] == f'Keystone uri="{served.url}/identity/v3"'


def test_every_prefix_serves_the_same_routes(served: ServedCloud) -> None:
    create_widget(served)
    answer = served.call("GET", "/widget/v1/some-project/widgets", token=served.token())
    assert [widget["name"] for widget in answer.json["widgets"]] == ["one"]


def test_the_rest_of_a_path_keeps_its_slashes(served: ServedCloud) -> None:
    answer = served.call("GET", "/widget/v1/rest/a%20b//c/", token=served.token())
    assert answer.json == {"rest": "a b//c/"}


@pytest.mark.parametrize(
    ("asked", "status", "served_version"),
    [
        ({}, 200, "1.2"),
        ({"OpenStack-API-Version": "widget 1.7"}, 200, "1.7"),
        ({"OpenStack-API-Version": "other 9.9"}, 200, "1.2"),
        ({"OpenStack-API-Version": "other 9.9, widget latest"}, 200, "1.9"),
        ({"X-Widget-Version": "1.0"}, 200, "1.0"),
        ({"OpenStack-API-Version": "widget 1.10"}, 406, None),
        ({"OpenStack-API-Version": "widget two"}, 400, None),
    ],
)
def test_microversions_are_negotiated(
    served: ServedCloud, asked: dict[str, str], status: int, served_version: str | None
) -> None:
    answer = served.call("GET", f"{WIDGETS}/version", headers=asked)
    assert answer.status == status
    if served_version is not None:
        assert answer.headers["openstack-api-version"] == f"widget {served_version}"
        assert answer.headers["x-widget-version"] == served_version
        assert answer.json == {"version": [int(n) for n in served_version.split(".")]}


def test_request_id_is_in_both_headers(served: ServedCloud) -> None:
    answer = served.call("GET", WIDGETS, token=served.token())
    assert answer.headers["x-openstack-request-id"].startswith("req-")
    assert answer.headers["x-widget-request-id"] == answer.headers["x-openstack-request-id"]


def test_the_fail_fault_answers_a_number_of_times_without_acting(served: ServedCloud) -> None:
    add_fault(served, do="fail", status=503, message="Busy.", after=1, times=1)
    assert [create_widget(served, name).status for name in ("a", "b", "c")] == [201, 503, 201]
    assert names(served) == ["a", "c"]


def test_a_rule_matches_fields_at_any_depth(served: ServedCloud) -> None:
    add_fault(served, do="fail", match={"name": "db*"})
    assert create_widget(served, "web").status == 201
    answer = create_widget(served, "db-1")
    assert answer.status == 500
    assert answer.json == {"computeFault": {"code": 500, "message": "A fault rule made this request fail."}}


def test_succeed_but_fail_fault_acts_and_reports_an_error(served: ServedCloud) -> None:
    add_fault(served, do="succeed_but_fail")
    assert create_widget(served).status == 503
    assert names(served) == ["one"]


def test_an_error_state_fault_affects_the_created_object_only(served: ServedCloud) -> None:
    before = create_widget(served, "before").json["widget"]["id"]
    add_fault(served, do="error_state", times=1)
    doomed = create_widget(served, "doomed").json["widget"]["id"]
    served.advance(3)
    assert status_of(served, doomed) == "ERROR"
    assert status_of(served, before) == "ACTIVE"


def test_rate_limit_sends_retry_after(served: ServedCloud) -> None:
    add_fault(served, do="rate_limit", seconds=7)
    answer = create_widget(served)
    assert (answer.status, answer.headers["retry-after"]) == (429, "7")


def test_rate_limit_allows_requests_per_period(served: ServedCloud) -> None:
    add_fault(served, do="rate_limit", seconds=10, allowed=2)
    assert [create_widget(served, name).status for name in ("a", "b", "c")] == [201, 201, 429]
    served.advance(10)
    assert [create_widget(served, name).status for name in ("d", "e", "f")] == [201, 201, 429]


@pytest.mark.parametrize(("do", "left"), [("drop", []), ("act_and_drop", ["one"])])
def test_a_connection_is_dropped_before_or_after_acting(served: ServedCloud, do: str, left: list[str]) -> None:
    add_fault(served, do=do)
    with pytest.raises((RemoteDisconnected, ConnectionError)):
        create_widget(served)
    assert names(served) == left
    [entry] = served.call("GET", f"/control/journal?path={WIDGETS}").json["requests"]
    assert entry["status"] is None


def test_faults_can_be_listed_and_removed(served: ServedCloud) -> None:
    add_fault(served, do="fail", times=3)
    [rule] = served.call("GET", "/control/faults").json["faults"]
    assert (rule["do"], rule["times"], rule["hits"]) == ("fail", 3, 0)
    assert served.call("DELETE", f"/control/faults/{rule['id']}").status == 204
    assert served.call("DELETE", f"/control/faults/{rule['id']}").status == 404
    assert create_widget(served).status == 201


@pytest.mark.parametrize(
    "rule",
    [
        {"on": "POST /x"},
        {"on": "POST", "do": "fail"},
        {"on": "POST /x", "do": "explode"},
        {"on": "POST /x", "do": "fail", "times": "1"},
        {"on": "POST /x", "do": "fail", "colour": 1},
    ],
)
def test_a_wrong_rule_is_refused(served: ServedCloud, rule: dict[str, Any]) -> None:
    assert served.call("POST", "/control/faults", rule).status == 400


def test_the_journal_counts_mutating_calls(served: ServedCloud) -> None:
    token = served.token()
    served.call("DELETE", "/control/journal")
    served.call("POST", WIDGETS, {"widget": {"name": "a"}}, token)
    served.call("POST", WIDGETS, {"widget": {"name": "a"}}, token)
    served.call("GET", WIDGETS, token=token)
    entries = served.call("GET", "/control/journal?service=widget&method=POST").json["requests"]
    assert [entry["status"] for entry in entries] == [201, 409]
    assert served.call("GET", "/control/journal?status=409").json["requests"] == [entries[1]]


def test_objects_are_counted_per_project(served: ServedCloud) -> None:
    created = create_widget(served).json["widget"]
    everything = served.call("GET", "/control/objects").json
    assert everything["objects"]["widget"]["widgets"] == {"count": 1, "ids": [created["id"]]}
    assert everything["pending"] == 1
    other = served.call("GET", "/control/objects?project_id=other").json
    assert other["objects"]["widget"]["widgets"]["count"] == 0


def test_state_survives_a_kill(tmp_path: Path) -> None:
    """The second cloud opens the file while the first has not closed it: as after `kill -9`."""
    clock, path = ManualClock(), tmp_path / "cloud.db"
    with ServedCloud(make_cloud(clock=clock, state_path=path)) as first:
        token = first.token()
        key = create_widget(first).json["widget"]["id"]
        with ServedCloud(make_cloud(clock=clock, state_path=path)) as second:
            shown = second.call("GET", f"{WIDGETS}/{key}", token=token)
            assert shown.json["widget"]["status"] == "BUILD"
            second.advance(3)
            assert second.call("GET", f"{WIDGETS}/{key}", token=token).json["widget"]["status"] == "ACTIVE"


def test_blobs_and_removals_survive(tmp_path: Path) -> None:
    path = tmp_path / "cloud.db"
    cloud = make_cloud(state_path=path)
    widget = cloud.of(WidgetRecords).create("gone", "p")
    cloud.of(WidgetRecords).widgets.remove(widget)
    cloud.store.put_blob("a", b"\x00\xff")
    cloud.store.put_blob("b", b"b")
    cloud.store.flush()
    cloud.store.remove_blob("b")
    cloud.close()
    reopened = make_cloud(state_path=path)
    assert len(reopened.of(WidgetRecords).widgets) == 0
    assert (reopened.store.get_blob("a"), reopened.store.get_blob("b")) == (b"\x00\xff", None)
    reopened.close()


def test_indexes_follow_in_place_changes() -> None:
    widgets = make_cloud().of(WidgetRecords).widgets
    record = widgets.add(Widget(id="1", name="a", project_id="p", status="BUILD", secret="x"))
    record.name = "b"
    widgets.save(record)
    assert widgets.select(name="a") == []
    assert widgets.select(name="b") == [record]
    widgets.remove(record)
    assert widgets.select(name="b") == []


def test_an_unknown_public_route_is_refused() -> None:
    with pytest.raises(ValueError, match="GET /typo"):
        assert Service("x", "/x", WidgetRecords, {}, ROUTES, public=frozenset({"GET /typo"})).router
