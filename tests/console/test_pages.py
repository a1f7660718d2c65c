"""The console's pages as they are sent: what they show, what their forms do, and live events."""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from openstack_emulator.testing import ServedCloud
from stoker.cli.views.plans import plan_lines
from stoker.console.plan_view import shown_steps
from testing.harness import ThreadedWorld
from tests.console.support import Browser, create, hidden_fields, logged_in, served_console

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "description": "Two <b>words</b> & more",
    "parameters": {
        "flavor": {"type": "string", "default": "m1.small"},
        "password": {"type": "string", "default": "swordfish", "hidden": True},
    },
    "resources": {
        "word": {"type": "OS::Heat::RandomString"},
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": {"type": "OS::Heat::RandomString"}},
        },
    },
    "outputs": {"place": {"description": "Where", "value": "<script>alert(1)</script>"}},
}
WORD = {"type": "OS::Heat::RandomString"}
LOGIN = {"user": "demo", "password": "secret", "project": "demo"}


def test_a_stack_is_found_in_the_list_and_on_its_pages(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "web", TEMPLATE)
    assert "web" in browser.get("/stacks").text
    assert stack in browser.get("/stacks?name=web&status=COMPLETE").text
    assert "No stack matches" in browser.get("/stacks?name=web&status=FAILED").text

    tree = browser.get(stack).text
    identifier = stack.rpartition("/")[2]
    assert f'id="r-{identifier}/word"' in tree and f'data-parent="r-{identifier}/group"' in tree
    assert tree.count('data-status="COMPLETE"') == 5  # the stack, two resources and the members of the group
    assert "Two &lt;b&gt;words&lt;/b&gt; &amp; more" in tree

    details = browser.get(f"{stack}/details").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in details and "m1.small" in details and "Create complete" in details
    definition = browser.get(f"{stack}/definition").text
    assert "heat_template_version" in definition and "swordfish" not in details + definition
    events = browser.get(f"{stack}/events").text
    assert "Create complete" in events and "state changed" not in events
    resource = browser.get(f"{stack}/resources/word").text
    assert "OS::Heat::RandomString" in resource and "Create complete" in resource
    fragment = browser.get(stack, **{"X-Fragment": "1"}).text
    assert 'id="tree"' in fragment and "<html" not in fragment


def test_graph_shows_resource_states(browser: Browser, world: ThreadedWorld) -> None:
    word = {"type": "OS::Heat::Value", "properties": {"value": {"get_resource": "word"}}}
    stack = create(world, "drawn", {**TEMPLATE, "resources": {**TEMPLATE["resources"], "copy": word}})
    identifier = stack.rpartition("/")[2]
    picture = browser.get(f"{stack}/graph").text
    for name in ("word", "copy", "group"):
        assert f'<g id="n-{identifier}/{name}" class="node" data-status="COMPLETE">' in picture, name
    assert picture.count('<g id="n-') == 5 and picture.count('<path class=""') == 1  # members too; one dependency


def test_console_plan_equals_terminal_plan() -> None:
    def change(before: Any, after: Any, **more: Any) -> dict[str, Any]:
        common = {"property": "value", "path": [], "known": True, "hidden": False, "effect": "update"}
        return {**common, "before": before, "after": after, **more}

    given = [
        (change("x", ""), ("x", '""')),
        (change("", "x"), ('""', "x")),
        (change("x", None), ("x", "")),
        (change("x", None, known=False), ("x", "known after the deployment")),
        (change("x", None, known=False, hidden=True), ("(hidden)", "(hidden)")),
        (change(None, {"a": 0}), ("", '{"a": 0}')),
        (change(None, 0), ("", "0")),
    ]
    step = {"kind": "update", "path": "word", "type": "T", "depth": 0, "reasons": []}
    plan = {"steps": [{**step, "changes": [item for item, _ in given]}]}
    (shown,) = shown_steps(plan)
    assert [(item["before"], item["after"]) for item in shown["changes"]] == [expected for _, expected in given]
    out = Console(width=200, file=io.StringIO())
    lines = [line.plain for line in plan_lines("s", plan, out)][3:10]
    assert [line.partition("= ")[2].replace("\ue000", " ") for line in lines] == [
        '"x" -> ""',
        '"" -> "x"',
        '"x"',
        '"x" -> (known after apply)',
        "(hidden) -> (hidden)",
        '{"a": 0}',
        "0",
    ]


def test_actions_require_confirmation(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "short-lived", TEMPLATE)
    page = browser.get(stack).text
    assert all(f"{stack}/actions/{name}" in page for name in ("check", "suspend", "delete"))
    assert not any(f"{stack}/actions/{name}" in page for name in ("resume", "cancel_update", "retry"))
    question = f"{stack}/actions/delete"
    assert "Delete the stack short-lived?" in browser.get(question).text

    refused = browser.submit(f"{stack}/actions/cancel_update", question)
    assert refused.status_code == 400 and 'role="alert"' in refused.text
    assert re.search(r'id="refused-request">req-[0-9a-f-]{36}<', refused.text)
    done = browser.submit(question, question)
    assert (done.status_code, done.headers["Location"]) == (303, f"/console{stack}")
    world.settle(stack.rpartition("/")[2])
    assert "short-lived" not in browser.get("/stacks").text


def test_a_deletion_shows_its_plan_and_does_only_that(browser: Browser, world: ThreadedWorld) -> None:
    disk = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
    stack = create(world, "planned", {"heat_template_version": "2021-04-16", "resources": {"disk": disk}})
    question, identifier = f"{stack}/actions/delete", stack.rpartition("/")[2]
    page = browser.get(question).text
    assert "<strong>Data loss:</strong> the data on the volume" in page and "Data is lost with: disk." in page
    assert re.search(r"Compared with the cloud at \S+Z: 1 in sync\.", page)
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', page)
    browser.submit(f"{stack}/actions/check", f"{stack}/actions/check")
    world.settle(identifier)
    late = browser.submit(question, question, digest=digest)
    assert late.status_code == 409 and "has changed since the plan was made" in late.text
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', late.text)
    assert browser.submit(question, question, digest=digest).status_code == 303
    world.settle(identifier)


def test_a_deletion_keeps_objects_after_showing_the_plan_for_that(browser: Browser, world: ThreadedWorld) -> None:
    net = {"type": "OS::Neutron::Net"}
    stack = create(world, "kept", {"heat_template_version": "2021-04-16", "resources": {"kept": net, "gone": net}})
    question, identifier = f"{stack}/actions/delete", stack.rpartition("/")[2]
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', browser.get(question).text)
    again = browser.submit(question, question, digest=digest, planned="", entered="kept")
    assert again.status_code == 200 and "Retained in the cloud: kept." in again.text
    assert world.run(world.world.call("stack_show", ref={"name": None, "id": identifier}))["action"] == "CREATE"
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', again.text)
    wrong = browser.submit(question, question, digest="", entered="nobody")
    assert wrong.status_code >= 400 and "nobody" in wrong.text
    assert browser.submit(question, question, digest=digest, planned="kept", entered="kept").status_code == 303
    world.settle(identifier)
    events = world.run(world.world.call("event_list", ref={"name": None, "id": identifier}, resource_name="kept"))
    assert any("etain" in event["status_reason"] for event in events), [event["status_reason"] for event in events]


def test_a_retry_shows_what_is_left_and_without_what_is_skipped(browser: Browser, world: ThreadedWorld) -> None:
    def template(value: str, fail: bool) -> dict[str, Any]:
        broken = {"type": "OS::Heat::TestResource", "properties": {"value": value, "fail": fail}}
        return {"heat_template_version": "2021-04-16", "resources": {"broken": broken}}

    stack = create(world, "retried", template("one", False))
    question, identifier = f"{stack}/actions/retry", stack.rpartition("/")[2]
    ref = {"name": None, "id": identifier}
    change = {"template": template("two", True), "disable_rollback": True}
    world.run(world.world.call("stack_update", ref=ref, **change))
    world.settle(identifier)
    page = browser.get(question).text
    assert "1 to replace" in page and "its update failed" in page
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', page)
    again = browser.submit(question, question, digest=digest, planned="", marked="broken")
    assert (
        'name="marked" value="broken"' in page
        and again.status_code == 200
        and "Skipped, as requested, and left as they are: broken." in again.text
    )
    (digest,) = re.findall(r'name="digest" value="([^"]+)"', again.text)
    assert browser.submit(question, question, digest=digest, planned="broken", entered="broken").status_code == 303
    world.settle(identifier)
    shown = world.run(world.world.call("stack_show", ref=ref))
    assert (shown["action"], shown["status"]) == ("UPDATE", "COMPLETE")


def test_a_stack_is_found_by_a_part_of_its_name_and_sorted(browser: Browser, world: ThreadedWorld) -> None:
    paths = [create(world, name, TEMPLATE) for name in ("sorted-a", "sorted-b")]
    page = browser.get("/stacks?name=ORTED&sort=-name").text
    assert 'aria-sort="descending"' in page and page.index(paths[1]) < page.index(paths[0])
    page = browser.get("/stacks?name=orted&sort=name").text
    assert page.index(paths[0]) < page.index(paths[1]) and 'class="ago"' in page
    identifier = paths[0].rpartition("/")[2]
    assert paths[0] in browser.get(f"/stacks?name={identifier[:13]}").text
    assert browser.get("/stacks/sorted-a").headers["Location"] == f"/console{paths[0]}"
    (nested,) = re.findall(r"/stacks/(sorted-a-group-[^/]+)/([^/]+)/resources/0", browser.get(paths[0]).text)
    assert browser.get(f"/stacks/{nested[1]}").headers["Location"] == f"/console/stacks/{'/'.join(nested)}"
    inside = browser.get(f"/stacks/{'/'.join(nested)}").text
    assert f'href="/console{paths[0]}">sorted-a<' in inside
    assert f'{"/".join(nested)}">' in browser.get(f"{paths[0]}/resources/group").text
    assert browser.get("/stacks/missing").status_code == 404


def test_events_are_filtered(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "eventful", TEMPLATE)
    everything = browser.get(f"{stack}/events").text
    assert everything.count("/resources/word") == 2 and "in eventful-group-" in everything
    found = browser.get(f"{stack}/events?name=word&status=COMPLETE&action=CREATE").text
    assert found.count('data-label="State"') == 1 and "/resources/word" in found
    assert "No event matches" in browser.get(f"{stack}/events?name=word&action=DELETE").text


def test_events_are_those_of_one_operation(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "twice", TEMPLATE)
    identifier = stack.rpartition("/")[2]
    world.run(world.world.update(identifier, {**TEMPLATE, "resources": {"word": TEMPLATE["resources"]["word"]}}))
    page = browser.get(f"{stack}/events").text
    chosen = re.findall(r'<option value="(\w{8}-[-\w]+)">(\w+) complete', page)
    assert [label for _, label in chosen] == ["Update", "Create"]
    updated, created = (browser.get(f"{stack}/events?operation={key}").text for key, _ in chosen)
    tables = (text.partition('aria-label="Events">')[2] for text in (updated, created))
    states = [set(re.findall(r">(\w+) (?:complete|in progress)</span>", table)) for table in tables]
    assert states == [{"Update", "Delete"}, {"Create"}]
    assert chosen[0][0] in browser.get(f"{stack}/details").text
    assert browser.get(f"{stack}/events?operation=unknown").status_code == 404


def test_parts_of_a_stack_are_downloaded(browser: Browser, world: ThreadedWorld) -> None:
    note = {"type": "OS::Heat::Value", "properties": {"value": {"get_file": "notes/ö.txt"}}}
    template = {"heat_template_version": "2021-04-16", "resources": {"note": note}}
    stack = create(world, "saved", template, files={"notes/ö.txt": "<b>"}, environment={"parameter_defaults": {"a": 1}})
    found = browser.get(f"{stack}/download/template")
    assert "get_file: notes/ö.txt" in found.text and "saved.yaml" in found.headers["Content-Disposition"]
    assert found.headers["Content-Type"] == "application/octet-stream"
    assert "parameter_defaults" in browser.get(f"{stack}/download/environment").text
    page = html.unescape(browser.get(f"{stack}/definition").text)
    (path,) = re.findall(r'href="/console(/[^"]+/download/files[^"]+)"', page)
    file = browser.get(path)
    assert file.text == "<b>" and file.headers["Content-Disposition"].startswith("attachment")
    for tail in ("files?name=none", "nothing"):
        assert browser.get(f"{stack}/download/{tail}").status_code == 404


def test_snapshots_are_taken_restored_and_deleted(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "pictured", TEMPLATE)
    identifier, question = stack.rpartition("/")[2], f"{stack}/actions/snapshot"
    assert "The stack has no snapshots" in browser.get(f"{stack}/snapshots").text
    assert 'name="entered"' in browser.get(question).text
    browser.submit(question, question, entered="before <it>")
    world.settle(identifier)
    page = browser.get(f"{stack}/snapshots").text
    assert "before &lt;it&gt;" in page
    (restore,) = re.findall(r'href="/console(/[^"]+/actions/restore)"', page)
    assert "Restore the snapshot before &lt;it&gt;?" in browser.get(restore).text
    assert browser.submit(restore, restore).headers["Location"] == f"/console{stack}/snapshots"
    world.settle(identifier)
    assert "Restore complete" in browser.get(stack).text
    delete = restore.replace("restore", "delete")
    assert browser.submit(delete, delete).status_code == 303
    assert "actions/restore" not in browser.get(f"{stack}/snapshots").text


def test_resources_are_signalled_and_marked(browser: Browser, world: ThreadedWorld) -> None:
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    template = {"heat_template_version": "2021-04-16", "resources": {"handle": handle}}
    stack = create(world, "signalled", template)
    resource = f"{stack}/resources/handle"
    page = browser.get(resource).text
    assert "actions/signal" in page and "actions/unhealthy" in page and "actions/healthy" not in page
    signal, data = f"{resource}/actions/signal", {"id": "one", "status": "SUCCESS", "reason": "ok", "data": "d"}
    wrong = browser.submit(signal, signal, entered="{")
    assert wrong.status_code == 400 and "The data of a signal is JSON" in wrong.text
    done = browser.submit(signal, signal, entered=json.dumps(data))
    assert done.headers["Location"] == f"/console{resource}"
    assert "Signal complete" in browser.get(resource).text
    unhealthy = f"{resource}/actions/unhealthy"
    browser.submit(unhealthy, unhealthy, entered="it <smells>")
    page = browser.get(resource).text
    assert "it &lt;smells&gt;" in page and "Check failed" in page
    browser.submit(f"{resource}/actions/healthy", unhealthy)
    assert "actions/healthy" not in browser.get(resource).text


def test_a_stack_is_abandoned_and_adopted(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "given-away", TEMPLATE)
    question = f"{stack}/actions/abandon"
    assert browser.get(f"{stack}/download/export").json()["id"] == stack.rpartition("/")[2]
    page = browser.submit(question, question).text
    data = html.unescape(re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)[0])
    assert "given-away" not in browser.get("/stacks?name=given-away").text.partition('id="list"')[2]
    for wrong, message in (("{", "not valid JSON"), ("[]", "must be a JSON object")):
        refused = browser.submit("/adopt", "/adopt", name="", data=wrong)
        assert refused.status_code == 400 and message in refused.text
    done = browser.submit("/adopt", "/adopt", name="", data=data)
    assert done.status_code == 303, done.text
    adopted = done.headers["Location"].removeprefix("/console")
    world.settle(adopted.rpartition("/")[2])
    assert adopted.startswith("/stacks/given-away/") and "Adopt complete" in browser.get(adopted).text


def test_events_reach_the_page_while_it_is_open(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "live", TEMPLATE)
    response = browser.session.get(f"{browser.base}/console{stack}/stream", stream=True, timeout=60)
    assert response.headers["Content-Type"] == "text/event-stream"
    browser.submit(f"{stack}/actions/check", f"{stack}/actions/check")
    for line in response.iter_lines(chunk_size=1):
        if line.startswith(b"data: ") and json.loads(line[6:])["resource_status"] == "CHECK_COMPLETE":
            break
    else:
        raise AssertionError("the stream ended before the check")
    response.close()


def test_an_unknown_url_has_an_error_page(browser: Browser) -> None:
    missing = browser.get("/stacks/none/00000000-0000-0000-0000-000000000000")
    assert missing.status_code == 404 and "<h1>Not Found</h1>" in missing.text and "could not be found" in missing.text
    for path in ("/nowhere", "/static/none.js", "/stacks/a/b/actions/explode"):
        assert browser.get(path).status_code == 404, path
    style = browser.get("/static/console.css")
    assert style.headers["Content-Type"].startswith("text/css")


def test_a_stack_is_created_and_changed_by_an_approved_plan(browser: Browser, world: ThreadedWorld) -> None:
    template = """heat_template_version: 2021-04-16
parameters:
  length: {type: number, default: 8, constraints: [{range: {min: 4, max: 40}}]}
  kind: {type: string, constraints: [{allowed_values: [lettersdigits, hexdigits]}]}
  secret: {type: string, hidden: true}
resources:
  word: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
  copy: {type: OS::Heat::Value, properties: {value: {get_param: secret}}}
"""
    wrong = browser.submit(
        "/deploy", "/deploy", do="plan", name="planned", template=template.replace("length:", "lenth:")
    )
    assert wrong.status_code == 400 and 'data-line="7"' in wrong.text and "lenth" in wrong.text

    form = browser.submit("/deploy", "/deploy", do="check", name="planned", template=template).text
    assert "From 4 to 40." in form and "<option>hexdigits</option>" in form and 'type="password"' in form
    assert "No problems" in form and "kind <span" in form

    fields = {"name": "planned", "template": template, "parameter:kind": "hexdigits", "parameter:length": ""}
    missing = browser.submit("/deploy", "/deploy", do="plan", **fields)
    assert missing.status_code == 400 and "secret" in missing.text
    plan = browser.submit("/deploy", "/deploy", do="plan", **fields, **{"parameter:secret": "swordfish"})
    assert plan.status_code == 200 and "2 to create" in plan.text and "swordfish" not in plan.text
    assert "(hidden)" in plan.text

    carried = hidden_fields(plan.text)
    again = browser.post("/deploy", {**carried, "do": "edit"}).text
    assert "Entered; leave the field empty to keep the value." in again and "swordfish" not in again
    done = browser.post("/deploy", {**carried, "do": "apply"})
    assert done.status_code == 303, done.text
    stack = done.headers["Location"].removeprefix("/console")
    world.settle(stack.rpartition("/")[2])
    assert "Create complete" in browser.get(stack).text

    page = browser.get(f"{stack}/deploy").text
    assert 'value="8"' in page and "Leave the field empty to keep the value." in page
    update = {**hidden_fields(page), "template": template, "parameter:length": "12", "parameter:kind": "hexdigits"}
    plan = browser.post(f"{stack}/deploy", {**update, "do": "plan"})
    assert plan.status_code == 200, plan.text
    assert "<del><pre>8</pre></del>" in plan.text and "<ins><pre>12</pre></ins>" in plan.text
    assert "forces replacement" in plan.text and "1 to replace" in plan.text
    assert re.search(r"Compared with the cloud at \S+Z \(what the change touches and depends on\)", plan.text)
    done = browser.post(f"{stack}/deploy", {**hidden_fields(plan.text), "do": "apply"})
    assert done.headers["Location"] == f"/console{stack}", done.text
    world.settle(stack.rpartition("/")[2])
    details = browser.get(f"{stack}/details").text
    assert "Update complete" in details and 'aria-label="Value of length">12<' in details
    outdated = browser.post(f"{stack}/deploy", {**hidden_fields(plan.text), "do": "apply"})
    assert outdated.status_code == 409 and "Plan…" in outdated.text


def test_the_editor_completes_and_describes(browser: Browser) -> None:
    def ask(what: str, document: str, text: str, **more: str) -> Any:
        field = {"template": "template", "environment": "environment"}.get(document, document)
        form = {"template": "heat_template_version: 2021-04-16\n", "environment": "", **more, field: text}
        offset = text.index("|")
        form[field] = text.replace("|", "")
        answer = browser.submit("/assistance", "/deploy", ask=what, document=document, offset=offset, **form)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def labels(*arguments: str, **more: str) -> list[str]:
        return [item["label"] for item in ask("complete", *arguments, **more)["items"]]

    head = (
        "heat_template_version: 2021-04-16\nparameters: {size: {type: string, description: How ö}}\nresources:\n  a:\n"
    )
    assert labels("template", f"{head}    type: Nova::Serv|") == ["OS::Nova::Server", "OS::Nova::ServerGroup"]
    found = ask("complete", "template", f"{head}    type: OS::Heat::RandomString\n    properties:\n      len|")
    (item,) = found["items"]
    assert (item["label"], item["insert"], item["kind"]) == ("length", "length: ", "property")
    assert "Must be `1` to `512`." in item["text"] and found["end"] - found["start"] == 3
    assert labels("template", f"{head}    type: X\n    properties: {{b: {{get_param: |}}}}")[0] == "size"
    described = ask("describe", "template", f"{head}    type: OS::Heat::Rand|omString")
    assert "**OS::Heat::RandomString**" in described["text"]
    assert "Attributes" in ask("type", "template", "|", name="OS::Heat::RandomString")["text"]

    nested = "heat_template_version: 2021-04-16\nparameters: {inner: {type: string}}\n"
    files = {"file:nested/db.yaml": nested, "file:web.sh": "#!/bin/sh"}
    assert labels("template", f"{head}    type: nested/|", **files) == ["nested/db.yaml"]
    typed = f"{head}    type: nested/db.yaml\n    properties:\n      inn|"
    assert labels("template", typed, **files) == ["inner"]
    mapped = typed.replace("nested/db.yaml", "My::Database")
    registry = "resource_registry: {My::Database: nested/db.yaml}\n"
    assert labels("template", mapped, **files, environment=registry) == ["inner"]
    assert "web.sh" in labels("template", f"{head}    properties: {{b: {{get_file: |}}}}", **files)
    assert labels("environment", "resource_reg|") == ["resource_registry"]
    assert labels("file:nested/db.yaml", f"{nested}outp|") == ["outputs"]


def test_regions_lead_to_their_consoles(browser: Browser, served: ServedCloud) -> None:
    token = served.token("admin", "admin")

    def make(kind: str, **values: str) -> Any:
        answer = served.call("POST", f"/identity/v3/{kind}s", {kind: values}, token)
        assert answer.status == 201, answer.content
        return answer.json[kind]["id"]

    assert "Regions" not in browser.get("/projects").text
    service = make("service", type="orchestration", name="stoker")
    for region, host in (("North", browser.base), ("South", "https://south.example:8004")):
        make("region", id=region)
        url = f"{host}/v1/$(project_id)s"
        make("endpoint", service_id=service, region_id=region, interface="public", url=url)
    page = logged_in(browser.base, served).get("/projects").text
    assert '<a href="https://south.example:8004/console">South</a>' in page and "North <span" in page


def test_files_and_an_environment_are_deployed(browser: Browser, world: ThreadedWorld) -> None:
    template = """heat_template_version: 2021-04-16
resources:
  inner: {type: My::Inner, properties: {text: {get_file: notes/a.txt}}}
outputs:
  text: {value: {get_attr: [inner, text]}}
"""
    nested = """heat_template_version: 2021-04-16
parameters: {text: {type: string}}
resources:
  value: {type: OS::Heat::Value, properties: {value: {get_param: text}}}
outputs:
  text: {value: {get_attr: [value, value]}}
"""
    form = {
        "name": "filed",
        "template": template,
        "environment": "resource_registry: {My::Inner: inner.yaml}",
        "file:inner.yaml": nested,
        "file:notes/a.txt": "first <words>\r\n",
    }
    wrong = browser.submit(
        "/deploy", "/deploy", do="check", **{**form, "environment": "parameters: {}\nparameterz: {}\n"}
    )
    assert 'data-in="environment" data-line="2"' in wrong.text, wrong.text
    broken = browser.submit("/deploy", "/deploy", do="check", **{**form, "file:inner.yaml": f"{nested}resource: 1\n"})
    assert 'data-in="file:inner.yaml" data-line="7"' in broken.text
    plan = browser.submit("/deploy", "/deploy", do="plan", **form)
    assert plan.status_code == 200, plan.text
    done = browser.post("/deploy", {**hidden_fields(plan.text), "do": "apply"})
    assert done.status_code == 303, done.text
    stack = done.headers["Location"].removeprefix("/console")
    world.settle(stack.rpartition("/")[2])
    assert "first &lt;words&gt;" in browser.get(f"{stack}/details").text

    page = browser.get(f"{stack}/deploy").text
    assert 'name="file:notes/a.txt"' in page and "first &lt;words&gt;" in page and "No problems" in page
    update = {"template": template, "environment": "parameter_defaults: {other: 1}", "file:notes/a.txt": "second"}
    plan = browser.submit(f"{stack}/deploy", f"{stack}/deploy", do="plan", **update)
    assert plan.status_code == 200 and "second" in plan.text, plan.text
    browser.post(f"{stack}/deploy", {**hidden_fields(plan.text), "do": "apply"})
    world.settle(stack.rpartition("/")[2])
    assert "second" in browser.get(f"{stack}/details").text
    definition = browser.get(f"{stack}/definition").text
    assert "parameter_defaults" in definition and "My::Inner" in definition and "inner.yaml" in definition


def test_form_input_survives_session_expiry(browser: Browser, world: ThreadedWorld, base: str) -> None:
    declared = "parameters: {word: {type: string}, key: {type: string, hidden: true}}"
    template = f"heat_template_version: 2021-04-16\n{declared}\n"
    form = {"do": "plan", "name": "typed", "template": template, "parameter:word": "shown", "parameter:key": "sesame"}
    csrf = hidden_fields(browser.get("/deploy").text)["csrf"]
    late = Browser(base)
    login = late.post("/deploy", {**form, "csrf": csrf})
    assert login.status_code == 401 and "what you have entered is kept" in login.text and "sesame" not in login.text
    fields = hidden_fields(login.text)
    wrong = late.post("/login", {**fields, "user": "demo", "password": "wrong", "project": "demo"})
    assert hidden_fields(wrong.text) == fields
    resumed = late.post("/login", {**fields, "user": "demo", "password": "secret", "project": "demo"})
    assert resumed.status_code == 200 and 'action="/console/deploy"' in resumed.text and "sesame" not in resumed.text
    again = late.post("/deploy", hidden_fields(resumed.text))
    assert 'value="typed"' in again.text and 'value="shown"' in again.text and "sesame" not in again.text
    assert "Entered; leave the field empty to keep the value." in again.text
    sealed = {name: value for name, value in hidden_fields(again.text).items() if name in ("csrf", "sealed")}
    assert late.post("/deploy", {**form, **sealed, "parameter:key": ""}).status_code == 200

    # a page of another session of the same user: its hidden values are kept, too
    moved = browser.post("/deploy", {**form, **sealed, "parameter:key": ""})
    assert moved.status_code == 403 and "The session in which you opened the form has ended" in moved.text
    assert "Entered; leave the field empty" in browser.post("/deploy", hidden_fields(moved.text)).text

    stack = create(world, "asked", TEMPLATE)
    for path, typed in (("/adopt", {"data": "{1}"}), (f"{stack}/actions/snapshot", {"entered": "before <it>"})):
        login = Browser(base).post(path, typed)
        resumed = late.post("/login", {**hidden_fields(login.text), **LOGIN})
        shown = html.unescape(late.post(path, hidden_fields(resumed.text)).text)
        assert next(iter(typed.values())) in shown, shown
    assert "has no snapshots" in late.get(f"{stack}/snapshots").text
    assert late.post("/deploy", {**form, "csrf": "x"}, **{"Sec-Fetch-Mode": "cors"}).status_code == 403
    assert Browser(base).post("/deploy", form, **{"Sec-Fetch-Mode": "cors"}).status_code == 401


def test_nested_stacks_lead_back_to_all_stacks_around_them(browser: Browser, world: ThreadedWorld) -> None:
    group = {"count": 1, "resource_def": {"type": "OS::Heat::RandomString"}}
    inner = {"type": "OS::Heat::ResourceGroup", "properties": group}
    outer = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": inner}}
    stack = create(world, "deep", {"heat_template_version": "2021-04-16", "resources": {"outer": outer}})
    page = stack
    for name in ("outer", "0"):
        page = re.findall(
            r'<dt>Nested stack</dt><dd><a href="/console([^"]+)"', browser.get(f"{page}/resources/{name}").text
        )[0]
    crumbs = re.findall(
        r'href="/console([^"]+)"', browser.get(page).text.partition('class="crumbs"')[2].partition("</p>")[0]
    )
    assert crumbs[:2] == ["/stacks", stack] and crumbs[2].startswith("/stacks/deep-outer-") and len(crumbs) == 3


def test_the_form_for_parameters_says_what_is_allowed(browser: Browser) -> None:
    template = """heat_template_version: 2021-04-16
parameter_groups:
  - {label: First <group>, description: What to fill in, parameters: [secret, missing]}
parameters:
  even: {type: number, default: 4, constraints: [{modulo: {step: 2, offset: 0}}]}
  flavor: {type: string, default: m1.small, constraints: [{custom_constraint: nova.flavor}]}
  secret: {type: string, hidden: true, constraints: [{allowed_values: [x, y]}]}
  missing: {type: string, constraints: [{length: {min: 3}}]}
  short: {type: string, default: abcd, constraints: [{length: {min: 3, max: 8}}]}
  list: {type: comma_delimited_list, default: a, constraints: [{length: {max: 1}}]}
"""
    page = browser.submit("/deploy", "/deploy", do="check", name="form", template=template).text
    names = re.findall(r'name="parameter:(\w+)"', page)
    assert names == ["secret", "missing", "even", "flavor", "short", "list"]
    assert "3 to 8 characters." in page and "At most 1 value." in page
    assert page.index("First &lt;group&gt;") < page.index("What to fill in") < page.index("Other parameters")
    for help_text in ("In steps of 2, counted from 0.", "Must be an existing flavor.", "One of: x, y.", "At least 3"):
        assert help_text in page


@pytest.mark.parametrize(
    "broken",
    [
        "heat_template_version: 2021-04-16\nparameters:\n  size: {type: number}\nresources: {a: {type: No}}\n",
        "heat_template_version: 2021-04-16\nparameters:\n  size: {type: number}\nresources:\n  a: [\n",
        'AWSTemplateFormatVersion: "2010-09-09"\nParameters:\n  size: {Type: Number, Default: 1}\nResources:\n  a: [\n',
        '{"AWSTemplateFormatVersion": "2010-09-09", "Parameters": {"size": {"Type": "Number"}}, "Resources": {"a": 1}}',
    ],
)
def test_the_form_follows_a_template_with_problems(browser: Browser, broken: str) -> None:
    page = browser.submit("/deploy", "/deploy", do="check", name="form", template=broken).text
    assert "No problems" not in page and 'name="parameter:size"' in page
    lost = browser.submit("/deploy", "/deploy", do="check", name="form", template="parameters: [").text
    assert 'data-declared=""' in lost


def test_objects_have_links_to_horizon(tmp_path: Path, world: ThreadedWorld, served: ServedCloud) -> None:
    net = {"type": "OS::Neutron::Net"}
    stack = create(world, "linked", {"heat_template_version": "2021-04-16", "resources": {"net": net, "x": WORD}})
    (physical,) = (
        row["physical_id"] for row in world.run(world.world.resources("linked")).values() if row["name"] == "net"
    )
    horizon, hint = "https://cloud.example.org/dashboard/", "Ask <us> for an account."
    with served_console(world, tmp_path, horizon_url=horizon, login_hint=hint) as base:
        assert "Ask &lt;us&gt; for an account." in Browser(base).get("/login").text
        browser = logged_in(base, served)
        page = browser.get(f"{stack}/resources/net").text
        assert f'href="https://cloud.example.org/dashboard/project/networks/{physical}/detail"' in page
        assert "Horizon" not in browser.get(f"{stack}/resources/x").text


def test_a_deleted_stack_has_the_pages_that_remain(browser: Browser, world: ThreadedWorld) -> None:
    stack = create(world, "deleted", TEMPLATE)
    assert browser.submit(f"{stack}/actions/delete", f"{stack}/actions/delete").status_code == 303
    world.settle(stack.rpartition("/")[2])
    page = browser.get(stack).text
    assert "The stack is deleted." in page and "/drift" not in page and "/actions/" not in page
    for tail in ("/timeline", "/details", "/events", "/definition", "/snapshots"):
        assert browser.get(f"{stack}{tail}").status_code == 200, tail
    for tail in ("/deploy", "/actions/delete", "/actions/snapshot"):
        gone = browser.get(f"{stack}{tail}")
        assert gone.status_code == 410 and "The stack deleted is deleted." in gone.text, tail
