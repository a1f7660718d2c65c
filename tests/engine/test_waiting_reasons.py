"""What resources wait for: shown as their reason, in events, and in the message of a timeout."""

from __future__ import annotations

from typing import Any

from stoker.cloud.credentials import TokenCredential
from testing.harness import World

REF = {"name": "web", "id": None}
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "server": {
            "type": "OS::Nova::Server",
            "properties": {
                "flavor": "m1.tiny",
                "image": "cirros",
                "networks": [{"network": "private"}],
                "user_data_format": "SOFTWARE_CONFIG",
                "software_config_transport": "POLL_TEMP_URL",
            },
        },
        "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"group": "script", "config": "true"}},
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "server": {"get_resource": "server"},
                "config": {"get_resource": "config"},
                "signal_transport": "TEMP_URL_SIGNAL",
            },
        },
    },
}


async def reasons(world: World) -> list[str]:
    events: list[dict[str, Any]] = await world.call("event_list", ref=REF)
    return [event["status_reason"] for event in events if event["resource_name"] == "deployment"]


async def comes(world: World, reason: str) -> None:
    """Wait until the last event of the deployment has the reason."""
    for _ in range(1000):
        if (await reasons(world))[-1:] == [reason]:
            return
        await world.turn()
    raise AssertionError(await reasons(world))


async def test_a_deployment_to_a_server_that_does_not_run_says_so(world: World) -> None:
    made = await world.call("stack_create", name="web", template=TEMPLATE, timeout_mins=5, disable_rollback=True)
    waits = (
        "The configuration is in the object that the agent reads; waiting for the result of the agent on the server."
    )
    await comes(world, waits)
    rows = await world.resources("web")
    assert rows["deployment"]["status_reason"] == waits

    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    path = f"/servers/{rows['server']['physical_id']}/action"
    await cloud.request("POST", "nova", path, json={"os-stop": None})
    stopped = "The server is SHUTOFF; waiting for its agent."
    await comes(world, stopped)
    assert (await world.resources("web"))["deployment"]["status_reason"] == stopped
    await cloud.request("POST", "nova", path, json={"os-start": None})
    await comes(world, waits)

    shown = await world.settle(made["id"])
    assert shown["status"] == "FAILED"
    failed = (await world.resources("web"))["deployment"]["status_reason"]
    assert "CREATE aborted" in failed and failed.endswith(waits), "the message of a timeout says what was missing"
    assert (await reasons(world)).count(waits) == 2
