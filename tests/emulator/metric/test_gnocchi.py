"""Archive policies, metrics, measures, resources and aggregates over HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from openstack_emulator.testing import Answer, ServedCloud

START = "2023-11-14T22:00:00"
MINUTES = [f"2023-11-14T22:0{minute}:00+00:00" for minute in range(6)]


class Gnocchi:
    """A client of the metric service."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served, self.user = served, user

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        return self.served.call(method, f"/metric/v1{path}", body, self.served.token(self.user, self.user))

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def post(self, path: str, body: Any, status: int = 201) -> Any:
        answer = self.call("POST", path, body)
        assert answer.status == status, answer.content
        return answer.json if answer.content else None

    def metric(self, *values: float, name: str = "load", policy: str = "medium", **fields: Any) -> str:
        """Create a metric with one value for each minute from START on."""
        key = str(self.post("/metric", {"name": name, "archive_policy_name": policy, **fields})["id"])
        self.measure(f"/metric/{key}/measures", *values)
        return key

    def measure(self, path: str, *values: float) -> None:
        points = [{"timestamp": MINUTES[at], "value": value} for at, value in enumerate(values)]
        self.post(path, points, 202)


@pytest.fixture
def gnocchi(served: ServedCloud) -> Gnocchi:
    return Gnocchi(served)


def values(rows: list[list[Any]], granularity: float = 60.0) -> list[float]:
    return [value for _, step, value in rows if step == granularity]


def test_archive_policies_are_for_administrators_to_create(served: ServedCloud, gnocchi: Gnocchi) -> None:
    assert {"low", "medium", "high", "bool"} <= {policy["name"] for policy in gnocchi.get("/archive_policy")}
    body = {"name": "own", "definition": [{"granularity": "0:00:10", "points": 60}, {"granularity": 60, "points": 9}]}
    assert gnocchi.call("POST", "/archive_policy", body).status == 403
    admin = Gnocchi(served, "admin")
    made = admin.post("/archive_policy", {**body, "aggregation_methods": ["max"], "back_window": 2})
    assert [(one["granularity"], one["timespan"]) for one in made["definition"]] == [
        ("0:00:10", "0:10:00"),
        ("0:01:00", "0:09:00"),
    ]
    assert gnocchi.get("/archive_policy/own") == made
    assert admin.call("POST", "/archive_policy", body).status == 409
    changes: list[dict[str, Any]] = [
        {"definition": []},
        {"definition": [{"points": 3}]},
        {"definition": [{"granularity": "1 week", "points": 3, "timespan": "6 days"}]},
        {"aggregation_methods": ["x"]},
        {"name": 1},
    ]
    for change in changes:
        answer = admin.call("POST", "/archive_policy", {**body, "name": "other", **change})
        assert (answer.status, answer.json.keys()) == (400, {"code", "title", "description"}), change
    key = gnocchi.metric(policy="own")
    assert admin.call("DELETE", "/archive_policy/own").status == 400
    assert gnocchi.call("DELETE", f"/metric/{key}").status == 204
    assert gnocchi.call("DELETE", "/archive_policy/own").status == 403
    assert admin.call("DELETE", "/archive_policy/own").status == 204
    assert gnocchi.call("GET", "/archive_policy/own").status == 404


def test_measures_are_aggregated_by_period(gnocchi: Gnocchi) -> None:
    key = gnocchi.metric(1, 3, 2, 8)
    path = f"/metric/{key}/measures"
    assert gnocchi.get(f"{path}?granularity=60") == [
        [moment, 60.0, value] for moment, value in zip(MINUTES, (1.0, 3.0, 2.0, 8.0), strict=False)
    ]
    both = gnocchi.get(path)
    assert [row[1:] for row in both] == [[3600.0, 3.5], *([60.0, value] for value in (1.0, 3.0, 2.0, 8.0))]
    hours = {method: gnocchi.get(f"{path}?granularity=3600&aggregation={method}")[0][2] for method in
             ("min", "max", "sum", "count", "mean")}  # fmt: skip
    assert hours == {"min": 1.0, "max": 8.0, "sum": 14.0, "count": 4.0, "mean": 3.5}
    window = f"{path}?granularity=60&start={MINUTES[1][:19]}&stop={MINUTES[3][:19]}"
    assert values(gnocchi.get(window)) == [3.0, 2.0]
    gnocchi.post(path, [{"timestamp": "2023-11-14T22:00:30", "value": 5}], 202)
    assert values(gnocchi.get(f"{path}?granularity=60"))[0] == 3.0, "the mean of 1 and 5"


def test_rate_aggregation_uses_differences(gnocchi: Gnocchi) -> None:
    key = str(gnocchi.post("/metric", {"name": "cpu", "archive_policy_name": "ceilometer-low-rate"})["id"])
    gnocchi.measure(f"/metric/{key}/measures", 10, 30, 70)
    [row] = gnocchi.get(f"/metric/{key}/measures?aggregation=rate:mean")
    assert row[1:] == [300.0, 30.0]
    assert gnocchi.call("GET", f"/metric/{key}/measures?aggregation=max").status == 404


def test_measures_older_than_the_policy_keeps_are_dropped(served: ServedCloud, gnocchi: Gnocchi) -> None:
    Gnocchi(served, "admin").post("/archive_policy", {"name": "s", "definition": [{"granularity": 60, "points": 2}]})
    key = gnocchi.metric(1, 2, 3, 4, policy="s")
    assert values(gnocchi.get(f"/metric/{key}/measures"))[-2:] == [3.0, 4.0]
    assert 1.0 not in values(gnocchi.get(f"/metric/{key}/measures"))


@pytest.mark.parametrize(
    "measures",
    [
        {},
        [1],
        [{"value": 1}],
        [{"timestamp": START}],
        [{"timestamp": "yesterday", "value": 1}],
        [{"timestamp": START, "value": "much"}],
        [{"timestamp": START, "value": "nan"}],
        [{"timestamp": START, "value": "inf"}],
        [{"timestamp": True, "value": 1}],
        [{"timestamp": START, "value": 1}, {"timestamp": START}],
    ],
)
def test_invalid_measures_are_refused_as_a_whole(gnocchi: Gnocchi, measures: Any) -> None:
    key = gnocchi.metric(1)
    for path, body in ((f"/metric/{key}/measures", measures), ("/batch/metrics/measures", {key: measures})):
        assert gnocchi.call("POST", path, body).status == 400
    assert values(gnocchi.get(f"/metric/{key}/measures")) == [1.0]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("granularity=7", 404),
        ("granularity=x", 400),
        ("granularity=nan", 400),
        ("aggregation=x", 404),
        ("aggregation=median", 404),
        ("start=x", 400),
        ("resample=60", 501),
        ("fill=0", 501),
    ],
)
def test_invalid_queries_are_refused(gnocchi: Gnocchi, query: str, status: int) -> None:
    answer = gnocchi.call("GET", f"/metric/{gnocchi.metric(1)}/measures?{query}")
    assert (answer.status, answer.json["code"]) == (status, status)


def test_metrics_belong_to_projects(served: ServedCloud, gnocchi: Gnocchi) -> None:
    key = str(Gnocchi(served, "admin").post("/metric", {"name": "secret"})["id"])
    for method, path in (
        ("GET", f"/metric/{key}"),
        ("DELETE", f"/metric/{key}"),
        ("GET", f"/metric/{key}/measures"),
        ("POST", f"/metric/{key}/measures"),
        ("GET", f"/aggregation/metric?metric={key}"),
    ):
        assert gnocchi.call(method, path, []).status == 403, path
    assert gnocchi.call("POST", "/aggregates", {"operations": f"(metric {key} mean)"}).status == 403
    assert gnocchi.get("/metric") == []
    unnamed = gnocchi.post("/metric", {})
    gnocchi.post("/resource/volume", {"id": "disk", "project_id": unnamed["created_by_project_id"]})
    metrics = gnocchi.post("/resource/volume/disk/metric", {"a": {}, "b": {}}, 200)
    first, second = (one["id"] for one in metrics)
    assert [one["id"] for one in gnocchi.get("/metric?limit=1")] == [first]
    assert [one["id"] for one in gnocchi.get(f"/metric?marker={first}")] == [second]
    assert gnocchi.call("GET", "/metric/none").status == 404
    refused: list[Any] = [{"name": "a/b"}, {"archive_policy_name": "no"}, {"unit": 5}, {"extra": 1}, []]
    for body in refused:
        assert gnocchi.call("POST", "/metric", body).status == 400, body
    assert gnocchi.call("POST", "/metric", {"name": "m", "resource_id": "no"}).status == 404


def test_resources_have_attributes_and_metrics_by_name(gnocchi: Gnocchi) -> None:
    body = {"id": "disk", "display_name": "data", "metrics": {"size": {"archive_policy_name": "medium"}}}
    made = gnocchi.post("/resource/volume", body)
    assert (made["type"], made["display_name"], made["volume_type"]) == ("volume", "data", None)
    assert made["metrics"].keys() == {"size"}
    plain = gnocchi.get("/resource/generic/disk")
    assert made == {**plain, **{key: value for key, value in made.items() if key not in plain}}
    assert made["original_resource_id"] == "disk" and plain["id"] == made["id"]
    assert gnocchi.call("GET", "/resource/image/disk").status == 404
    gnocchi.measure("/resource/volume/disk/metric/size/measures", 4, 6)
    assert values(gnocchi.get("/resource/volume/disk/metric/size/measures")) == [4.0, 6.0]
    other = gnocchi.metric(1, name="io")
    change = {"display_name": "more", "metrics": {"io": other}}
    changed = gnocchi.call("PATCH", "/resource/volume/disk", change).json
    assert (changed["display_name"], changed["metrics"]["io"]) == ("more", other)
    assert [metric["name"] for metric in gnocchi.get("/resource/volume/disk/metric")] == ["size", "io"]
    found = gnocchi.post("/search/resource/volume", {"like": {"display_name": "mo%"}}, 200)
    assert [one["original_resource_id"] for one in found] == ["disk"]
    for text, count in (
        ("display_name like 'mo%' and not (volume_type = \"x\")", 1),
        ("id in ['disk', 'other'] or display_name = null", 1),
        ("display_name = 'x' and id = disk", 0),
    ):
        assert len(gnocchi.post(f"/search/resource/volume?filter={quote(text)}", None, 200)) == count, text
    for text in ("display_name", "display_name =", "(id = 'x'", "id = 'x' id", "id ? 'x'", "(" * 30, "id in 'x'"):
        assert gnocchi.call("POST", f"/search/resource/volume?filter={quote(text)}").status == 400, text
    assert gnocchi.post("/search/resource/volume", {"=": {"display_name": "x"}}, 200) == []
    assert gnocchi.call("POST", "/search/resource/volume", {"=": {"colour": "x"}}).status == 400
    batch = {"disk": {"size": [{"timestamp": MINUTES[2], "value": 8}], "new": [{"timestamp": START, "value": 1}]}}
    assert gnocchi.call("POST", "/batch/resources/metrics/measures", batch).status == 400
    gnocchi.post("/batch/resources/metrics/measures?create_metrics=true", batch, 202)
    assert values(gnocchi.get("/resource/volume/disk/metric/size/measures")) == [4.0, 6.0, 8.0]
    named = gnocchi.get("/resource/volume/disk")["metrics"]
    assert "new" in named
    bad = {"disk": {"size": [{"timestamp": MINUTES[3], "value": 9}], "b/c": [{"timestamp": START, "value": 1}]}}
    assert gnocchi.call("POST", "/batch/resources/metrics/measures?create_metrics=true", bad).status == 400
    assert values(gnocchi.get("/resource/volume/disk/metric/size/measures")) == [4.0, 6.0, 8.0]
    assert gnocchi.call("DELETE", "/resource/volume/disk").status == 204
    assert gnocchi.call("GET", "/resource/volume/disk").status == 404
    assert gnocchi.call("GET", f"/metric/{other}").status == 404


def test_resource_has_an_end(gnocchi: Gnocchi) -> None:
    gnocchi.post("/resource/volume", {"id": "disk", "started_at": "2023-01-01"})
    answer = gnocchi.call("PATCH", "/resource/volume/disk", {"ended_at": "2023-02-01"})
    assert (answer.status, answer.json["ended_at"]) == (200, "2023-02-01T00:00:00+00:00")
    assert gnocchi.call("PATCH", "/resource/volume/disk", {"ended_at": "2022-02-01"}).status == 400
    assert gnocchi.call("PATCH", "/resource/volume/disk", {"ended_at": None}).json["ended_at"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"id": "disk"}, 409),
        ({"id": "r", "colour": "red"}, 400),
        ({"id": "r", "metrics": []}, 400),
        ({"id": "r", "metrics": {"a": {}, "b": {"archive_policy_name": "no"}}}, 400),
        ({"id": "r", "metrics": {"a": {}, "b/c": {}}}, 400),
        ({"id": "r", "metrics": {"a": "unknown"}}, 400),
        ({"id": "r", "project_id": "other"}, 403),
        ({"id": "r", "project_id": ["other"]}, 400),
        ({"id": "r", "user_id": {"name": "other"}}, 400),
    ],
)
def test_refused_resources_have_no_side_effects(gnocchi: Gnocchi, body: dict[str, Any], status: int) -> None:
    before = gnocchi.post("/resource/volume", {"id": "disk", "metrics": {"size": {}}})
    assert gnocchi.call("POST", "/resource/volume", body).status == status
    assert [one["original_resource_id"] for one in gnocchi.get("/resource/volume")] == ["disk"]
    change = {**{key: value for key, value in body.items() if key != "id"}, "display_name": "changed"}
    if body.get("metrics"):
        assert gnocchi.call("PATCH", "/resource/volume/disk", change).status == status
    assert gnocchi.call("PATCH", "/resource/volume/disk", {"metrics": {"size": {}}}).status == 409
    assert gnocchi.get("/resource/volume/disk") == before
    assert [metric["name"] for metric in gnocchi.get("/resource/volume/disk/metric")] == ["size"]


def test_several_metrics_are_aggregated(gnocchi: Gnocchi) -> None:
    first, second = gnocchi.metric(1, 2, 3), gnocchi.metric(3, 6)
    both = f"/aggregation/metric?metric={first}&metric={second}&granularity=60"
    assert values(gnocchi.get(both)) == [2.0, 4.0]
    assert values(gnocchi.get(f"{both}&needed_overlap=50")) == [2.0, 4.0, 3.0]
    assert values(gnocchi.get(f"{both}&reaggregation=max&needed_overlap=0")) == [3.0, 6.0, 3.0]
    assert gnocchi.get("/aggregation/metric") == []
    assert values(gnocchi.get(f"/aggregation/metric?metric={first}&granularity=3600&aggregation=mean"), 3600.0) == [2.0]
    assert gnocchi.call("GET", f"{both}&needed_overlap=x").status == 400
    for key, metric in (("one", first), ("two", second)):
        gnocchi.post("/resource/volume", {"id": key, "display_name": "group", "metrics": {"io": metric}})
    path = "/aggregation/resource/volume/metric/io?granularity=60&aggregation=sum"
    assert values(gnocchi.post(path, {"=": {"display_name": "group"}}, 200)) == [4.0, 8.0]
    assert gnocchi.post(path, {"=": {"id": "none"}}, 200) == []
    search = {"resource_type": "volume", "search": {"=": {"id": "one"}}}
    found = gnocchi.post("/aggregates?granularity=60&details=true", {**search, "operations": "(metric io mean)"}, 200)
    assert values(found["measures"][first]["mean"]) == [1.0, 2.0, 3.0]
    assert [one["id"] for one in found["references"]] == [first]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ("(aggregate max (metric ({0} mean) ({1} mean)))", [3.0, 6.0, 3.0]),
        ("(* 2 (aggregate sum (metric ({0} mean) ({1} mean))))", [8.0, 16.0, 6.0]),
        (["-", ["aggregate", "min", ["metric", "{0}", "mean"]], 1], [0.0, 1.0, 2.0]),
        ("(/ (aggregate min (metric {0} mean)) 0)", []),
    ],
)
def test_operations_on_metrics(gnocchi: Gnocchi, operations: Any, expected: list[float]) -> None:
    keys = (gnocchi.metric(1, 2, 3), gnocchi.metric(3, 6))

    def filled(part: Any) -> Any:
        if isinstance(part, list):
            return [filled(one) for one in part]
        return part.format(*keys) if isinstance(part, str) else part

    found = gnocchi.post("/aggregates?granularity=60", {"operations": filled(operations)}, 200)
    assert values(found["measures"]["aggregated"]) == expected


@pytest.mark.parametrize(
    "operations",
    [
        None, "", "(", ")", "(metric)", "(metric x)", "(x 1)", "(+ 1 2)", "(aggregate x (metric a mean))",
        "(aggregate (x) (metric a mean))",
        "(aggregate mean", ["metric", 1, 2], "(" * 20 + "metric" + ")" * 20,
    ],
)  # fmt: skip
def test_invalid_operations_are_refused(gnocchi: Gnocchi, operations: Any) -> None:
    assert gnocchi.call("POST", "/aggregates", {"operations": operations}).status == 400


def test_servers_are_resources(served: ServedCloud, gnocchi: Gnocchi) -> None:
    token = served.token("demo", "demo")
    images = served.call("GET", "/image/v2/images?name=cirros", token=token).json["images"]
    request_body = {"name": "web", "imageRef": images[0]["id"], "flavorRef": "1", "networks": "none"}
    body = {"server": {**request_body, "metadata": {"metering.server_group": "g"}}}
    headers = {"OpenStack-API-Version": "compute 2.42"}
    answer = served.call("POST", "/compute/v2.1/servers", body, token, headers)
    key = answer.json["server"]["id"]
    served.advance(5)
    [found] = gnocchi.post("/search/resource/instance", {"=": {"server_group": "g"}}, 200)
    assert (found["id"], found["display_name"], found["ended_at"]) == (key, "web", None)
    assert {"cpu", "memory.usage"} <= found["metrics"].keys()
    served.call("DELETE", f"/compute/v2.1/servers/{key}", token=served.token("demo", "demo"))
    served.advance(5)
    assert gnocchi.get(f"/resource/instance/{key}")["ended_at"] is not None


def test_the_service_describes_itself(served: ServedCloud, gnocchi: Gnocchi) -> None:
    assert served.call("GET", "/metric/").json["versions"][0]["id"] == "v1.0"
    assert "mean" in gnocchi.get("/capabilities")["aggregation_methods"]
    assert gnocchi.get("/resource")["volume"] == f"{served.url}/metric/v1/resource/volume"
    kind = gnocchi.get("/resource_type/volume")
    assert (kind["state"], kind["attributes"]["volume_type"]["type"]) == ("active", "string")
    assert gnocchi.call("GET", "/resource_type/none").status == 404
    assert gnocchi.call("GET", "/resource/none").status == 404
