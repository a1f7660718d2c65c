"""Pages about the objects of a project: finding them, generating templates, what has no owner, and refactorings."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from testing.harness import ThreadedWorld
from tests.console.support import Browser, add_user, create, followed, hidden_fields

VERSION = "2021-04-16"
NETS = {
    "heat_template_version": VERSION,
    "resources": {name: {"type": "OS::Neutron::Net"} for name in ("lost", "left", "kept")},
}


@pytest.fixture(scope="module")
def reader(base: str, world: ThreadedWorld) -> Browser:
    add_user(world.served, "observer", "reader", "demo")
    browser = Browser(base)
    assert browser.log_in("observer", world.served.cloud.password_of("observer"), project="demo").status_code == 303
    return browser


def make_net(served: ServedCloud, name: str) -> str:
    made = served.call("POST", "/network/v2.0/networks", {"network": {"name": name}}, served.token("demo", "demo"))
    assert made.status == 201, made.content
    return str(made.json["network"]["id"])


def network_ids(served: ServedCloud) -> set[str]:
    listed = served.call("GET", "/network/v2.0/networks", None, served.token("demo", "demo")).json["networks"]
    return {each["id"] for each in listed}


def document(page: str, identifier: str) -> str:
    """Return the text of a document on a page."""
    found = re.search(rf'<pre class="document" id="{identifier}"[^>]*>(.*?)</pre>', page, re.S)
    assert found, page
    return html.unescape(found[1])


def test_an_object_is_found_in_a_nested_stack(browser: Browser, reader: Browser, world: ThreadedWorld) -> None:
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1, "resource_def": {"type": "OS::Neutron::Net", "properties": {"name": "hidden-net"}}},
    }
    stack = create(world, "holder", {"heat_template_version": VERSION, "resources": {"group": group}})
    page = reader.get("/find?kind=name&wanted=hidden-net").text
    assert stack in page and "group.0" in page and "OS::<wbr>Neutron::<wbr>Net" in page
    (path,) = set(re.findall(r'href="/console(/stacks/[^"]+/resources/0)"', page))
    assert reader.get(path).status_code == 200
    assert "No resource of the project has such an object" in browser.get("/find?wanted=nowhere").text
    assert browser.get("/find?wanted=not-an-address&kind=address").status_code in (200, 400)
    assert "<table" not in browser.get("/find").text


def test_a_long_list_of_what_was_found_is_in_pages(browser: Browser, world: ThreadedWorld) -> None:
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 120, "resource_def": {"type": "OS::Heat::Value", "properties": {"value": "x"}}},
    }
    create(world, "many", {"heat_template_version": VERSION, "resources": {"group": group}})
    first = browser.get("/find?type=OS::Heat::Value").text
    following = re.search(r'href="/console(/find\?[^"]+)">Next page', first)
    assert first.count("<tr>") == 101 and following
    second = browser.get(html.unescape(following[1])).text
    assert second.count("<tr>") >= 21 and "First page" in second and "Next page" not in second


def test_a_generated_template_becomes_a_stack(browser: Browser, world: ThreadedWorld, served: ServedCloud) -> None:
    made = [make_net(served, f"grown-{number}") for number in (1, 2, 3)]
    assert "Scan the project" in browser.get("/generate").text
    page = browser.get("/generate?type=OS::Neutron::Net&name=grown-*&groups=1&scan=1").text
    assert "A template of 3 objects" in page and "groups/template.yaml" in page
    assert 'data-name="environment.yaml"' in page and all(each in document(page, "generated-2") for each in made)
    form = browser.post("/deploy", {**hidden_fields(page), "do": "check"})
    assert form.status_code == 200 and "imports:" in form.text and "No problems" in form.text
    fields = {**hidden_fields(page), "name": "grown"}
    plan = browser.post("/deploy", {**fields, "do": "plan"}).text
    assert "3 to import" in plan
    done = browser.post("/deploy", {**fields, "digest": hidden_fields(plan)["digest"], "do": "apply"})
    assert done.status_code == 303, done.text
    world.settle(done.headers["Location"].rpartition("/")[2])
    again = browser.get("/generate?type=OS::Neutron::Net&name=grown-*&scan=1").text
    assert "No object was found that no stack owns" in again and "of the stack grown" in again


def test_parameters_set_by_environment_have_no_fields(browser: Browser) -> None:
    template = (
        f"heat_template_version: {VERSION}\nparameters: {{n: {{type: number}}, s: {{type: string}}}}\n"
        "resources: {word: {type: OS::Heat::Value, properties: {value: {get_param: s}}}}\n"
    )
    fields = {"name": "valued", "template": template, "environment": "parameters: {n: 1, s: from-there}\n"}
    form = browser.submit("/deploy", "/deploy", do="check", **fields).text
    assert form.count("The environment gives a value") == 2 and "(required)" not in form
    empty = {"parameter:n": "", "parameter:s": ""}
    assert "from-there" in browser.submit("/deploy", "/deploy", do="plan", **fields, **empty).text
    assert "typed" in browser.submit("/deploy", "/deploy", do="plan", **fields, **empty | {"parameter:s": "typed"}).text


def test_reader_cannot_generate_or_import(reader: Browser, served: ServedCloud) -> None:
    make_net(served, "seen")
    page = reader.get("/generate?name=seen&type=OS::Neutron::Net&scan=1").text
    assert "A template of 1 object:" in page
    assert 'value="check" disabled' in page and "(<code>stacks:create</code>)" in page


@pytest.fixture
def orphans(world: ThreadedWorld, request: pytest.FixtureRequest) -> dict[str, str]:
    """The IDs of networks that a stack has left behind, by the names of their resources."""
    name = f"left-{abs(hash(request.node.name)) % 10000}"
    stack = create(world, name, NETS)
    found: Any = world.run(world.world.resources(name))
    ref = {"name": name, "id": None}
    world.run(world.world.call("stack_delete", ref=ref, retain=["lost", "left", "kept"]))
    world.settle(stack.rpartition("/")[2])
    return {name: found[name]["physical_id"] for name in ("lost", "left", "kept")}


def test_orphans_are_deleted_after_the_plan(
    browser: Browser, reader: Browser, world: ThreadedWorld, served: ServedCloud, orphans: dict[str, str]
) -> None:
    listed = reader.get("/orphans").text
    assert all(identifier in listed for identifier in orphans.values())
    assert 'value="remove" disabled' in listed and 'value="import" disabled' not in listed
    nothing = browser.submit("/orphans", "/orphans", do="remove")
    assert nothing.status_code == 400 and "mark the objects" in nothing.text

    begun = browser.submit("/orphans", "/orphans", do="remove", id=[orphans["lost"], orphans["left"]])
    page = followed(browser, begun)
    assert "Show the plan" in page and orphans["lost"] in network_ids(served)
    (question,) = re.findall(r'href="/console(/stacks/[^"]+/actions/delete)"', page)
    plan = browser.get(question).text
    assert "2 to remove" in plan
    assert browser.post(question, {**hidden_fields(plan), "entered": ""}).status_code == 303
    world.settle(question.split("/")[3])
    assert network_ids(served) & set(orphans.values()) == {orphans["kept"]}
    late = browser.submit("/orphans", "/orphans", do="remove", id=orphans["lost"])
    assert late.status_code == 409 and "Not known to be without an owner" in late.text


def test_orphans_stay_if_the_plan_is_refused(
    browser: Browser, world: ThreadedWorld, served: ServedCloud, orphans: dict[str, str]
) -> None:
    begun = browser.submit("/orphans", "/orphans", do="remove", id=orphans["lost"])
    place = begun.headers["Location"].removeprefix("/console")
    followed(browser, begun)
    assert browser.submit(place, place).headers["Location"] == "/console/orphans"
    world.settle(place.rpartition("/")[2])
    assert orphans["lost"] in network_ids(served) and orphans["lost"] in browser.get("/orphans").text


def test_orphaned_objects_get_owners_again(browser: Browser, orphans: dict[str, str]) -> None:
    page = browser.submit("/orphans", "/orphans", do="import", id=orphans["kept"]).text
    assert "A template of 1 object:" in page and orphans["kept"] in document(page, "generated-2")
    assert "Import as a new stack" in page


def test_a_refactoring_is_planned_and_carried_out(browser: Browser, reader: Browser, world: ThreadedWorld) -> None:
    secret = {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "secret"}}}
    resources = {"word": {"type": "OS::Heat::RandomString"}, "kept": secret, "net": {"type": "OS::Neutron::Net"}}
    parameters = {"secret": {"type": "string", "hidden": True, "default": "swordfish"}}
    whole = {"heat_template_version": VERSION, "parameters": parameters, "resources": resources}
    stack = create(world, "whole", whole)
    form = browser.get("/refactors/new?stack=whole").text
    assert "OS::Heat::RandomString" in form and "swordfish" not in form
    loaded = html.unescape(re.findall(r'name="entered"[^>]*>\n(.*?)</textarea>', form, re.S)[0])
    more = browser.submit("/refactors/new", "/refactors/new", do="add", stack=["whole", ""], entered=["", ""])
    assert more.text.count('name="stack"') == 3 and "OS::Neutron::Net" in more.text
    head = f"heat_template_version: {VERSION}\nresources:\n"
    fields: dict[str, Any] = {
        "do": "plan",
        "stack": ["whole", "part"],
        "entered": [
            loaded.replace("  net:\n    type: OS::Neutron::Net\n", ""),
            f"{head}  front: {{type: OS::Neutron::Net}}\n",
        ],
        "moved": "whole/net = part/front",
        "description": "the <net> apart",
    }
    refused = browser.submit("/refactors/new", "/refactors/new", **{**fields, "moved": "whole = part"})
    assert refused.status_code == 400 and "STACK/RESOURCE" in refused.text and "whole = part</textarea>" in refused.text
    missing = browser.submit("/refactors/new", "/refactors/new", **fields)
    assert missing.status_code >= 400 or "part" in browser.get(_path(missing)).text
    planned = browser.submit("/refactors/new", "/refactors/new", create_stacks="1", **fields)
    assert planned.status_code == 303, planned.text
    page = reader.get(_path(planned)).text
    assert "Reason" not in page, page
    assert "1 to move, 1 to create (part)" in page and "net → front" in page and "the &lt;net&gt; apart" in page
    assert "(<code>refactors:execute</code>)" in page
    assert reader.submit(_path(planned), "/find").status_code == 403
    assert browser.submit(_path(planned), _path(planned)).status_code == 303
    assert "execute complete" in browser.get(_path(planned)).text
    assert "net" not in re.findall(r"/resources/(\w+)", browser.get(stack).text)
    assert "the &lt;net&gt; apart" in reader.get("/refactors").text
    assert "refactors:create" in reader.get("/refactors").text and reader.get("/refactors/new").status_code == 403


def _path(answer: Any) -> str:
    return str(answer.headers["Location"]).removeprefix("/console")


def test_only_administrators_see_the_services(reader: Browser) -> None:
    refused = reader.get("/services")
    assert refused.status_code == 403 and "service:index" in refused.text
