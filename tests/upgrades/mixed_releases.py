"""Requests to both APIs, for processes of any release; and programs that run one side of calls in a released version.

The API of one release calls the engine of another one through pipes: one line of JSON for each call, and one for each
reply, with the arguments and replies as the release serializes them. This module is sent to the processes of a release
as a program, so it imports only what every release has.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

from falcon import testing

Ask = Callable[[str, str, Any], tuple[int, Any]]
"""Sends a request to the REST API (method, path below the project, body): status and body of the response."""

AskQuery = Callable[..., tuple[int, Any]]
"""Sends an action to the Query API, with its parameters by name: status and body of the response."""

HEARTBEAT_SECONDS, LEASE_SECONDS = 0.3, 120.0
"""Of engines on one database: they look often at what the others have left, and none is taken for dead."""

HEAD = {"heat_template_version": "2021-04-16"}
SIGNED = {"AWSAccessKeyId": "k", "SignatureVersion": "2", "SignatureMethod": "HmacSHA256", "Signature": "s"}
HOOKED = {"parameters": {}, "resource_registry": {"resources": {"word": {"hooks": "pre-update"}}}}


def template(length: int, **more: Any) -> dict[str, Any]:
    word = {"type": "OS::Heat::RandomString", "properties": {"length": length}}
    net = {"type": "OS::Neutron::Net", "properties": {"name": f"net{length}"}}
    value = {"get_attr": ["word", "value"]}
    return {**HEAD, "resources": {"word": word, "net": net, **more}, "outputs": {"word": {"value": value}}}


class Caller:
    """One user of an API, who expects each request to succeed; `seen` is what was asked."""

    def __init__(self, ask: Ask, ask_query: AskQuery) -> None:
        self._ask, self._ask_query = ask, ask_query
        self.seen: list[str] = []

    def rest(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        found, answer = self._ask(method, path, body)
        assert found == status, (method, path, found, answer)
        self.seen.append(f"{method} {path}")
        return answer

    def query(self, action: str, **parameters: str) -> Any:
        status, answer = self._ask_query(action, **parameters)
        assert status == 200, (action, status, answer)
        self.seen.append(action)
        return answer[f"{action}Response"].get(f"{action}Result")

    def refused(self, action: str, **parameters: str) -> None:
        status, answer = self._ask_query(action, **parameters)
        assert status == 400, (action, status, answer)

    def until(self, path: str, state: str) -> Any:
        """The stack once nothing runs on it; it must be in this state then."""
        for _ in range(1500):
            if self.rest("GET", f"{path}/operations?limit=1")["operations"][0]["finished_at"] is not None:
                shown = self.rest("GET", path)["stack"]
                assert shown["stack_status"] == state, shown
                return shown
            time.sleep(0.05)
        raise AssertionError(f"the operation on {path} does not end")


def use_rest_api(caller: Caller) -> None:
    """Use each part of the REST API that calls an engine."""
    rest = caller.rest
    made = rest("POST", "/stacks", {"stack_name": "web", "template": template(8), "tags": "a,b"}, 201)["stack"]
    here = f"/stacks/web/{made['id']}"
    caller.until(here, "CREATE_COMPLETE")
    rest("GET", "/stacks/web", status=302)
    rest("POST", "/stacks/preview", {"stack_name": "other", "template": template(8)})
    rest("PUT", f"{here}/preview", {"template": template(9)})
    rest("PATCH", f"{here}/preview", {"template": template(9)})
    rest("PUT", here, {"template": template(9), "timeout_mins": 30, "converge": True, "disable_rollback": True}, 202)
    caller.until(here, "UPDATE_COMPLETE")
    rest("PATCH", here, {"template": template(10), "tags": "c"}, 202)
    assert len(caller.until(here, "UPDATE_COMPLETE")["outputs"][0]["output_value"]) == 10
    assert rest("GET", "/stacks?tags=c&limit=2&with_count=true&sort_keys=stack_name")["count"] == 1
    rest("POST", "/validate?show_nested=true", {"template": template(3)})
    for tail in ("template", "environment", "files", "outputs", "outputs/word", "resources?nested_depth=1", "events"):
        rest("GET", f"{here}/{tail}")
    for tail in ("resources/word", "resources/word/metadata", "resources/word/events", "resources?with_detail=true"):
        rest("GET", f"{here}/{tail}")
    event = rest("GET", f"{here}/resources/word/events")["events"][0]["id"]
    rest("GET", f"{here}/resources/word/events/{event}")
    operation = rest("GET", f"{here}/operations?limit=5")["operations"][0]["id"]
    rest("GET", f"{here}/operations/{operation}")
    rest("PATCH", f"{here}/resources/word", {"mark_unhealthy": True, "resource_status_reason": "broken"})
    rest("PATCH", f"{here}/resources/word", {"mark_unhealthy": False})
    snapshot = rest("POST", f"{here}/snapshots", {"name": "one"})["id"]
    caller.until(here, "SNAPSHOT_COMPLETE")
    rest("GET", f"{here}/snapshots")
    rest("GET", f"{here}/snapshots/{snapshot}")
    rest("POST", f"{here}/snapshots/{snapshot}/restore", status=202)
    caller.until(here, "RESTORE_COMPLETE")
    rest("DELETE", f"{here}/snapshots/{snapshot}", status=204)
    rest("POST", f"{here}/actions", {"check": None})
    caller.until(here, "CHECK_COMPLETE")
    for path in ("/build_info", "/template_versions", "/resource_types?with_description=true"):
        rest("GET", path)
    rest("GET", "/template_versions/heat_template_version.2021-04-16/functions?with_condition_func=true")
    rest("GET", "/resource_types/OS::Neutron::Net")
    rest("GET", "/resource_types/OS::Neutron::Net/template?template_type=hot")
    config = rest("POST", "/software_configs", {"name": "c", "config": "true", "inputs": [{"name": "a"}]})
    config_id = config["software_config"]["id"]
    deployed = {"config_id": config_id, "server_id": "srv", "input_values": {"a": 1}}
    deployment = rest("POST", "/software_deployments", deployed)["software_deployment"]["id"]
    rest("PUT", f"/software_deployments/{deployment}", {"status": "COMPLETE", "output_values": {"b": 2}})
    for path in ("/software_configs?limit=3", f"/software_configs/{config_id}", "/software_deployments?server_id=srv"):
        rest("GET", path)
    rest("GET", "/software_deployments/metadata/srv")
    rest("GET", f"/software_deployments/{deployment}")
    rest("DELETE", f"/software_deployments/{deployment}", status=204)
    rest("DELETE", f"/software_configs/{config_id}", status=204)
    held = {"template": template(11), "environment": HOOKED}
    rest("PUT", here, held, 202)
    for _ in range(1500):
        if any("pre-update" in each["resource_status_reason"] for each in rest("GET", f"{here}/events")["events"]):
            break
        time.sleep(0.05)
    rest("POST", f"{here}/resources/word/signal", {"unset_hook": "pre-update"})
    caller.until(here, "UPDATE_COMPLETE")
    rest("DELETE", here, status=204)
    caller.until(here, "DELETE_COMPLETE")


def use_query_api(caller: Caller) -> None:
    """Use each part of the Query API that calls an engine."""
    query = caller.query
    text = {"AWSTemplateFormatVersion": "2010-09-09", "Parameters": {"Size": {"Type": "Number", "Default": "8"}}}
    word = {"Type": "OS::Heat::RandomString", "Properties": {"length": {"Ref": "Size"}}}
    exported = {"Word": {"Value": {"Ref": "Word"}, "Export": {"Name": "word"}}}
    body = json.dumps({**text, "Resources": {"Word": word}, "Outputs": exported})
    renamed = body.replace('"word"', '"other"')
    policy = json.dumps({"Statement": [{"Effect": "Allow", "Action": "Update:*", "Resource": "*", "Principal": "*"}]})
    noted = {"Tags.member.1.Key": "a", "Tags.member.1.Value": "b", "ClientRequestToken": "once"}
    web = {"StackName": "query"}
    made = query("CreateStack", **web, TemplateBody=body, StackPolicyBody=policy, TimeoutInMinutes="30", **noted)
    path = f"/stacks/query/{made['StackId'].rpartition('/')[2]}"
    caller.until(path, "CREATE_COMPLETE")
    caller.refused("CreateStack", StackName="bad", TemplateBody="{}", ClientRequestToken="released")
    query("DescribeStacks", **web)
    query("DescribeStacks")
    query("ListStacks")
    query("GetTemplate", **web)
    query("GetTemplateSummary", **web)
    query("ValidateTemplate", TemplateBody=body)
    query("EstimateTemplateCost", TemplateBody=renamed)
    query("DescribeStackEvents", **web)
    query("DescribeStackResource", **web, LogicalResourceId="Word")
    query("DescribeStackResources", **web)
    query("ListStackResources", **web)
    query("ListExports")
    caller.refused("ListImports", ExportName="word")  # as with AWS, when no stack imports it
    query("ListTypes")
    query("DescribeType", Type="RESOURCE", TypeName="OS::Neutron::Net")
    query("GetStackPolicy", **web)
    query("SetStackPolicy", **web, StackPolicyBody=policy)
    query("UpdateTerminationProtection", **web, EnableTerminationProtection="false")
    sized = {"Parameters.member.1.ParameterKey": "Size", "Parameters.member.1.ParameterValue": "9"}
    topics = {"NotificationARNs.member.1": "told-of-changes"}
    query("UpdateStack", **web, UsePreviousTemplate="true", **sized, StackPolicyDuringUpdateBody=policy, **topics)
    caller.until(path, "UPDATE_COMPLETE")
    assert "told-of-changes" in json.dumps(query("DescribeStacks", **web))
    kept = {"Parameters.member.1.ParameterKey": "Size", "Parameters.member.1.ParameterValue": "10"}
    for name in ("dropped", "executed"):
        query("CreateChangeSet", **web, ChangeSetName=name, TemplateBody=body, **kept, IncludeNestedStacks="true")
    query("ListChangeSets", **web)
    query("DescribeChangeSet", **web, ChangeSetName="executed")
    query("DeleteChangeSet", **web, ChangeSetName="dropped")
    before = caller.rest("GET", path)["stack"]["updated_time"]
    query("ExecuteChangeSet", **web, ChangeSetName="executed", DisableRollback="true")
    caller.until(path, "UPDATE_COMPLETE")
    assert before is not None
    fresh = {"StackName": "fresh", "ChangeSetName": "first", "ChangeSetType": "CREATE"}
    query("CreateChangeSet", **fresh, TemplateBody=renamed)
    query("DescribeStacks", StackName="fresh")
    query("DeleteStack", StackName="fresh")
    detection = query("DetectStackDrift", **web)["StackDriftDetectionId"]
    query("DescribeStackDriftDetectionStatus", StackDriftDetectionId=detection)
    query("DetectStackResourceDrift", **web, LogicalResourceId="Word")
    query("DescribeStackResourceDrifts", **web)
    query("DeleteStack", **web)
    caller.until(path, "DELETE_COMPLETE")


def scenario(client: Any, identity: dict[str, Any]) -> list[str]:
    """Use both APIs of this process's release with an `EngineClient`; what was asked."""
    from stoker.api.app import make_app
    from stoker.api.auth import Credentials
    from stoker.api.cfn.app import make_cfn_app
    from stoker.api.cfn.identity import Caller as Signer
    from stoker.api.cfn.identity import SignatureCheck
    from stoker.base.config import load_config
    from stoker_foundation.clock import SystemClock, isoformat

    def check(application: Any) -> Any:
        def checked(environ: dict[str, Any], start_response: Any) -> Any:
            environ |= {
                "HTTP_X_IDENTITY_STATUS": "Confirmed",
                "HTTP_X_USER_ID": identity["user_id"],
                "HTTP_X_USER_NAME": "demo",
                "HTTP_X_PROJECT_ID": identity["project_id"],
                "HTTP_X_PROJECT_NAME": "demo",
                "HTTP_X_ROLES": ",".join(identity["roles"]),
            }
            return application(environ, start_response)

        return checked

    class Trusting(SignatureCheck):
        def __init__(self) -> None:
            pass

        def caller(self, signed: Any) -> Signer:
            credentials = Credentials(identity["user_id"], identity["project_id"], tuple(identity["roles"]))
            return Signer(credentials, "demo", "demo", None, identity["token"])

    config = load_config([], [])
    rest = testing.TestClient(make_app(config, client, check))
    query = testing.TestClient(make_cfn_app(config, client, Trusting()))

    def ask(method: str, path: str, body: Any) -> tuple[int, Any]:
        plain, _, query_string = path.partition("?")
        found = rest.simulate_request(
            method,
            f"/v1/{identity['project_id']}{plain}",
            query_string=query_string,
            headers={"X-Auth-Token": identity["token"]},
            json=body,
        )
        return found.status_code, found.json if found.text else None

    def ask_query(action: str, **parameters: str) -> tuple[int, Any]:
        named = {"Action": action, "ContentType": "JSON", "Timestamp": isoformat(SystemClock().now()), **SIGNED}
        found = query.simulate_get("/v1/", query_string=urlencode({**named, **parameters}))
        return found.status_code, found.json

    caller = Caller(ask, ask_query)
    use_rest_api(caller)
    use_query_api(caller)
    return caller.seen


def signatures() -> dict[str, dict[str, Any]]:
    """The arguments of each method of release 0.1.0, with their defaults; those without a default are absent."""
    import dataclasses
    import inspect

    from stoker.operations import OPERATIONS

    body: Any = import_module("stoker.operations.requests").StackRequest
    found: dict[str, dict[str, Any]] = {}
    for method, operation in OPERATIONS.items():
        arguments: dict[str, Any] = {}
        for name, parameter in list(inspect.signature(operation).parameters.items())[2:]:
            if parameter.kind is parameter.VAR_KEYWORD:
                arguments |= {item.name: {"default": item.default} for item in dataclasses.fields(body)}
            else:
                arguments[name] = {} if parameter.default is parameter.empty else {"default": parameter.default}
        found[method] = arguments
    return found


# -- one side of the calls, in a process of release 0.1.0 --------------------------------------------------------------


class PipedClient:
    """An `EngineClient` of release 0.1.0 that calls the process which started this one."""

    def call(self, context: Any, method: str, arguments: Any, timeout: float = 60.0) -> Any:
        envelope: Any = import_module("stoker.rpc.envelope")  # a module of release 0.1.0
        sent = {"caller": context.to_dict(), "method": method, "arguments": envelope.packed("them", arguments)}
        print(json.dumps(sent), flush=True)
        return envelope.opened(json.loads(sys.stdin.readline()))


async def serve_engine(url: str, cloud: str, token: str) -> None:
    """Serve calls from standard input with an engine of release 0.1.0. The first line is the identity of the user."""

    from stoker.base.context import RequestContext
    from stoker.operations import OPERATIONS
    from stoker.rpc.dispatch import Dispatcher

    envelope: Any = import_module("stoker.rpc.envelope")  # a module of release 0.1.0
    emulated: Any = import_module("crashing").Emulated(cloud, token)
    world: Any = await import_module("world").World(url, emulated).start()
    context = world.context
    identity = {"user_id": context.user_id, "project_id": context.project_id, "roles": list(context.roles)}
    print(json.dumps({**identity, "token": token}), flush=True)
    service, loop = Dispatcher(world.engine, OPERATIONS), asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        call = json.loads(line)
        caller = RequestContext.from_dict(call["caller"])
        reply = await envelope.reply_of(service, caller, call["method"], envelope.unpacked(call["arguments"]))
        print(json.dumps(reply), flush=True)
    await world.stop()


async def join(path: str, cloud: str, token: str) -> None:
    """Work on a database with an engine of release 0.1.0, beside others, until standard input ends; print its ID."""
    from stoker.engine.settings import EngineSettings

    emulated: Any = import_module("crashing").Emulated(cloud, token)
    settings = EngineSettings(heartbeat_seconds=HEARTBEAT_SECONDS, lease_seconds=LEASE_SECONDS)
    peers: Any = import_module("stoker.engine.peers").NoPeers()  # a module of release 0.1.0
    world: Any = await import_module("world").World(path, emulated, settings=settings, peers=peers).start()
    print(world.engine.id, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await world.stop()


def main(role: str, *arguments: str) -> None:
    if role == "api":
        print(json.dumps({"seen": scenario(PipedClient(), json.loads(arguments[0]))}), flush=True)
    elif role == "engine":
        asyncio.run(serve_engine(*arguments))
    elif role == "join":
        asyncio.run(join(*arguments))
    else:
        print(json.dumps(signatures()))


if __name__ == "__main__":
    main(*sys.argv[1:])
