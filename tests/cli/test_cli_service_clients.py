"""The plug-ins of OpenStack's client for emulated services: one process creates, lists, shows, changes and deletes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import OpenStack, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]


@pytest.fixture(scope="module")
def client(embedded: Shell) -> Iterator[OpenStack]:
    with OpenStack(embedded) as running:
        yield running


@pytest.fixture(scope="module")
def administrator(embedded: Shell) -> Iterator[OpenStack]:
    with OpenStack(embedded, "stoker-admin") as running:
        yield running


def until(client: OpenStack, command: str, field: str, expected: Any) -> Any:
    """Repeat a command without an option to wait until a field of what it shows has a value."""
    for _ in range(100):
        shown = client(f"{command} -f json")
        if shown[field] == expected:
            return shown
        time.sleep(0.2)
    raise AssertionError(f"{command}: {field} is {shown[field]!r} and not {expected!r}")


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
    created = client("metric create --archive-policy-name high --unit ms latency -f json")
    metric = created["id"]
    client(f"metric measures add -m 2030-01-01T00:00:00@4 -m 2030-01-01T00:00:01@6 {metric}")
    assert metric not in rows(client, "metric list", "id"), "only metrics of the project's resources are listed"
    assert client(f"metric show {metric} -f json")["unit"] == "ms"
    values = rows(client, f"metric measures show --aggregation mean --granularity 60 {metric}", "value")
    assert values == [5.0]
    project = created["creator"].partition(":")[2]
    made = client(f"metric resource create --type generic -a project_id:{project} host-1 -f json")
    assert made["id"] in rows(client, "metric resource list", "id")
    client(f"metric resource update --create-metric load:high {made['id']}")
    assert "load" in client(f"metric resource show {made['id']} -f json")["metrics"]
    assert rows(client, "metric list", "name") == ["load"]
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
    assert rows(client, "metric list", "id") == []


def test_zones_and_record_sets(client: OpenStack) -> None:
    made = client("zone create --email host@example.org --ttl 300 example.org. -f json")
    assert (made["name"], made["ttl"]) == ("example.org.", 300)
    assert "example.org." in rows(client, "zone list", "name")
    assert client("zone set --ttl 600 --description home example.org. -f json")["ttl"] == 600
    assert until(client, "zone show example.org.", "status", "ACTIVE")["description"] == "home"
    client("recordset create --type A --record 192.0.2.7 example.org. www")
    assert {"SOA", "NS", "A"} == set(rows(client, "recordset list example.org.", "type"))
    client("recordset set --record 192.0.2.8 --record 192.0.2.9 example.org. www.example.org.")
    shown = client("recordset show example.org. www.example.org. -f json")
    assert shown["records"].split() == ["192.0.2.8", "192.0.2.9"]
    client("recordset delete example.org. www.example.org.")
    client("zone delete example.org.")
    assert client("dns quota list -f json")["zones"] > 0


def test_shares(administrator: OpenStack) -> None:
    """As an administrator: `share set` always resets the state of tasks, too, which users may not."""
    made = administrator("share type create --snapshot-support true fast false -f json")
    assert made["name"] == "fast"
    administrator("share type set --description quick fast")
    assert administrator("share type show fast -f json")["description"] == "quick"
    made = administrator("share create NFS 1 --name data --share-type fast -f json")
    assert made["share_proto"] == "NFS"
    until(administrator, "share show data", "status", "available")
    administrator("share set --name papers --description old data")
    assert administrator("share show papers -f json")["description"] == "old"
    rule = administrator("share access create papers ip 10.0.0.0/24 -f json")["id"]
    assert rows(administrator, "share access list papers", "Access To") == ["10.0.0.0/24"]
    administrator(f"share access delete papers {rule}")
    administrator("share snapshot create papers --name monday")
    until(administrator, "share snapshot show monday", "status", "available")
    administrator("share snapshot set --name tuesday monday")
    assert rows(administrator, "share snapshot list", "Name") == ["tuesday"]
    administrator("share snapshot delete --wait tuesday")
    administrator("share resize --wait papers 2")
    assert rows(administrator, "share list", "Size") == [2]
    administrator("share delete --wait papers")
    assert rows(administrator, "share list", "Name") == []
    administrator("share network create --name storage")
    administrator("share network set --description wired storage")
    assert administrator("share network show storage -f json")["description"] == "wired"
    administrator("share network delete storage")
    administrator("share type delete fast")
    assert "fast" not in rows(administrator, "share type list", "Name")


def test_container_clusters(client: OpenStack, administrator: OpenStack) -> None:
    parts = "--image fedora-coreos --external-network public --flavor m1.small"
    client(f"coe cluster template create --coe kubernetes {parts} k8s")
    assert rows(client, "coe cluster template list", "name") == ["k8s"]
    client("coe cluster template update --docker-volume-size 10 k8s")
    assert client("coe cluster template show k8s -f json")["docker_volume_size"] == 10
    client("coe cluster create --cluster-template k8s --node-count 1 one")
    assert rows(client, "coe cluster list", "name") == ["one"]
    shown = client("coe cluster show one -f json")
    assert (shown["node_count"], shown["docker_volume_size"]) == (1, 10)
    assert set(rows(client, "coe nodegroup list one", "role")) == {"master", "worker"}
    assert rows(administrator, "coe service list", "state") == ["up"]
    client("coe cluster delete one")
    for _ in range(100):
        if rows(client, "coe cluster list", "name") == []:
            break
        time.sleep(0.2)
    client("coe cluster template delete k8s")
    assert rows(client, "coe cluster template list", "name") == []


WORKFLOW = """
version: '2.0'
hello:
  input: [{name: world}]
  output: {greeting: <% $.greeting %>}
  tasks:
    say:
      action: std.echo output="Hello <% $.name %>"
      publish: {greeting: <% task().result %>}
"""


def test_workflows(client: OpenStack, tmp_path: Path) -> None:
    source = tmp_path / "hello.yaml"
    source.write_text(WORKFLOW)
    assert rows(client, f"workflow create {source}", "Name") == ["hello"]
    source.write_text(WORKFLOW.replace("Hello", "Good day,"))
    assert rows(client, f"workflow update {source}", "Name") == ["hello"]
    assert rows(client, "workflow list", "Name") == ["hello"]
    assert client("workflow show hello -f json")["Input"] == 'name="world"'
    assert "Good day" in client("workflow definition show hello")
    run = client("workflow execution create hello -f json")["ID"]
    until(client, f"workflow execution show {run}", "State", "SUCCESS")
    assert "Good day, world" in client(f"workflow execution output show {run}")
    assert rows(client, f"task execution list {run}", "Name") == ["say"]
    client("cron trigger create tick hello --utc --first-time 2030-01-01T10:00 --count 1")
    assert client("cron trigger show tick -f json")["Next execution time"] == "2030-01-01 10:00:00"
    assert rows(client, "cron trigger list", "Workflow") == ["hello"]
    client("cron trigger delete tick")
    client(f"workflow execution delete {run}")
    client("workflow delete hello")
    assert "hello" not in rows(client, "workflow list", "Name")


def test_databases(client: OpenStack) -> None:
    assert "mysql" in rows(client, "datastore list", "Name")
    (version, *_) = rows(client, "datastore version list mysql", "Name")
    network = client("network show private -f json")["id"]
    kind = f"--datastore mysql --datastore-version {version} --flavor 2 --size 1"
    client(f"database instance create books {kind} --nic net-id={network}")
    assert rows(client, "database instance list", "Name") == ["books"]
    until(client, "database instance show books", "status", "ACTIVE")
    client("database instance update books --name library")
    client("database db create library novels")
    client("database user create library reader secret --databases novels")
    assert rows(client, "database db list library", "Name") == ["novels"]
    assert rows(client, "database user list library", "Name") == ["reader"]
    client("database user delete library reader")
    client("database db delete library novels")
    client("database instance delete library")
    assert client("database flavor list -f json")


def test_reservations(administrator: OpenStack) -> None:
    host = administrator("reservation host create compute-2").splitlines()
    number = next(line.split("|")[2].strip() for line in host if line.startswith("| id "))
    assert rows(administrator, "reservation host list", "hypervisor_hostname") == ["compute-2"]
    administrator(f"reservation host set --extra gpu=yes {number}")
    assert administrator(f"reservation host show {number} -f json")["gpu"] == "yes"
    period = "--start-date '2030-01-01 10:00' --end-date '2030-01-01 12:00'"
    administrator(f"reservation lease create --reservation resource_type=physical:host,min=1,max=1 {period} trial")
    assert rows(administrator, "reservation lease list", "name") == ["trial"]
    administrator("reservation lease set --name test trial")
    shown = administrator("reservation lease show test -f json")
    assert (shown["status"], shown["start_date"]) == ("PENDING", "2030-01-01T10:00:00.000000")
    administrator("reservation lease delete test")
    administrator(f"reservation host delete {number}")
    assert rows(administrator, "reservation host list", "id") == []


def test_containers(client: OpenStack) -> None:
    client("appcontainer create --name one --cpu 0.5 cirros sleep 60")
    until(client, "appcontainer show one", "status", "Created")
    assert rows(client, "appcontainer list", "name") == ["one"]
    client("appcontainer set --name two --memory 128 one")
    client("appcontainer start two")
    shown = until(client, "appcontainer show two", "status", "Running")
    assert (shown["command"], shown["cpu"], shown["memory"]) == (["sleep", "60"], 0.5, "128")
    client("appcontainer logs two")
    client("appcontainer stop two")
    until(client, "appcontainer show two", "status", "Stopped")
    client("appcontainer delete two")
    assert client("appcontainer run --name three cirros")
    client("appcontainer delete --force three")


def test_bare_metal(administrator: OpenStack) -> None:
    assert "fake-hardware" in rows(administrator, "--os-cloud stoker-system baremetal driver list", "name")
    assert rows(administrator, "--os-cloud stoker-system baremetal conductor list", "alive") == [True]
    node = administrator("baremetal node create --driver fake-hardware --name rack-1 -f json")["uuid"]
    assert "rack-1" in rows(administrator, "baremetal node list", "name")
    administrator("baremetal node set --property cpus=4 --extra room=2 rack-1")
    shown = administrator("baremetal node show rack-1 -f json")
    assert (shown["uuid"], shown["properties"], shown["extra"]) == (node, {"cpus": 4}, {"room": 2})
    port = administrator(f"baremetal port create --node {node} 52:54:00:00:00:01 -f json")["uuid"]
    administrator(f"baremetal port set --extra plug=left {port}")
    assert administrator(f"baremetal port show {port} -f json")["extra"] == {"plug": "left"}
    assert rows(administrator, f"baremetal port list --node {node}", "uuid") == [port]
    administrator("baremetal node manage --wait=200 rack-1")
    administrator("baremetal node provide --wait=200 rack-1")
    administrator("baremetal node power on rack-1")
    until(administrator, "baremetal node show rack-1", "power_state", "power on")
    administrator("baremetal node maintenance set --reason dust rack-1")
    assert administrator("baremetal node show rack-1 -f json")["maintenance_reason"] == "dust"
    administrator(f"baremetal port delete {port}")
    administrator("baremetal node delete rack-1")
    assert "rack-1" not in rows(administrator, "baremetal node list", "name")
