"""`stoker mcp` with a client of the Model Context Protocol, and a running Stoker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from testing.forked_commands import install
from tests.cli.cli_shell import COMMANDS, Shell
from tests.cli.test_cli_approvals import as_manager

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = """\
heat_template_version: 2021-04-16
parameters:
  secret: {type: string, hidden: true, default: none}
resources:
  net:
    type: OS::Neutron::Net
    properties: {name: NAME}
outputs:
  id: {value: {get_resource: net}}
"""


class Model:
    """What a program with a language model does."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> dict[str, bool]:
        """The tools, and whether each only reads."""
        found = await self._client.list_tools()
        return {tool.name: bool(tool.annotations and tool.annotations.read_only_hint) for tool in found.tools}

    async def __call__(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer = await self._client.call_tool(name, arguments)
        assert not answer.is_error, answer.content
        content = answer.structured_content
        assert isinstance(content, dict)
        return content

    async def refused(self, name: str, /, **arguments: Any) -> str:
        answer = await self._client.call_tool(name, arguments)
        assert answer.is_error
        return str(getattr(answer.content[0], "text", ""))


@asynccontextmanager
async def model(shell: Shell, directory: Path, *options: str) -> AsyncIterator[Model]:
    arguments = ["mcp", "--directory", str(directory), *options]
    imports = (*COMMANDS["stoker"].imports, "stoker.mcp_command", "stoker.mcp_server.server")
    command = install(shell.directory.parent / "mcp" / "stoker", COMMANDS["stoker"].function, imports)
    server = StdioServerParameters(command=str(command), args=arguments, env=shell.environment)
    async with Client(stdio_client(server)) as client:
        yield Model(client)


async def test_mcp_reads_and_writes(embedded: Shell, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(TEMPLATE.replace("Neutron::Net", "Neutron::Nett"))
    async with model(embedded, tmp_path, "--read-only") as ask:
        assert all((await ask.tools()).values())
        assert "apply_plan" not in await ask.tools()
        found = await ask("search_types", text="floating")
        assert "OS::Neutron::FloatingIP" in [each["type"] for each in found["types"]]
        described = await ask("describe_type", name="OS::Neutron::Net")
        assert "name" in described["properties"] and "OS::Neutron::Net" in described["example"]
        assert "did you mean" in await ask.refused("describe_type", name="OS::Neutron::Nett")
        assert "did you mean" in await ask.refused("describe_function", name="get_atr")
        linted = await ask("lint_template", template="bad.yaml")
        errors = [each for each in linted["diagnostics"] if each["severity"] == "error"]
        assert [each["position"]["line"] for each in errors] == [6]
        assert "Nett" in await ask.refused("plan_change", stack="mcp-bad", template="bad.yaml")


async def test_nothing_outside_of_the_directory_is_read(embedded: Shell, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "secret.yaml"
    inside.mkdir()
    outside.write_text(TEMPLATE)
    (inside / "link.yaml").symlink_to(outside)
    leak = f"heat_template_version: 2021-04-16\noutputs:\n  a:\n    value: {{get_file: {outside}}}\n"
    (inside / "leak.yaml").write_text(leak)
    (inside / "web.yaml").write_text(leak.replace(str(outside), "http://127.0.0.1:1/x"))
    async with model(embedded, inside, "--read-only") as ask:
        for name in ("link.yaml", "leak.yaml", "web.yaml", "../secret.yaml", str(outside)):
            assert "outside the directory" in await ask.refused("plan_change", stack="mcp-leak", template=name)
        for name in ("link.yaml", "../secret.yaml", str(outside)):
            assert "outside the directory" in await ask.refused("lint_template", template=name)
        linted = await ask("lint_template", template="leak.yaml")
        assert "outside the directory" in linted["diagnostics"][0]["message"]


async def test_only_approved_plans_are_applied(embedded: Shell, tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(TEMPLATE)
    (tmp_path / "control.yaml").write_text("approvals: [{number: 1}]\n")
    manager = as_manager(embedded)
    async with model(embedded, tmp_path) as ask:
        assert (await ask.tools())["apply_plan"] is False
        planned = await ask("plan_change", stack="mcp", template="net.yaml", parameters={"secret": "hush"})
        assert planned["summary"] == "1 to create" and "hush" not in str(planned)
        assert "need no approval" in await ask.refused("apply_plan", digest=planned["digest"])
        assert "no plan with the digest" in await ask.refused("apply_plan", digest="made-up")
        assert "no stack mcp" in await ask.refused("show_stack", stack="mcp")

        embedded.ok("deploy", "mcp", "-t", str(tmp_path / "net.yaml"), "--yes")
        embedded.ok("change-control", "mcp", "--set", str(tmp_path / "control.yaml"), variables=manager)
        (tmp_path / "net.yaml").write_text(TEMPLATE.replace("NAME", "other"))
        digest = (await ask("plan_change", stack="mcp", template="net.yaml"))["digest"]
        assert await ask("plan_status", digest=digest) == {"change_requests": []}
        assert "needs the approval of 1 other person" in await ask.refused("apply_plan", digest=digest)
        [request] = (await ask("plan_status", digest=digest))["change_requests"]
        assert request["status"] == "WAITING"
        assert "needs the approval" in await ask.refused("apply_plan", digest=digest)
        embedded.ok("approve", request["id"], "--yes", variables=manager)
        assert (await ask("apply_plan", digest=digest))["stack"] == "mcp"
        [request] = (await ask("plan_status", digest=digest))["change_requests"]
        assert request["status"] == "USED"

        embedded.ok("change-control", "mcp", "--remove", variables=manager)
        embedded.ok("deploy", "mcp", "-t", str(tmp_path / "net.yaml"), "--yes", "--if-busy", "wait")
        assert "need no approval" in await ask.refused("apply_plan", digest=digest)
        removal = await ask("plan_deletion", stack="mcp")
        assert removal["steps"][0]["kind"] == "delete"
        assert "need no approval" in await ask.refused("apply_plan", digest=removal["digest"])
    embedded.ok("delete", "mcp", "--yes")


async def test_policies_apply_to_approved_plans(embedded: Shell, tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(TEMPLATE)
    (tmp_path / "control.yaml").write_text("approvals: [{number: 1}]\n")
    rule = "name: no-forbidden, types: ['OS::Neutron::Net'], expression: \"step.properties.name != 'forbidden'\""
    (tmp_path / "policies.yaml").write_text(f"policies: [{{{rule}}}]")
    manager = as_manager(embedded)
    embedded.ok("deploy", "judged", "-t", str(tmp_path / "net.yaml"), "--yes")
    embedded.ok("change-control", "judged", "--set", str(tmp_path / "control.yaml"), variables=manager)
    (tmp_path / "net.yaml").write_text(TEMPLATE.replace("NAME", "forbidden"))
    async with model(embedded, tmp_path) as ask:
        digest = (await ask("plan_change", stack="judged", template="net.yaml"))["digest"]
        assert "needs the approval" in await ask.refused("apply_plan", digest=digest)
        [request] = (await ask("plan_status", digest=digest))["change_requests"]
        embedded.ok("approve", request["id"], "--yes", variables=manager)
        embedded.ok("policies", "judged", "--set", str(tmp_path / "policies.yaml"), variables=manager)
        assert (await ask("apply_plan", digest=digest))["stack"] == "judged"
        for _ in range(300):
            if "policy-denied no-forbidden" in str(await ask("show_stack", stack="judged")):
                break
            await asyncio.sleep(0.1)
        else:
            pytest.fail("the policy has not denied it")
    assert "forbidden" not in embedded.openstack("network", "list", "-f", "value", "-c", "Name").out.split()
    embedded.ok("change-control", "judged", "--remove", variables=manager)
    embedded.ok("policies", "judged", "--remove", variables=manager)
    embedded.ok("delete", "judged", "--yes")
