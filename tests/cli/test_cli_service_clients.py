"""The plug-ins of OpenStack's client for emulated services: one process creates, lists, shows, changes and deletes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.cli_shell import OpenStack, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-embedded")]


@pytest.fixture(scope="module")
def client(embedded: Shell) -> Iterator[OpenStack]:
    with OpenStack(embedded) as running:
        yield running


def rows(client: OpenStack, command: str, column: str) -> list[Any]:
    return [row[column] for row in client(f"{command} -f json")]


def test_load_balancers(client: OpenStack) -> None:
    balancer = "loadbalancer"
    made = client(f"{balancer} create --name web --vip-subnet-id private-subnet --wait -f json")
    assert made["name"] == "web"
    monitor = "--delay 5 --max-retries 3 --timeout 2 --type PING"
    parts = [
        ("listener", "--name http --protocol HTTP --protocol-port 80 web", "http"),
        ("pool", "--name app --lb-algorithm ROUND_ROBIN --listener http --protocol HTTP", "app"),
        ("member", "--name one --address 10.0.0.50 --protocol-port 80 app", "app one"),
        ("healthmonitor", f"--name ping {monitor} app", "ping"),
        ("l7policy", "--name static --action REJECT http", "static"),
    ]
    for part, options, key in parts:
        kind = f"{balancer} {part}"
        client(f"{kind} create --wait {options}")
        *container, name = key.split()
        assert rows(client, " ".join([kind, "list", *container]), "name") == [name]
        client(f"{kind} set --name {name}-2 --wait {key}")
        client(f"{kind} set --name {name} --wait {key}-2")
        shown = client(f"{kind} show {key} -f json")
        assert (shown["name"], shown["provisioning_status"]) == (name, "ACTIVE")
    assert client(f"{balancer} status show web").count("ACTIVE") >= len(parts)
    assert client(f"{balancer} stats show web -f json")["active_connections"] == 0
    client(f"{balancer} set --description front --wait web")
    assert client(f"{balancer} show web -f json")["description"] == "front"
    for part, _, key in reversed(parts):
        client(f"{balancer} {part} delete --wait {key}")
    client(f"{balancer} delete --wait web")
    assert rows(client, f"{balancer} list", "name") == []
    assert "amphora" in rows(client, f"{balancer} provider list", "name")
    assert client(f"{balancer} quota defaults show -f json")


def test_secrets(client: OpenStack) -> None:
    made = client("secret store --name word --payload hello --payload-content-type text/plain -f json")
    href = made["Secret href"]
    assert rows(client, "secret list --name word", "Secret href") == [href]
    assert client(f"secret get {href} -f json")["Name"] == "word"
    assert client(f"secret get --payload {href} -f json")["Payload"] == "hello"
    order = client("secret order create --name key --algorithm aes --bit-length 256 --mode cbc key -f json")
    assert order["Order href"] in rows(client, "secret order list", "Order href")
    assert client(f"secret order get {order['Order href']} -f json")["Type"] == "Key"
    box = client(f"secret container create --name box --type generic --secret word={href} -f json")
    assert box["Container href"] in rows(client, "secret container list", "Container href")
    assert client(f"secret container get {box['Container href']} -f json")["Name"] == "box"
    client(f"acl submit --project-access {href}")
    assert client(f"acl get {href} -f json")[0]["Project Access"] is True
    client(f"acl delete {href}")
    client(f"secret container delete {box['Container href']}")
    client(f"secret order delete {order['Order href']}")
    client(f"secret delete {href}")
    assert rows(client, "secret list --name word", "Secret href") == []


def test_metrics_and_alarms(client: OpenStack) -> None:
    metric = client("metric create --archive-policy-name high --unit ms latency -f json")["id"]
    client(f"metric measures add -m 2030-01-01T00:00:00@4 -m 2030-01-01T00:00:01@6 {metric}")
    assert metric in rows(client, "metric list", "id")
    assert client(f"metric show {metric} -f json")["unit"] == "ms"
    values = rows(client, f"metric measures show --aggregation mean --granularity 60 {metric}", "value")
    assert values == [5.0]
    made = client("metric resource create --type generic host-1 -f json")
    assert made["id"] in rows(client, "metric resource list", "id")
    client(f"metric resource update --create-metric load:high {made['id']}")
    assert "load" in client(f"metric resource show {made['id']} -f json")["metrics"]
    assert "generic" in rows(client, "metric resource-type list", "name")
    assert "high" in rows(client, "metric archive-policy list", "name")
    rule = f"--metric {metric} --threshold 5 --aggregation-method mean --granularity 60"
    alarm = client(f"alarm create --name slow --type gnocchi_aggregation_by_metrics_threshold {rule} -f json")[
        "alarm_id"
    ]
    assert rows(client, "alarm list", "alarm_id") == [alarm]
    client(f"alarm update --severity critical {alarm}")
    assert client(f"alarm show {alarm} -f json")["severity"] == "critical"
    client(f"alarm state set --state ok {alarm}")
    assert client(f"alarm state get {alarm} -f json")["state"] == "ok"
    assert "state transition" in rows(client, f"alarm-history show {alarm}", "type")
    client(f"alarm delete {alarm}")
    client(f"metric resource delete {made['id']}")
    client(f"metric delete {metric}")
    assert rows(client, "alarm list", "alarm_id") == []
    assert metric not in rows(client, "metric list", "id")
