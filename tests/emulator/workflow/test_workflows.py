"""The workflow service over HTTP: definitions, executions and what they run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import Answer, ServedCloud
from stoker_foundation.clock import ManualClock

HEAD = "version: '2.0'\n"


class Client:
    """A client of the workflow service."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served, self.user = served, user

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        data = body.encode() if isinstance(body, str) else body
        return self.served.call(method, f"/workflow/v2{path}", data, self.served.token(self.user, self.user))

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def define(self, text: str, query: str = "") -> list[dict[str, Any]]:
        answer = self.call("POST", f"/workflows{query}", HEAD + text)
        assert answer.status == 201, answer.content
        found: list[dict[str, Any]] = answer.json["workflows"]
        return found

    def start(self, workflow: str, given: Any = None, **fields: Any) -> str:
        answer = self.call("POST", "/executions", {"workflow_name": workflow, "input": given, **fields})
        assert answer.status == 201, answer.content
        return str(answer.json["id"])

    def state(self, execution: str) -> tuple[str, Any]:
        """Return the state of an execution, and its output or why it failed."""
        shown = self.get(f"/executions/{execution}")
        return shown["state"], json.loads(shown["output"]) if shown["state"] == "SUCCESS" else shown["state_info"]

    def run(self, workflow: str, given: Any = None, seconds: float = 10, **fields: Any) -> tuple[str, Any]:
        execution = self.start(workflow, given, **fields)
        self.served.advance(seconds)
        return self.state(execution)

    def tasks(self, execution: str) -> dict[str, dict[str, Any]]:
        """Return the tasks of an execution by name, the latest of each."""
        return {task["name"]: task for task in self.get(f"/executions/{execution}/tasks")["tasks"]}

    def refused(self, status: int, method: str, path: str, body: Any = None) -> str:
        answer = self.call(method, path, body)
        assert answer.status == status, answer.content
        assert answer.json.keys() in ({"faultcode", "faultstring", "debuginfo"}, {"faultstring"})
        return str(answer.json["faultstring"])


@pytest.fixture
def client(served: ServedCloud) -> Client:
    return Client(served)


# -- definitions -----------------------------------------------------------------------------------------------------


def test_definitions_are_created_changed_listed_and_deleted(client: Client) -> None:
    one, two = client.define("one: {input: [a, {b: 1}], tasks: {t: {action: std.noop}}}\ntwo: {tasks: {t: {}}}")
    assert (one["name"], one["input"], one["scope"], one["namespace"]) == ("one", 'a, b="1"', "private", "")
    assert client.get("/workflows/one")["id"] == client.get(f"/workflows/{one['id']}")["id"] == one["id"]
    assert "Duplicate entry" in client.refused(409, "POST", "/workflows", HEAD + "one: {tasks: {t: {}}}")
    assert client.define("one: {tasks: {t: {}}}", "?namespace=other")[0]["namespace"] == "other"
    changed = client.call("PUT", "/workflows", HEAD + "one: {description: new, tasks: {t: {}}}").json["workflows"]
    assert (changed[0]["id"], changed[0]["input"], "new" in changed[0]["definition"]) == (one["id"], "", True)
    renamed = client.call("PUT", f"/workflows/{two['id']}", HEAD + "three: {tasks: {t: {}}}").json["workflows"]
    assert (renamed[0]["id"], renamed[0]["name"]) == (two["id"], "three")
    client.refused(404, "PUT", "/workflows/four", HEAD + "four: {tasks: {t: {}}}")
    both = HEAD + "one: {input: [c], tasks: {t: {}}}\nfour: {colour: red, tasks: {t: {}}}"
    kept, new = client.call("PUT", "/workflows", both).json["workflows"]
    assert (kept["id"], kept["input"], new["name"], new["scope"]) == (one["id"], "c", "four", "private")
    assert client.get(f"/workflows/{new['id']}")["updated_at"]
    assert client.call("DELETE", "/workflows/four").status == 204
    first = client.get("/workflows?limit=1&sort_keys=name&fields=name&namespace=")
    assert [one["name"] for one in first["workflows"]] == ["one"]
    assert first["next"].endswith("&sort_keys=name,id&sort_dirs=asc,asc")
    rest = client.served.call(
        "GET", first["next"].partition(client.served.url)[2], token=client.served.token("demo", "demo")
    )
    assert [one["name"] for one in rest.json["workflows"]] == ["three"]
    assert [one["name"] for one in client.get("/workflows?name=in:two,three")["workflows"]] == ["three"]
    assert client.call("DELETE", "/workflows/three").status == 204
    assert "Workflow not found" in client.refused(404, "GET", "/workflows/three")
    twice = "?sort_keys=id,id&sort_dirs=asc,asc"
    for query in (
        "?colour=red",
        "?name=nobody&colour=red",
        "?sort_dirs=up",
        "?limit=x",
        "?limit=-1",
        "?fields=colour",
        twice,
    ):
        assert client.refused(400, "GET", f"/workflows{query}")
    valid = client.call("POST", "/workflows/validate", HEAD + "w: {tasks: {t: {}}}").json
    assert (valid, client.call("POST", "/workflows/validate", "w").json["valid"]) == ({"valid": True}, False)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("w: [", "could not be parsed"),
        ("", "the definition is empty"),
        ("w: {}", "is not of type 'object'"),
        ("w: {tasks: {}}", "has no tasks"),
        ("w: {type: round, tasks: {t: {}}}", "must be direct or reverse"),
        ("w: {tasks: {t: {colour: red}}}", "Additional properties"),
        ("w: {tasks: {t: {action: std.noop, workflow: x}}}", "both 'action' and 'workflow'"),
        ("w: {tasks: {t: {on-success: u}}}", "Task 'u' not found"),
        ("w: {tasks: {t: {on-success: t}}}", "no start tasks"),
        ("w: {tasks: {t: {requires: [t]}}}", "cannot have 'requires'"),
        ("w: {type: reverse, tasks: {t: {on-success: t}}}", "cannot have 'on-success'"),
        ("w: {tasks: {t: {retry: {delay: 1}}}}", "'count' is a required property"),
        ("w: {tasks: {t: {with-items: x}}}", "name in <% expression %>"),
        ("w: {tasks: {t: {join: some}}}", "must be all, one or a number"),
        ("w: {tasks: {t: {input: {a: '<% $. %>'}}}}", "Parse error in the YAQL"),
        ("w: {tasks: {t: {input: {a: '{{ _. }}'}}}}", "Parse error in the Jinja"),
        ("w: {tasks: {t: {action: std.echo out}}}", "not of the form name=value"),
        ("w: {tasks: {fail: {}}}", "reserved name"),
        (f"{BOMB}w: {{tasks: {{t: {{}}}}}}", "must not have more than"),
        ("w: {tasks: {t: {input: {a: " + "[" * 200 + "]" * 200 + "}}}}", "more than 100 levels"),
        ("w: {tasks: {t: {input: {a: " + "[" * 3000 + "]" * 3000 + "}}}}", "Invalid DSL"),
    ],
    ids=lambda value: value[:30],
)
def test_an_invalid_definition_is_refused(client: Client, text: str, message: str) -> None:
    assert message in client.refused(400, "POST", "/workflows", HEAD + text)
    assert client.get("/workflows") == {"workflows": []}


def test_definitions_are_not_stored_for_clients_that_accept_json_only(served: ServedCloud) -> None:
    token = served.token("demo", "demo")
    definition = f"{HEAD}nothing: {{tasks: {{one: {{action: std.noop}}}}}}".encode()
    for accepted, expected in (("application/json", 406), ("application/json, */*", 201)):
        headers = {"Accept": accepted}
        answer = served.call("POST", "/workflow/v2/workflows", definition, token, headers)
        assert answer.status == expected
        if expected == 406:
            assert answer.json == {"code": 406, "title": "Not Acceptable", "description": None}
    checked = served.call("POST", "/workflow/v2/workflows/validate", definition, token, {"Accept": "application/json"})
    assert checked.json == {"valid": True}


def test_workbooks_have_workflows_and_actions_of_their_own(client: Client) -> None:
    book = HEAD + (
        "name: book\n"
        "workflows: {main: {tasks: {t: {workflow: part text=hi, publish: {said: <% task().result.said %>}}}},"
        " part: {input: [text], output: {said: <% $.said %>}, tasks: {t: {action: shout text=<% $.text %>,"
        " publish: {said: <% task().result %>}}}}}\n"
        "actions: {shout: {base: std.echo, base-input: {output: '<% $.text %>!'}, input: [text],"
        " output: '<% $ + $ %>'}}"
    )
    assert client.call("POST", "/workbooks", book).status == 201
    assert client.run("book.main") == ("SUCCESS", {"said": "hi!hi!"})
    assert client.call("PUT", "/workbooks", book.replace("'!'", "'?'")).status == 200
    assert [one["name"] for one in client.get("/workbooks")["workbooks"]] == ["book"]
    assert client.call("DELETE", "/workbooks/book").status == 204
    names = [one["name"] for one in client.get("/actions?is_system=False")["actions"]]
    assert names == ["book.shout"]
    assert "must be an action of the service" in client.refused(400, "POST", "/actions", HEAD + "a: {base: nova.boot}")
    assert client.call("DELETE", "/actions/book.shout").status == 204
    for name in ("std.noop", "book.shout"):
        assert "Action definition not found" in client.refused(404, "DELETE", f"/actions/{name}")


def test_only_administrators_show_objects_to_all_projects(served: ServedCloud, client: Client) -> None:
    """The policies `…:publicize`; those for a project's own objects ask for no role, so readers change them."""
    workflow, action = f"{HEAD}w: {{tasks: {{t: {{}}}}}}", f"{HEAD}a: {{base: std.noop}}"
    book = f"{HEAD}name: b\nworkflows: {{w: {{tasks: {{t: {{}}}}}}}}"
    environment = {"name": "e", "variables": {"a": 1}}
    for kind, body in (("workflows", workflow), ("actions", action), ("workbooks", book)):
        for method, status in (("POST", 201), ("PUT", 200)):
            client.refused(403, method, f"/{kind}?scope=public", body)
            assert client.call(method, f"/{kind}", body).status == status
    for method, status in (("POST", 201), ("PUT", 200)):
        client.refused(403, method, "/environments", {**environment, "scope": "public"})
        assert client.call(method, "/environments", environment).status == status
    assert Client(served, "admin").call("POST", "/workflows?scope=public", workflow).status == 201


def test_projects_share_workflows(served: ServedCloud, client: Client) -> None:
    other = Client(served, "admin")
    (hidden,) = other.define("hidden: {tasks: {t: {}}}")
    other.define("open: {tasks: {t: {}}}", "?scope=public")
    assert [one["name"] for one in client.get("/workflows")["workflows"]] == ["open"]
    assert client.run("open")[0] == "SUCCESS"
    client.refused(404, "GET", f"/workflows/{hidden['id']}")
    client.refused(403, "DELETE", "/workflows/open")
    client.refused(403, "GET", "/workflows?all_projects=true")
    assert other.get("/executions") == {"executions": []}
    assert len(other.get("/executions?all_projects=true")["executions"]) == 1
    project = client.get("/executions")["executions"][0]["project_id"]
    assert len(other.get(f"/executions?project_id={project}")["executions"]) == 1
    assert client.get(f"/workflows?project_id={hidden['project_id']}&name=hidden") == {"workflows": []}
    members = f"/workflows/{hidden['id']}/members"
    other.refused(400, "POST", members, {"member_id": "nobody"})
    assert other.call("POST", members, {"member_id": project}).json["status"] == "pending"
    other.refused(409, "POST", members, {"member_id": project})
    client.refused(404, "GET", f"/workflows/{hidden['id']}")
    assert "should be one of" in client.refused(400, "PUT", f"{members}/{project}", {"status": "perhaps"})
    assert client.call("PUT", f"{members}/{project}", {"status": "accepted"}).status == 200
    assert client.run("hidden")[0] == "SUCCESS"
    assert other.call("DELETE", f"{members}/{project}").status == 204
    client.refused(404, "GET", f"/workflows/{hidden['id']}")


# -- executions ------------------------------------------------------------------------------------------------------


def test_a_direct_workflow_with_items_a_join_and_both_languages(client: Client) -> None:
    client.define("""
greet:
  input: [name, {times: 2}]
  vars: {mark: "!"}
  output: {said: <% $.said %>, number: "{{ _.number }}", shared: <% global(shared) %>}
  tasks:
    one:
      with-items: i in <% range($.times).toList() %>
      action: std.echo output="<% $.i %> <% $.name %><% $.mark %>"
      publish: {said: <% task().result %>}
      on-success: {publish: {global: {shared: yes}}, next: [two, three: "{{ _.times == 2 }}", never: <% false %>]}
    two: {action: std.noop, on-complete: end}
    three: {action: std.fail, on-error: end}
    never: {action: std.noop}
    end:
      join: all
      action: std.echo output={{ _.said | length }}
      publish: {number: "{{ task('end').result }}"}
""")
    execution = client.start("greet", json.dumps({"name": "bob"}))
    assert client.state(execution) == ("RUNNING", None)
    client.served.advance(10)
    assert client.state(execution) == ("SUCCESS", {"said": ["0 bob!", "1 bob!"], "number": 2, "shared": True})
    tasks = client.tasks(execution)
    assert {name: task["state"] for name, task in tasks.items()} == {
        "one": "SUCCESS", "two": "SUCCESS", "three": "ERROR", "end": "SUCCESS",
    }  # fmt: skip
    assert json.loads(client.get(f"/tasks/{tasks['one']['id']}")["result"]) == ["0 bob!", "1 bob!"]
    assert len(client.get(f"/tasks/{tasks['one']['id']}/action_executions")["action_executions"]) == 2
    deep = '{"name": ' + "[" * 200 + "]" * 200 + "}"
    assert "more than 100 levels" in client.refused(
        400, "POST", "/executions", {"workflow_name": "greet", "input": deep}
    )
    for given, problem in (("{}", "missing=['name']"), ('{"name": 1, "x": 2}', "unexpected=['x']"), ("[1]", "object")):
        body = {"workflow_name": "greet", "input": given}
        assert problem in client.refused(400, "POST", "/executions", body)
    assert client.call("DELETE", f"/executions/{execution}").status == 204
    client.refused(404, "GET", f"/tasks/{tasks['one']['id']}")


def test_transitions_commands_and_failures(client: Client) -> None:
    client.define("""
failing: {output-on-error: {why: <% $.x %>}, input: [x], tasks: {t: {action: std.fail error_data=<% $.x %>}}}
handled: {tasks: {t: {action: std.fail, on-error: [noop]}}}
command: {tasks: {t: {on-success: [fail(msg="no <% 1 + 1 %>")]}}}
succeeded: {tasks: {t: {on-success: [succeed, u]}, u: {action: std.fail}}}
late: {tasks: {t: {publish: {a: <% $.missing %>}}}}
lost: {tasks: {t: {action: std.fail, on-success: j}, u: {on-success: j}, j: {join: all}}}
first: {tasks: {t: {action: std.fail, on-success: j, on-error: noop}, u: {on-success: j}, j: {join: one}}}
cycle: {tasks: {s: {on-success: t}, t: {on-success: t}}}
unknown: {tasks: {t: {action: nova.servers_list}}}
script: {tasks: {t: {action: std.javascript script=x}}}
wrong: {tasks: {t: {action: std.echo text=x}}}
defaults: {task-defaults: {on-error: fail}, tasks: {t: {action: std.fail}}}
""")
    state, info = client.run("failing", {"x": "reason"})
    assert (state, "Failure caused by error in tasks: t" in info, '"reason"' in info) == ("ERROR", True, True)
    shown = client.get("/executions?include_output=true")["executions"][0]
    assert json.loads(shown["output"])["why"] == "reason"
    assert client.run("handled")[0] == "SUCCESS"
    assert client.run("command") == ("ERROR", "no 2")
    assert client.run("succeeded")[0] == "SUCCESS"
    for name, problem in (
        ("late", "missing"), ("lost", "cannot be reached"), ("unknown", "nova.servers_list"),
        ("script", "no JavaScript engine"), ("wrong", "unexpected=['text']"), ("defaults", "failed by task 't'"),
    ):  # fmt: skip
        state, info = client.run(name)
        assert (state, problem in info) == ("ERROR", True), info
    assert client.run("first")[0] == "SUCCESS"
    state, info = client.run("cycle", seconds=1000)
    assert (state, "must not have more than" in info) == ("ERROR", True)


def test_policies_are_applied_on_the_clock(served: ServedCloud, client: Client) -> None:
    client.define("""
waits: {tasks: {t: {wait-before: 10, wait-after: 10}}}
retries: {tasks: {t: {action: std.fail, retry: count=2 delay=30}}}
repeats: {output: {n: <% $.n %>}, tasks: {t: {action: std.echo output=1, publish: {n: <% task().state %>},
  retry: {count: 3, delay: 5, continue-on: <% task().result = 1 %>}}}}
slow: {tasks: {t: {action: std.sleep seconds=100, timeout: 20}}}
judged: {tasks: {t: {action: std.echo output=5, fail-on: <% task().result > 4 %>}}}
few: {tasks: {t: {with-items: 'i in <% [1, 2, 3, 4] %>', concurrency: 2, action: std.sleep seconds=10}}}
""")
    execution = client.start("waits")
    assert client.tasks(execution)["t"]["state"] == "DELAYED"
    served.advance(15)
    assert client.state(execution)[0] == "RUNNING"
    served.advance(10)
    assert client.state(execution)[0] == "SUCCESS"
    execution = client.start("retries")
    served.advance(59)
    assert client.state(execution)[0] == "RUNNING"
    served.advance(2)
    assert client.state(execution)[0] == "ERROR"
    task = client.tasks(execution)["t"]
    accepted = [one["accepted"] for one in client.get(f"/tasks/{task['id']}/action_executions")["action_executions"]]
    assert (accepted, json.loads(task["runtime_context"])) == ([False, False, True], {"retries": 2})
    assert client.run("repeats", seconds=20) == ("SUCCESS", {"n": "SUCCESS"})
    state, info = client.run("slow", seconds=21)
    assert (state, "timed out" in info) == ("ERROR", True)
    assert "'fail-on'" in client.run("judged")[1]
    execution = client.start("few")
    served.advance(15)
    task = client.tasks(execution)["t"]
    running = client.get(f"/tasks/{task['id']}/action_executions?state=RUNNING")["action_executions"]
    assert len(running) == 2
    served.advance(10)
    assert client.state(execution)[0] == "SUCCESS"


def test_reverse_workflows_and_nested_ones(client: Client) -> None:
    client.define("""
back:
  type: reverse
  input: [a]
  output: {sum: <% $.sum %>}
  tasks:
    one: {action: std.echo output=<% $.a %>, publish: {x: <% task().result %>}}
    two: {action: std.echo output=2, publish: {y: <% task().result %>}}
    both: {action: std.echo output=<% $.x + $.y %>, requires: [one, two], publish: {sum: <% task().result %>}}
    other: {action: std.fail}
round: {type: reverse, tasks: {a: {requires: [b]}, b: {requires: [a]}}}
outer: {output: {sum: <% $.sum %>}, tasks: {t: {workflow: back a=5 task_name=both, publish: {
  sum: <% task().result.sum %>}}}}
forever: {tasks: {t: {workflow: forever}}}
""")
    assert client.run("back", {"a": 1}, params={"task_name": "both"}) == ("SUCCESS", {"sum": 3})
    body = {"workflow_name": "back", "input": {"a": 1}}
    assert "task_name" in client.refused(400, "POST", "/executions", body)
    body = {"workflow_name": "round", "params": {"task_name": "a"}}
    assert "circular" in client.refused(400, "POST", "/executions", body)
    execution = client.start("outer")
    client.served.advance(10)
    assert client.state(execution) == ("SUCCESS", {"sum": 7})
    nested = client.get(f"/executions/{execution}/executions")["executions"]
    assert {one["root_execution_id"] for one in nested} == {None, execution}
    state, info = client.run("forever", seconds=100)
    assert (state, "levels" in info) == ("ERROR", True)


def test_executions_are_paused_resumed_stopped_and_run_again(served: ServedCloud, client: Client) -> None:
    client.define("""
steps: {tasks: {a: {action: std.sleep seconds=10, on-success: b}, b: {action: std.noop}}}
asks: {tasks: {a: {on-success: [pause, b]}, b: {pause-before: true}}}
outer: {tasks: {t: {workflow: steps}}}
items: {tasks: {t: {with-items: 'i in <% [1, 0] %>', action: std.echo output=<% 1 / ($.i + env().more) %>}}}
""")
    execution = client.start("outer")
    assert client.call("PUT", f"/executions/{execution}", {"state": "PAUSED"}).json["state"] == "PAUSED"
    served.advance(60)
    nested = client.get("/executions?workflow_name=steps")["executions"][0]
    assert (nested["state"], list(client.tasks(nested["id"]))) == ("PAUSED", ["a"])
    client.call("PUT", f"/executions/{execution}", {"state": "RUNNING"})
    served.advance(5)
    assert client.state(execution)[0] == "SUCCESS"
    client.refused(400, "PUT", f"/executions/{execution}", {"state": "PAUSED"})
    client.refused(400, "PUT", f"/executions/{execution}", {"state": "IDLE"})
    client.refused(400, "PUT", f"/executions/{execution}", {})
    assert client.call("PUT", f"/executions/{execution}", {"description": "d"}).json["description"] == "d"

    execution = client.start("asks")
    for _ in range(2):  # the command, and then the policy
        served.advance(5)
        assert client.state(execution)[0] == "PAUSED"
        client.call("PUT", f"/executions/{execution}", {"state": "RUNNING"})
    served.advance(5)
    assert client.state(execution)[0] == "SUCCESS"

    execution = client.start("outer")
    assert "Only completed executions" in client.refused(403, "DELETE", f"/executions/{execution}")
    client.call("PUT", f"/executions/{execution}", {"state": "CANCELLED", "state_info": "enough"})
    assert client.state(execution) == ("CANCELLED", "enough")
    assert client.get("/executions?state=RUNNING") == {"executions": []}
    running = client.start("outer")
    assert client.call("DELETE", f"/executions/{running}?force=true").status == 204
    served.advance(60)

    execution = client.start("items", params={"env": {"more": 0}})
    served.advance(5)
    assert client.state(execution)[0] == "ERROR"
    task = client.tasks(execution)["t"]
    client.refused(400, "PUT", f"/tasks/{task['id']}", {"state": "SUCCESS"})
    again = {"state": "RUNNING", "reset": False, "env": '{"more": 1}'}
    assert client.call("PUT", f"/tasks/{task['id']}", again).status == 200
    served.advance(5)
    assert client.state(execution)[0] == "SUCCESS"
    client.refused(400, "PUT", f"/tasks/{task['id']}", again)


def test_an_execution_is_started_once_per_id(client: Client) -> None:
    client.define("w: {input: [a], tasks: {t: {}}}")
    key = "11111111-2222-3333-4444-555555555555"
    assert client.start("w", {"a": 1}, id=key) == client.start("w", {"a": 2}, id=key) == key
    client.refused(404, "POST", "/executions", {"workflow_name": "w", "id": "x", "input": {"a": 1}})
    copy = client.call("POST", "/executions", {"source_execution_id": key}).json
    assert (copy["source_execution_id"], json.loads(copy["input"])) == (key, {"a": 1})
    client.refused(400, "POST", "/executions", {})
    client.refused(404, "POST", "/executions", {"workflow_name": "x"})


def test_environments_are_variables_of_executions(client: Client) -> None:
    client.define("w: {output: {a: <% env().a %>, b: '{{ env().b }}'}, tasks: {t: {}}}")
    made = client.call("POST", "/environments", {"name": "e", "variables": '{"a": 1, "b": "<% env().a %>"}'})
    assert (made.status, json.loads(made.json["variables"])["a"]) == (201, 1)
    client.refused(409, "POST", "/environments", {"name": "e", "variables": {"a": 1}})
    assert "variables" not in client.call("POST", "/environments", {"name": "empty"}).json
    for wrong in ({"name": "f", "variables": "["}, {"name": "f", "variables": {"a": 1}, "scope": "x"}):
        client.refused(400, "POST", "/environments", wrong)
    assert client.run("w", params='{"env": "e"}')[0] == "SUCCESS"
    assert client.call("PUT", "/environments", {"name": "e", "variables": {"a": 3, "b": 4}}).status == 200
    assert client.run("w", params={"env": "e"}) == ("SUCCESS", {"a": 3, "b": 4})
    client.refused(404, "POST", "/executions", {"workflow_name": "w", "params": {"env": "unknown"}})
    assert client.get("/environments?name=e")["environments"][0]["scope"] == "private"
    assert client.call("DELETE", "/environments/e").status == 204
    client.refused(404, "GET", "/environments/e")


def test_workflows_run_others_of_their_namespace(served: ServedCloud, client: Client) -> None:
    low = "low: {output: {from: %s}, tasks: {t: {}}}"
    client.define(low % "default")
    client.define(low % "abc", "?namespace=abc")
    client.define("middle: {output: {from: <% task(t).result.from %>}, tasks: {t: {workflow: low}}}")
    client.define("top: {output: {from: <% task(t).result.from %>}, tasks: {t: {workflow: middle}}}", "?namespace=abc")
    assert client.run("top", workflow_namespace="abc") == ("SUCCESS", {"from": "abc"})
    assert client.run("middle") == ("SUCCESS", {"from": "default"})
    shown = client.get("/executions?workflow_name=middle&sort_keys=id")["executions"]
    assert {json.loads(one["params"])["namespace"] for one in shown} == {"abc", ""}


# -- actions ---------------------------------------------------------------------------------------------------------


def test_asynchronous_and_ad_hoc_actions(client: Client) -> None:
    client.define(
        "w: {output: {r: <% $.r %>}, tasks: {t: {action: std.async_noop, publish: {r: <% task().result %>}}}}"
    )
    execution = client.start("w")
    client.served.advance(100)
    (action,) = client.get("/action_executions")["action_executions"]
    assert (action["state"], action["tags"], "task_name" in action) == ("RUNNING", None, False)
    client.refused(400, "PUT", f"/action_executions/{action['id']}", {"state": "DONE"})
    client.refused(403, "DELETE", f"/action_executions/{action['id']}")
    client.call("PUT", f"/action_executions/{action['id']}", {"state": "SUCCESS", "output": '{"a": 1}'})
    assert client.state(execution) == ("SUCCESS", {"r": {"a": 1}})
    client.refused(400, "PUT", f"/action_executions/{action['id']}", {"state": "ERROR"})

    alone = {"name": "std.echo", "input": '{"output": 7}', "params": {"run_sync": True, "save_result": True}}
    made = client.call("POST", "/action_executions", alone).json
    assert (made["state"], json.loads(made["output"])) == ("SUCCESS", {"result": 7})
    assert client.get(f"/action_executions/{made['id']}")["accepted"] is True
    assert "not allowed" in client.refused(403, "DELETE", f"/action_executions/{made['id']}")
    client.refused(400, "POST", "/action_executions", {"name": "std.unknown"})
    assert client.call("POST", "/actions", HEAD + "say: {base: std.noop, input: [a, {b: 1}]}").status == 201
    for given, problem in (({}, "missing=['a']"), ({"a": 1, "c": 2}, "unexpected=['c']")):
        body = {"name": "say", "input": given}
        assert client.refused(400, "POST", "/action_executions", body) == f"Invalid input [name=say, {problem}]"
    client.refused(400, "POST", "/action_executions", {**alone, "params": {"target": "x"}})


def test_ad_hoc_action_returns_its_result(served: ServedCloud, client: Client) -> None:
    made = client.call("POST", "/action_executions", {"name": "std.echo", "input": {"output": 7}})
    assert (made.status, made.json["state"], json.loads(made.json["output"])) == (201, "SUCCESS", {"result": 7})
    asked = {"name": "std.http", "input": {"url": f"{served.url}/workflow/v2"}}
    made = client.call("POST", "/action_executions", asked)
    assert json.loads(made.json["output"])["result"]["content"] == {"uri": f"{served.url}/workflow/v2"}
    assert client.get("/action_executions")["action_executions"] == [], "nobody asked to keep the results"

    kept = client.call("POST", "/action_executions", {**asked, "params": {"save_result": True}}).json
    assert kept["state"] == "RUNNING"
    waiting = client.call("POST", "/action_executions", {"name": "std.async_noop"}).json
    served.advance(1)
    assert client.get(f"/action_executions/{waiting['id']}")["state"] == "RUNNING"
    assert {one["id"] for one in client.get("/action_executions")["action_executions"]} == {kept["id"], waiting["id"]}
    client.refused(400, "POST", "/action_executions", {"name": "std.async_noop", "params": {"run_sync": True}})


def test_actions_call_cloud_services(served: ServedCloud, client: Client) -> None:
    client.define("""
asks: {input: [url], output: {status: <% $.r.status %>, ids: <% $.r.content.versions.id %>}, tasks: {t: {
  action: std.http url=<% $.url %>, publish: {r: <% task().result %>}}}}
""")

    def asked(url: str) -> tuple[str, Any]:
        execution = client.start("asks", {"url": url})
        served.advance(1)
        deadline = time.monotonic() + 10
        while client.state(execution)[0] == "RUNNING" and time.monotonic() < deadline:
            time.sleep(0.01)  # the request is made in real time, on a thread of its own
        return client.state(execution)

    assert asked(f"{served.url}/workflow/") == ("SUCCESS", {"status": 200, "ids": ["v2.0"]})
    for address in ("http://192.0.2.1/", "http://example.com/", "file:///etc/passwd", "http://127.0.0.1@example.com/"):
        state, info = asked(address)
        assert (state, "loopback address only" in info) == ("ERROR", True)


# -- cron triggers ---------------------------------------------------------------------------------------------------


def test_cron_triggers_act_for_their_user(served: ServedCloud, client: Client) -> None:
    client.define("w: {input: [a], tasks: {t: {}}}")
    body = {"name": "c", "workflow_name": "w", "workflow_input": '{"a": 1}', "pattern": "0 * * * *"}
    made = client.call("POST", "/cron_triggers", {**body, "first_execution_time": "2023-11-15 00:30"})
    assert (made.status, made.json["next_execution_time"]) == (201, "2023-11-15 00:30:00")
    client.refused(409, "POST", "/cron_triggers", body)
    same = {**body, "name": "d", "first_execution_time": "2023-11-15 00:30", "remaining_executions": "3"}
    twin = client.call("POST", "/cron_triggers", same).json
    assert twin["remaining_executions"] == 3
    client.refused(409, "POST", "/cron_triggers", {**same, "name": "e"})
    assert client.call("DELETE", f"/cron_triggers/{twin['id']}").status == 204
    client.refused(400, "POST", "/cron_triggers", {**same, "workflow_name": "unknown", "remaining_executions": "no"})
    served.advance(2 * 3600 + 17 * 60)
    assert client.get("/cron_triggers/c")["next_execution_time"] == "2023-11-15 01:00:00"
    (execution,) = client.get("/executions")["executions"]
    assert (execution["state"], json.loads(execution["description"])["triggered_by"]["name"]) == ("SUCCESS", "c")

    admin, trusts = served.token(), "/identity/v3/OS-TRUST/trusts"
    (trust,) = served.call("GET", trusts, token=admin).json["trusts"]
    user = {"user": {"enabled": False}}
    assert served.call("PATCH", f"/identity/v3/users/{trust['trustor_user_id']}", user, admin).status == 200
    served.advance(3600)
    others = Client(served, "admin")
    assert len(others.get("/executions?all_projects=true")["executions"]) == 1, "the user may do nothing any more"
    assert others.get(f"/cron_triggers/{made.json['id']}")["next_execution_time"] == "2023-11-15 02:00:00"
    assert others.call("DELETE", f"/cron_triggers/{made.json['id']}").status == 204
    assert served.call("GET", trusts, token=served.token()).json["trusts"] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"pattern": None},
        {"pattern": "* * *"},
        {"pattern": "0 0 30 2 *"},
        {"pattern": "* * * * * *"},
        {"pattern": None, "first_execution_time": "soon"},
        {"first_execution_time": "2023-11-14 22:13"},
        {"pattern": None, "first_execution_time": "2030-01-01 00:00", "remaining_executions": 2},
        {"remaining_executions": 0},
        {"workflow_input": "{}"},
        {"workflow_input": "["},
        {"name": ""},
        {"colour": "red"},
    ],
)
def test_an_invalid_cron_trigger_is_refused(client: Client, fields: dict[str, Any]) -> None:
    client.define("w: {input: [a], tasks: {t: {}}}")
    body = {"name": "c", "workflow_name": "w", "workflow_input": {"a": 1}, "pattern": "* * * * *"}
    assert client.refused(400, "POST", "/cron_triggers", {**body, **fields})
    assert client.get("/cron_triggers") == {"cron_triggers": []}


# -- restarts --------------------------------------------------------------------------------------------------------


def test_an_execution_continues_after_a_restart(tmp_path: Path) -> None:
    clock, state = ManualClock(), tmp_path / "cloud.db"
    with ServedCloud(new_cloud(clock=clock, state_path=state)) as served:
        client = Client(served)
        client.define("w: {tasks: {t: {action: std.sleep seconds=60, on-success: u}, u: {wait-before: 60}}}")
        execution = client.start("w")
        served.advance(90)
    with ServedCloud(new_cloud(clock=clock, state_path=state)) as served:
        client = Client(served)
        assert client.tasks(execution)["u"]["state"] == "DELAYED"
        served.advance(60)
        assert client.state(execution)[0] == "SUCCESS"


# -- messages ----------------------------------------------------------------------------------------------------------


def test_a_message_in_a_queue_starts_a_workflow_for_its_subscriber(served: ServedCloud, client: Client) -> None:
    client.define("w: {input: [a], output: {body: <% env().notification.body %>}, tasks: {t: {}}}")
    queue, headers = "/messaging/v2/queues/orders", {"Client-ID": "11111111-2222-3333-4444-555555555555"}
    run = {"workflow_id": "w", "input": {"a": 1}, "params": {"env": {"notification": "$zaqar_message$"}}}
    subscription = {
        "subscriber": f"trust+{served.url}/workflow/v2/executions",
        "options": {"post_data": json.dumps(run)},
        "ttl": 3600,
    }
    user = served.token("demo", "demo")
    made = served.call("POST", f"{queue}/subscriptions", subscription, user, headers)
    assert made.status == 201, made.content
    message = {"messages": [{"body": {"order": 7}, "ttl": 300}]}
    assert served.call("POST", f"{queue}/messages", message, user, headers).status == 201
    deadline = time.monotonic() + 10
    while not client.get("/executions")["executions"] and time.monotonic() < deadline:
        time.sleep(0.01)  # the delivery is real
    served.advance(5)
    (execution,) = client.get("/executions")["executions"]
    assert client.state(execution["id"]) == ("SUCCESS", {"body": {"order": 7}})
    trusts = "/identity/v3/OS-TRUST/trusts"
    assert len(served.call("GET", trusts, token=served.token()).json["trusts"]) == 1
    place = f"{queue}/subscriptions/{made.json['subscription_id']}"
    assert served.call("DELETE", place, token=served.token("demo", "demo"), headers=headers).status == 204
    assert served.call("GET", trusts, token=served.token()).json["trusts"] == []


# -- event triggers ----------------------------------------------------------------------------------------------------


def test_event_triggers_are_kept_with_their_workflow(served: ServedCloud, client: Client) -> None:
    [workflow] = client.define("w: {input: [a], tasks: {t: {}}}")
    event = {"exchange": "openstack", "topic": "notifications", "event": "compute.instance.create.start"}
    body = {"workflow_id": workflow["id"], **event, "workflow_input": {"a": 1}}
    made = client.call("POST", "/event_triggers", {**body, "name": "t"})
    assert made.status == 201, made.content
    assert (made.json["scope"], made.json["workflow_input"], made.json["event"]) == (
        "private",
        '{"a": 1}',
        event["event"],
    )
    place = f"/event_triggers/{made.json['id']}"
    client.refused(409, "POST", "/event_triggers", body)
    assert "event" in client.refused(400, "POST", "/event_triggers", {**body, "event": ""})
    client.refused(400, "POST", "/event_triggers", {**body, "workflow_id": "w"})
    client.refused(404, "POST", "/event_triggers", {**body, "workflow_id": made.json["id"]})
    client.refused(400, "POST", "/event_triggers", {**body, "workflow_input": {}})
    client.refused(403, "POST", "/event_triggers", {**body, "scope": "public"})
    client.refused(400, "PUT", place, {"topic": "others"})
    assert client.call("PUT", place, {"name": "renamed"}).json["name"] == "renamed"
    assert [one["id"] for one in client.get("/event_triggers?name=renamed")["event_triggers"]] == [made.json["id"]]
    [hidden] = Client(served, "admin").define("hidden: {tasks: {t: {}}}")
    client.refused(404, "POST", "/event_triggers", {**body, "workflow_id": hidden["id"], "workflow_input": {}})
    used = f"event triggers associated. [workflow_identifier=w, namespace=], [event_trigger_id(s)={made.json['id']}]"
    assert used in client.refused(400, "DELETE", "/workflows/w")
    assert client.call("DELETE", place).status == 204
    client.refused(404, "GET", place)
    assert client.call("DELETE", f"/workflows/{workflow['id']}").status == 204
