"""On whose behalf a cluster acts: after the owner has logged out, and for clients that sign with a key."""

from __future__ import annotations

import signal
from typing import Any

import boto3
import pytest
from botocore.config import Config
from sqlalchemy import select

from stoker.store import tables
from testing.running_cluster import Cluster
from testing.servers import wait_until
from tests.cluster.test_cluster import await_first_network, begin, complete

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

TEMPLATE = (
    "heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net, properties: {name: net-aws}}}\n"
)


def log_out(cluster: Cluster) -> None:
    """End the token that the user has made requests with."""
    served = cluster.served
    token = served.token("demo", "demo")
    answer = served.call("DELETE", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
    assert answer.status == 204
    served.forget_tokens()


def recorded(cluster: Cluster) -> str:
    """Every value in every table."""
    with cluster.database.engine.connect() as connection:
        return "\n".join(
            str(value)
            for table in tables.metadata.sorted_tables
            for row in connection.execute(select(table))
            for value in row
        )


def test_another_engine_continues_for_an_owner_who_has_logged_out(cluster: Cluster, issued: list[str]) -> None:
    engines = cluster.engines(2)
    made = begin(cluster, "leaver", 3)
    await_first_network(cluster, made)
    log_out(cluster)
    victim = max(engines, key=cluster.owned_by)
    assert cluster.owned_by(victim)
    victim.signal(signal.SIGKILL)
    victim.ended()
    complete(cluster, made)
    cluster.remove(*made)


def test_no_token_is_kept_or_logged(cluster: Cluster, issued: list[str]) -> None:
    """Of all that the identity service has given out while the cluster was tested."""
    cluster.engines(1)
    cluster.create("secretive", TEMPLATE.replace("aws", "secretive"))
    cluster.settle("secretive")
    output = "\n".join(path.read_text(errors="replace") for path in cluster.directory.glob("*.log"))
    kept = recorded(cluster)
    assert "secretive" in kept and issued
    assert [token for token in issued if token in kept or token in output] == []
    cluster.remove("secretive")


def test_boto3_works_on_a_cluster(cluster: Cluster) -> None:
    cluster.engines(1)
    url = cluster.start_query_api()
    client = client_of(cluster, url)

    def answers() -> bool:
        try:
            return "Stacks" in client.describe_stacks()
        except Exception as error:
            raise OSError from error

    wait_until(answers, "the CloudFormation interface answers")
    client.create_stack(StackName="aws", TemplateBody=TEMPLATE)
    client.get_waiter("stack_create_complete").wait(StackName="aws", WaiterConfig={"Delay": 1})
    (shown,) = client.describe_stacks(StackName="aws")["Stacks"]
    assert shown["StackStatus"] == "CREATE_COMPLETE"
    assert cluster.states()["aws"] == "CREATE_COMPLETE"
    client.delete_stack(StackName="aws")
    client.get_waiter("stack_delete_complete").wait(StackName=shown["StackId"], WaiterConfig={"Delay": 1})
    assert "net-aws" not in cluster.networks()


def client_of(cluster: Cluster, url: str) -> Any:
    """boto3's client, with an access key of the user's."""
    served = cluster.served
    token = served.token("demo", "demo")
    shown = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token}).json[
        "token"
    ]
    path = f"/identity/v3/users/{shown['user']['id']}/credentials/OS-EC2"
    key = served.call("POST", path, {"tenant_id": shown["project"]["id"]}, token).json["credential"]
    return boto3.client(
        "cloudformation",
        endpoint_url=url,
        region_name="RegionOne",
        aws_access_key_id=key["access"],
        aws_secret_access_key=key["secret"],
        config=Config(retries={"total_max_attempts": 1}),
    )
