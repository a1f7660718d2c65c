"""The server and its tools. A tool is a function; its docstring is what a model reads about it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from stoker import __version__
from stoker.base.errors import StokerError
from stoker.cli.client.refusals import Refused
from stoker.cli.client.stack_client import StackClient
from stoker.cli.terminal.errors import CommandFailed, TemplateRefused
from stoker.mcp_server.authoring import AuthoringTools
from stoker.mcp_server.plans import Plans
from stoker.mcp_server.stacks import Stacks

P = ParamSpec("P")
Tool = Callable[P, dict[str, Any]]

INSTRUCTIONS = """\
Stoker creates and changes stacks of OpenStack resources from templates (HOT or CloudFormation).
Look at what exists (list_stacks, show_stack, list_resources, list_events, find_object), write templates with the help
of search_types, describe_type and describe_function, and check them with lint_template before anything else.
plan_change and plan_deletion tell what would happen, and change nothing; show the user what they plan, above all what
is destroyed or replaced. Nothing but apply_plan changes a stack, and it applies only a plan that a person has approved
in Stoker. You cannot approve it: ask the user to, then call apply_plan with the digest of the plan.
Templates and environments are files in the directory of this server, named by paths relative to it.
"""

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def build(connect: Callable[[], StackClient], directory: Path, read_only: bool = False) -> MCPServer[object]:
    """Return the server. `connect` is called when a tool first needs the service; templates are read in `directory`.

    A server that is `read_only` has no tool that applies plans.
    """
    server: MCPServer[object] = MCPServer(
        "stoker", title="Stoker", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR"
    )
    authoring, stacks, plans = AuthoringTools(directory), Stacks(connect), Plans(connect, directory)
    read_only_tools: list[Tool[...]] = [
        authoring.search_types, authoring.describe_type, authoring.describe_function, authoring.lint_template,
        stacks.list_stacks, stacks.show_stack, stacks.list_resources, stacks.list_events, stacks.explain_failure,
        stacks.check_drift, stacks.find_object, plans.plan_change, plans.plan_deletion, plans.plan_status,
    ]  # fmt: skip
    for tool in read_only_tools:
        server.add_tool(_with_readable_errors(tool), annotations=_READS)
    if not read_only:
        server.add_tool(_with_readable_errors(plans.apply_plan), annotations=_CHANGES)
    return server


def _with_readable_errors(tool: Tool[P]) -> Tool[P]:
    """Return a tool that raises errors of Stoker as ToolError, with the message for users."""

    @wraps(tool)
    def call(*args: P.args, **kwargs: P.kwargs) -> dict[str, object]:
        try:
            return tool(*args, **kwargs)
        except TemplateRefused as error:
            raise ToolError("\n".join(item.text() for item in error.diagnostics)) from error
        except (CommandFailed, Refused) as error:
            raise ToolError(error.message) from error
        except StokerError as error:
            raise ToolError(str(error)) from error

    return call
