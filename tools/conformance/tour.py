"""A walk over Horizon's pages for stacks, as a person would go, with a look at what they show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import requests

from tools.conformance.pages import Element, Page, Visitor
from tools.conformance.report import Result

_STACKS = "/project/stacks/"
_TIMEOUT = 120  # seconds, for a stack to get somewhere
_SECRET = "not-to-be-seen"


class UnexpectedPage(Exception):
    """A page shows something else than it should."""


class Tour:
    """The walk's steps, in their order, and what later ones need of earlier ones.

    `files` is the directory with the templates.
    """

    def __init__(self, visitor: Visitor, user: str, password: str, files: Path) -> None:
        self._visitor, self._user, self._password, self._files = visitor, user, password, files
        self._stack = ""
        self._steps: tuple[tuple[str, Callable[[], None]], ...] = (
            ("log in", self._log_in),
            ("list of no stacks", self._no_stacks),
            ("resource types, and one of them", self._resource_types),
            ("template versions, and the functions of one", self._template_versions),
            ("template generator's choices", self._template_generator),
            ("a template with mistakes", self._mistakes),
            ("preview of a stack", self._preview),
            ("form for a new stack", self._launch_form),
            ("launch a stack", self._launch),
            ("list of stacks with a filter", self._filter),
            ("overview", self._overview),
            ("topology", self._topology),
            ("resources", self._resources),
            ("a resource", self._resource),
            ("events", self._events),
            ("template", self._template),
            ("check a stack", lambda: self._act("check", "Check Complete")),
            ("suspend a stack", lambda: self._act("suspend", "Suspend Complete")),
            ("resume a stack", lambda: self._act("resume", "Resume Complete")),
            ("change a stack's template", self._change),
            ("a stack that fails", self._failure),
            ("delete stacks", self._delete),
        )

    def results(self) -> Iterator[Result]:
        """Take the steps, and answer how each went. A failed one does not keep those behind it from being tried."""
        for name, step in self._steps:
            try:
                step()
            except (UnexpectedPage, LookupError, requests.RequestException) as error:
                yield Result(name, "fail", f"{type(error).__name__}: {error}")
            else:
                yield Result(name, "success")

    def _log_in(self) -> None:
        page = self._visitor.get("/auth/login/")
        account = {"username": self._user, "password": self._password}
        page = self._visitor.send(page, page.form(action="/auth/login/"), account)
        _shows(_calm(page), "Sign Out", "Orchestration", "Template Generator")

    def _no_stacks(self) -> None:
        _shows(self._get(_STACKS), "No items to display", "Launch Stack", "Preview Stack")

    def _resource_types(self) -> None:
        page = self._get("/project/resource_types/")
        _shows(page, "OS::Nova::Server", "OS::Heat::RandomString", "AWS::EC2::Instance")
        _shows(self._get(_link(page, "OS::Nova::Server")), "user_data_format", "update_allowed")

    def _template_versions(self) -> None:
        page = self._get("/project/template_versions/")
        _shows(page, "heat_template_version.2021-04-16 HOT", "AWSTemplateFormatVersion.2010-09-09 CFN")
        functions = self._get(_link(page, "heat_template_version.2021-04-16"))
        _shows(functions, "get_attr", "str_replace_vstrict", "yaql")

    def _template_generator(self) -> None:
        _shows(self._get("/project/template_generator/"), "drag and drop resource icons")
        options = self._visitor.json("/project/template_generator/get_resource_options")
        for choice in ("m1.nano", "cirros", "private"):
            if choice not in str(options):
                raise UnexpectedPage(f"the template generator does not offer {choice}")

    def _mistakes(self) -> None:
        page = self._send_template("select_template", "mistaken.yaml")
        _same("the number of error boxes", len(page.errors), 1)
        _shows(page, "there is no resource type 'OS::Heat::RandomStrin'", "no resource 'tokn'")

    def _preview(self) -> None:
        page = _calm(self._send_template("preview_template", "stack.yaml", environment="environment.yaml"))
        page = self._visitor.send(page, page.form(id="preview_stack"), {"stack_name": "foreseen"})
        _shows(_calm(page), "foreseen", "OS::Nova::Server", "OS::Cinder::Volume", "OS::Heat::RandomString", "INIT")
        _shows(self._get(_STACKS), "No items to display")

    def _launch_form(self) -> None:
        form = self._send_template("select_template", "stack.yaml").form(id="launch_stack")
        form_fields = {
            "flavor": "select",
            "network": "select",
            "size": "number",
            "kind": "select",
            "password": "password",
            "encrypted": "checkbox",
            "names": "text",
            "labels": "text",
        }
        kinds = {control["name"]: control["type"] or control.tag for control in form.elements("input", "select")}
        _same("kinds of the fields", {name: kinds.get(f"__param_{name}") for name in form_fields}, form_fields)
        _shows(form, "Flavor of the server", "m1.nano", "private", "large")
        defaults = {"size": "1", "kind": "small", "names": "first,second", "encrypted": "on", "labels": "{}"}
        _same("values in the fields", {name: form.fields().get(f"__param_{name}") for name in defaults}, defaults)

    def _launch(self) -> None:
        choices = {"__param_password": _SECRET, "__param_size": "2", "__param_flavor": "m1.nano"}
        self._launch_stack("stack.yaml", "walked", choices)
        row = self._until("walked", "Create Complete")
        self._stack = row["id"].removeprefix("stacks__row__")

    def _filter(self) -> None:
        page = self._search("another-name")
        _shows(page, "No items to display")
        _shows(self._search(""), "walked")

    def _overview(self) -> None:
        pane = self._tab("overview")
        _shows(pane, self._stack, "Stack CREATE completed successfully", "Where the server is", "60 Minutes")
        _same("the hidden parameter", _definitions(pane).get("password"), "******")
        if _SECRET in pane.text:
            raise UnexpectedPage("the overview shows the value of a hidden parameter")

    def _topology(self) -> None:
        drawing = self._visitor.json(f"{_STACKS}get_d3_data/{self._stack}/")
        done = "CREATE_COMPLETE"
        nodes = {node["name"]: (node["status"], node["required_by"]) for node in drawing["nodes"]}
        _same("nodes", nodes, {"token": (done, []), "volume": (done, ["server"]), "server": (done, [])})
        _same("the stack", (drawing["stack"]["name"], drawing["stack"]["status"]), ("walked", done))

    def _resources(self) -> None:
        rows = {row.text.split()[0]: row for row in _rows(self._tab("resources"))}
        _same("resources", sorted(rows), ["server", "token", "volume"])
        for row in rows.values():
            _shows(row, "Create Complete")
        links = [link["href"] for link in rows["server"].elements("a")]
        _shows(self._get(next(link for link in links if link.startswith("/project/instances/"))), "m1.nano")

    def _resource(self) -> None:
        _shows(self._get(f"{_STACKS}stack/{self._stack}/server/"), "OS::Nova::Server", "Create Complete: state changed")

    def _events(self) -> None:
        events = [row.text for row in _rows(self._tab("events"))]
        _same("the number of events", len(events), 8)
        if "Stack CREATE completed successfully" not in events[0] or "Stack CREATE started" not in events[-1]:
            raise UnexpectedPage(f"the newest event should be first and the oldest last, not {events}")

    def _template(self) -> None:
        _shows(self._tab("stack_template"), "heat_template_version: '2021-04-16'", "get_param: labels")

    def _act(self, action: str, status: str) -> None:
        self._press(f"stacks__{action}__{self._stack}")
        self._until("walked", status)

    def _change(self) -> None:
        page = self._send_template("change_template", "stack.yaml", place=f"{_STACKS}{self._stack}/")
        changes = {
            "__param_size": "2",
            "__param_kind": "large",
            "__param_labels": '{"tier": "web"}',
            "__param_password": _SECRET,
        }
        page = self._visitor.send(page, page.form(id="update_stack"), changes | {"password": self._password})
        _shows(_calm(page), "Stack update started")
        self._until("walked", "Update Complete")
        _same("the changed parameter", _definitions(self._tab("overview")).get("kind"), "large")

    def _failure(self) -> None:
        self._launch_stack("refused.yaml", "refused", {})
        row = self._until("refused", "Create Failed")
        page = self._get(next(row.elements("a"))["href"])
        _shows(_pane(page, "overview"), "resources.server.properties.flavor: the flavor has")

    def _delete(self) -> None:
        for row in self._listed():
            self._press(row["id"].replace("stacks__row__", "stacks__delete__"))
        end = time.monotonic() + _TIMEOUT
        while self._listed():
            _wait(end, "the stacks are still listed")
        _shows(self._get(_STACKS), "No items to display")

    def _get(self, path: str) -> Page:
        return _calm(self._visitor.get(path))

    def _tab(self, name: str) -> Element:
        """A tab of the page of the stack that has been launched."""
        return _pane(self._get(f"{_STACKS}stack/{self._stack}/?tab=stack_details__{name}"), name)

    def _listed(self) -> list[Element]:
        """The rows of the list that stand for stacks."""
        return [row for row in _rows(self._get(_STACKS).body) if row["id"]]

    def _until(self, stack: str, status: str) -> Element:
        """The row of a stack in the list, once it has come to a status."""
        end = time.monotonic() + _TIMEOUT
        while True:
            [row] = [row for row in self._listed() if next(row.elements("a")).text == stack]
            if status in row.text:
                return row
            if "Failed" in row.text:
                raise UnexpectedPage(f"the stack {stack} should have become {status}: {row.text}")
            _wait(end, f"the stack {stack} has not become {status}: {row.text}")

    def _send_template(self, form: str, template: str, environment: str = "", place: str = _STACKS) -> Page:
        """Send a form that asks for a template, and answer the page that follows."""
        files = {"template_upload": (template, (self._files / template).read_text())}
        if environment:
            files["environment_upload"] = (environment, (self._files / environment).read_text())
        page = self._get(place + form)
        return self._visitor.send(page, page.form(id=form), {}, files)

    def _launch_stack(self, template: str, name: str, parameters: dict[str, str]) -> None:
        page = _calm(self._send_template("select_template", template))
        values = {"stack_name": name, "password": self._password} | parameters
        form = page.form(id="launch_stack")
        page = self._visitor.send(page, form, {name: _choice(form, name, value) for name, value in values.items()})
        _shows(_calm(page), "Stack creation started")

    def _search(self, name: str) -> Page:
        page = self._get(_STACKS)
        return _calm(self._visitor.send(page, page.form(action=_STACKS), {"stacks__filter__q": name}))

    def _press(self, button: str) -> None:
        """Press a button of the list of stacks."""
        page = self._get(_STACKS)
        form = page.form(action=_STACKS)
        if not any(form.elements("button", name="action", value=button)):
            raise UnexpectedPage(f"{page.url} has no button {button}")
        _calm(self._visitor.send(page, form, {"action": button}))


def _choice(form: Element, name: str, words: str) -> str:
    """What a field is sent with: the value of the option with these words, where it has options."""
    options = (option for field in form.elements("select", name=name) for option in field.elements("option"))
    return next((option["value"] for option in options if words in option.text), words)


def _calm(page: Page) -> Page:
    if page.errors:
        raise UnexpectedPage(f"{page.url}: {'; '.join(page.errors)}")
    return page


def _shows(part: Page | Element, *texts: str) -> None:
    element = part.body if isinstance(part, Page) else part
    if missing := [text for text in texts if text not in element.text]:
        raise UnexpectedPage(f"not shown: {missing}, in {element.text[-2000:]}")


def _same(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise UnexpectedPage(f"{what}: {found!r} instead of {expected!r}")


def _link(page: Page, text: str) -> str:
    for link in page.body.elements("a"):
        if link.text == text:
            return link["href"]
    raise UnexpectedPage(f"{page.url} has no link {text!r}")


def _pane(page: Page, tab: str) -> Element:
    for pane in page.body.elements("div", id=f"stack_details__{tab}"):
        return pane
    raise UnexpectedPage(f"{page.url} has no tab {tab}")


def _rows(part: Element) -> list[Element]:
    return [row for body in part.elements("tbody") for row in body.elements("tr")]


def _definitions(part: Element) -> dict[str, str]:
    """Names and first values in the lists of definitions of a part of a page."""
    found: dict[str, str] = {}
    name = ""
    for element in part.elements("dt", "dd"):
        if element.tag == "dt":
            name = element.text
        else:
            found.setdefault(name, element.text)
    return found


def _wait(end: float, problem: str) -> None:
    if time.monotonic() > end:
        raise UnexpectedPage(problem)
    time.sleep(0.5)
