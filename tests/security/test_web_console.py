"""Attacks on the web console: sessions, forms, log-ins, and what pages may do in a browser."""

from __future__ import annotations

import base64
import hmac
import html
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from cryptography.fernet import Fernet, InvalidToken

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.console.sessions import Session, SessionCookies
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import ThreadedWorld
from tests.console.support import Browser, add_user, create, logged_in, served_console

TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"word": {"type": "OS::Heat::RandomString"}}}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedWorld]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served)
        yield running
        running.stop()


@pytest.fixture(scope="module")
def base(world: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_console(world, tmp_path_factory.mktemp("api")) as url:
        yield url


@pytest.fixture(scope="module")
def stack(world: ThreadedWorld) -> str:
    return create(world, "web", TEMPLATE)


def test_without_a_session(base: str, stack: str) -> None:
    """Read pages and delete a stack in the console without logging in, or with a forged cookie."""
    browser = Browser(base)
    for cookie in (None, "stoker_console=x", "stoker_console=gAAAAABk", 'stoker_console="\\"'):
        headers = {} if cookie is None else {"Cookie": cookie}
        answer = browser.get(stack, **headers)
        assert answer.status_code == 303 and answer.headers["Location"].startswith("/console/login?next=")
        assert browser.post(f"{stack}/actions/delete", {}, **headers).headers["Location"] == "/console/login"
    script = browser.get(f"{stack}/stream", **{"Sec-Fetch-Mode": "cors"})
    assert script.status_code == 401


def test_open_redirect(base: str, world: ThreadedWorld) -> None:
    """Send a user to another site after the log-in, by a link to the log-in page."""
    password = world.served.cloud.password_of("demo")
    for target in (
        "https://evil.example/", "//evil.example", "/\\evil.example", "/console/../../evil", "/console//evil.example/",
        "javascript:alert(1)", "/v1/x", "/console/stacks\r\nX: y",
    ):  # fmt: skip
        answer = Browser(base).log_in("demo", password, next=target)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/console/stacks"), target
    kept = Browser(base).log_in("demo", password, next="/console/stacks?name=web")
    assert kept.headers["Location"] == "/console/stacks?name=web"


def test_names_of_files(base: str, world: ThreadedWorld) -> None:
    """Name a file of a stack so that its download has other headers, another name, or fails."""
    names = [
        "x\r\nX-Injected: 1",
        'a"; filename="b.html',
        "a\\",
        "\u202egpj.exe",
        "\x00\x1b[31m",
        "ö" * 500,
        "..",
        "a;b",
        "é\n",
    ]
    values = {
        f"v{at}": {"type": "OS::Heat::Value", "properties": {"value": {"get_file": name}}}
        for at, name in enumerate(names)
    }
    template = {"heat_template_version": "2021-04-16", "resources": values}
    stack = create(world, "named", template, files=dict.fromkeys(names, "content"))
    browser = logged_in(base, world.served)
    for name in names:
        answer = browser.get(f"{stack}/download/files?name={quote(name, safe='')}")
        assert (answer.status_code, answer.text) == (200, "content"), name
        shown = answer.headers["Content-Disposition"]
        assert shown.startswith("attachment; filename=") and shown.count("filename=") == 1 and len(shown) < 1500
        assert "X-Injected" not in answer.headers and "\u202e" not in shown and "\\" not in shown


def test_forged_forms(base: str, stack: str, world: ThreadedWorld) -> None:
    """Have a browser with a session send a form that another site, or another session, has made."""
    browser, other = logged_in(base, world.served), logged_in(base, world.served)
    path = f"{stack}/actions/delete"
    assert browser.post(path, {"csrf": ""}).status_code == 403
    assert browser.post(path, {"csrf": "guess"}).status_code == 403
    assert browser.post(path, {"csrf": "ä"}).status_code == 403
    foreign = html.unescape(other.get(path).text.partition('name="csrf" value="')[2].partition('"')[0])
    assert foreign and browser.post(path, {"csrf": foreign}).status_code == 403
    own = browser.get(path).text.partition('name="csrf" value="')[2].partition('"')[0]
    for headers in (
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert browser.post(path, {"csrf": own}, **headers).status_code == 403
        assert Browser(base).post("/login", {"user": "demo"}, **headers).status_code == 403
    assert "Create complete" in browser.get(stack).text


def test_cookie_and_headers(base: str, stack: str, world: ThreadedWorld) -> None:
    """Read the session's cookie with a script, frame a page, or run a script in it that is not the console's."""
    answer = Browser(base).log_in("demo", world.served.cloud.password_of("demo"))
    cookie = answer.headers["Set-Cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age="))
    browser = logged_in(base, world.served)
    for path in ("/login", "/stacks", stack, "/nowhere"):
        page = browser.get(path)
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert page.headers["X-Content-Type-Options"] == "nosniff" and page.headers["Cache-Control"] == "no-store"
        assert not any(part in page.text for part in ("<style", " style=", " onclick=", "gAAAA"))


def test_other_projects(base: str, stack: str, world: ThreadedWorld) -> None:
    """Open and delete a stack of another project in the console."""
    add_user(world.served, "other")
    other = logged_in(base, world.served, "other")
    path = f"{stack}/actions/delete"
    assert other.get(stack).status_code == 404 and other.get(f"{stack}/stream").status_code == 404
    assert "web" not in other.get("/stacks").text
    token = other.get("/stacks").text.partition('name="csrf" value="')[2].partition('"')[0]
    assert other.post(path, {"csrf": token}).status_code == 404


def test_switching_projects(base: str, stack: str, world: ThreadedWorld) -> None:
    """Have another site switch the project of a session, switch to a foreign project, and use the former session."""
    token = world.served.token("admin", "admin")
    admin = {
        item["name"]: item["id"]
        for item in world.served.call("GET", "/identity/v3/projects", None, token).json["projects"]
    }
    made = world.served.call(
        "POST", "/identity/v3/projects", {"project": {"name": "second", "domain_id": "default"}}, token
    ).json["project"]["id"]
    (user,) = world.served.call("GET", "/identity/v3/users?name=demo", None, token).json["users"]
    (role,) = world.served.call("GET", "/identity/v3/roles?name=member", None, token).json["roles"]
    path = f"/identity/v3/projects/{made}/users/{user['id']}/roles/{role['id']}"
    assert world.served.call("PUT", path, None, token).status == 204

    browser = logged_in(base, world.served)
    page = browser.get("/projects").text
    assert "second" in page and "in use" in page and "admin" not in page
    assert browser.post("/projects", {"project": made}).status_code == 403
    refused = browser.submit("/projects", "/projects", project=admin["admin"])
    assert refused.status_code == 403 and 'role="alert"' in refused.text
    assert browser.get(stack).status_code == 200

    kept = {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.session.cookies)}
    form = browser.get(f"{stack}/actions/delete").text.partition('name="csrf" value="')[2].partition('"')[0]
    assert browser.submit("/projects", "/projects", project=made).headers["Location"] == "/console/stacks"
    stacks = browser.get("/stacks")
    assert "in second" in stacks.text and stack not in stacks.text and browser.get(stack).status_code == 404
    assert browser.post(f"{stack}/actions/delete", {"csrf": form}).status_code == 403
    assert Browser(base).get("/stacks", **kept).status_code == 303


def test_after_the_session(base: str, world: ThreadedWorld) -> None:
    """Use the cookie of a session after the user has logged out."""
    browser = logged_in(base, world.served)
    kept = {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.session.cookies)}
    assert browser.submit("/logout", "/stacks").headers["Location"] == "/console/login"
    assert not browser.session.cookies
    late = Browser(base)
    assert late.get("/stacks", **kept).status_code == 303


def test_after_the_token(base: str, world: ThreadedWorld) -> None:
    """Use a session whose token was revoked in the identity service."""
    browser = logged_in(base, world.served)
    (cookie,) = [one.value for one in browser.session.cookies]
    session = SessionCookies(["0123456789abcdef0123456789abcdef"]).read(f"stoker_console={cookie}", 0)
    assert session is not None
    token = world.served.token("admin", "admin")
    headers = {"X-Auth-Token": token, "X-Subject-Token": session.token}
    revoked = requests.delete(f"{world.served.url}/identity/v3/auth/tokens", headers=headers, timeout=60)
    assert revoked.status_code == 204
    answer = browser.get("/stacks?name=web")
    assert answer.status_code == 303 and "ended=1" in answer.headers["Location"]
    assert "next=%2Fconsole%2Fstacks%3Fname%3Dweb" in answer.headers["Location"] and not browser.session.cookies
    assert "Your session has ended" in browser.get("/login?ended=1").text


def test_exchanged_ciphertexts(base: str, stack: str, world: ThreadedWorld) -> None:
    """Send the session's cookie as the sealed values of hidden parameters, and sealed values as the cookie."""
    browser = logged_in(base, world.served)
    (cookie,) = [one.value for one in browser.session.cookies]
    form = {"do": "plan", "name": "x", "template": "heat_template_version: 2021-04-16"}
    assert browser.submit("/deploy", "/stacks", **form, sealed=cookie).status_code == 200
    hidden = "heat_template_version: 2021-04-16\nparameters: {key: {type: string, hidden: true}}"
    page = browser.submit("/deploy", "/stacks", **{**form, "template": hidden, "parameter:key": "secret word"}).text
    sealed = html.unescape(page.partition('name="sealed" value="')[2].partition('"')[0])
    assert sealed and "secret word" not in page
    assert Browser(base).get("/stacks", Cookie=f"stoker_console={sealed}").status_code == 303


def test_keys_of_other_purposes() -> None:
    """Decrypt sealed values with the key of the cookies, and cookies with the key of sealed values."""
    cookies, session = SessionCookies(["a key"]), Session.begin("token", "demo", "demo", "1", 100)
    cookie = cookies.set_cookie(session, 0, secure=False).partition("=")[2].partition(";")[0]
    sealed = cookies.seal(session, "secret word")
    keys = [hmac.digest(b"a key", label, "sha256") for label in (b"stoker.console.session", b"stoker.console.form")]
    of_cookies, of_forms = (Fernet(base64.urlsafe_b64encode(key)) for key in keys)
    assert b"secret word" in of_forms.decrypt(sealed) and b"demo" in of_cookies.decrypt(cookie)
    for cipher, value in ((of_cookies, sealed), (of_forms, cookie)):
        with pytest.raises(InvalidToken):
            cipher.decrypt(value)


def test_forms_of_ended_sessions(base: str, stack: str, world: ThreadedWorld) -> None:
    """Take the content of a form of an ended session as another user, later, or as a cookie; delete a stack with it."""
    cookies = SessionCookies(["a key"])
    first, same, other = (Session.begin("token", user, "demo", "1", 100) for user in ("demo", "demo", "eve"))
    kept = cookies.keep({"template": ["secret word"]}, 0)
    assert cookies.kept(kept, 3599)["template"] == ["secret word"] and "secret word" not in kept
    assert cookies.kept(kept, 3600) == {} == SessionCookies(["another key"]).kept(kept, 1)
    sealed = cookies.seal(first, "secret word")
    assert cookies.kept(sealed, 1) == {} and cookies.unseal(same, kept, first.csrf) == ""
    assert cookies.read(f"stoker_console={kept}", 1) is None
    assert cookies.unseal(same, sealed, first.csrf) == "secret word"
    assert cookies.unseal(same, sealed) == cookies.unseal(same, sealed, "x") == ""
    assert cookies.unseal(other, sealed, first.csrf) == ""

    browser, path = logged_in(base, world.served), f"{stack}/resources/word/actions/unhealthy"
    kept = html.unescape(Browser(base).post(path, {"entered": "<i>"}).text.partition('name="kept" value="')[2])
    form = {"kept": kept.partition('"')[0], "do": "edit"}
    assert browser.post(path, {**form, "csrf": "x"}).status_code == 403
    shown = browser.submit(path, path, **form)
    assert shown.status_code == 200 and "&lt;i&gt;" in shown.text and "<i>" not in shown.text
    assert "Check failed" not in browser.get(stack).text
    foreign = Browser(base).post(path, {"entered": "x"}, **{"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403 and "kept" not in foreign.text


def test_scripts_in_what_users_write(base: str, world: ThreadedWorld) -> None:
    """Run a script in another user's page by names, descriptions, values, files and reasons of a stack."""
    evil = "<img src=x onerror=alert(1)>'\""
    choice = {"allowed_values": [evil], "description": evil}
    word = {"type": "OS::Heat::RandomString"}
    template = {
        "heat_template_version": "2021-04-16",
        "description": evil,
        "parameter_groups": [{"label": evil, "description": evil, "parameters": ["one"]}],
        "parameters": {
            "one": {"type": "string", "default": evil, "label": evil, "description": evil},
            "two": {"type": "string", "default": evil, "constraints": [choice]},
            evil: {"type": "json", "default": {evil: evil}},
        },
        "resources": {
            "word": {"type": "OS::Heat::Value", "properties": {"value": {"get_file": f"{evil}.txt"}}},
            evil[:28]: {**word, "depends_on": "word"},
            "inner": {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": word}},
        },
        "outputs": {evil: {"description": evil, "value": {evil: evil}}},
    }
    stack = create(world, "hostile", template, files={f"{evil}.txt": evil})
    browser = logged_in(base, world.served)
    marked = f"{stack}/resources/word/actions/unhealthy"
    assert browser.submit(marked, marked, entered=evil).status_code == 303
    assert browser.submit(f"{stack}/actions/snapshot", f"{stack}/actions/snapshot", entered=evil).status_code == 303
    world.settle(stack.rpartition("/")[2])
    tabs = [
        "",
        "/graph",
        "/timeline",
        "/details",
        "/drift",
        "/control",
        "/protection",
        "/events",
        "/snapshots",
        "/definition",
        "/deploy",
    ]
    name, quoted = quote(evil[:28]), quote(evil)
    more = ["/resources/word", f"/resources/{name}", f"/resources/{name}/actions/signal", f"/events?name={quoted}"]
    of_project = [
        *(f"/stacks?name={quoted}", f"/stacks/{quoted}", f"/find?wanted={quoted}", "/find?type=OS::Heat::Value"),
        *(f"/generate?name={quoted}&type={quoted}&tag={quoted}&scan=1", f"/generate?name={quoted}&scan=1", "/orphans"),
        *("/refactors", f"/refactors/new?stack={quoted}", f"/refactors/{quoted}", "/control"),
    ]
    for path in (*(f"{stack}{tail}" for tail in (*tabs, *more)), *of_project):
        page = browser.get(path)
        assert page.status_code in (200, 400, 404), (path, page.text)
        assert "<img src=x" not in page.text and "<script>" not in page.text, path
    fields = ("name", "template", "environment", f"file:{evil}", "parameter:one", "data", "stack", "entered", "moved")
    form = {"do": "plan", **dict.fromkeys(fields, evil)}
    for path in ("/deploy", f"{stack}/deploy", "/adopt", "/refactors/new"):
        page = browser.submit(path, "/stacks", **form)
        assert page.status_code >= 400 and "<img src=x" not in page.text, path
    for path, setting in (("/control", "plan_policies"), (f"{stack}/protection", "policy"), ("/orphans", "")):
        page = browser.submit(path, path, do="set", setting=setting, entered=evil, id=evil)
        assert page.status_code >= 400 and "<img src=x" not in page.text, path
    assert "&lt;img src=x" in browser.get(f"{stack}/events").text


def test_files_of_the_service_in_the_editor(base: str, world: ThreadedWorld, tmp_path: Path) -> None:
    """Have the console's completion list the service's folders, or read its files and URLs, by names in a template."""
    browser = logged_in(base, world.served)
    (tmp_path / "secret.yaml").write_text(
        "heat_template_version: 2021-04-16\nparameters: {leaked: {type: string}}\noutputs: {leaked: {value: 1}}\n"
    )
    head = "heat_template_version: 2021-04-16\nresources:\n  a:\n    type: "
    for name in (f"{tmp_path}/secret.yaml", f"../..{tmp_path}/secret.yaml", f"file://{tmp_path}/secret.yaml"):
        for environment in ("", f"resource_registry: {{'My::A': '{name}'}}"):
            written = "My::A" if environment else name
            for text in (
                f"{head}{tmp_path}/",
                f"{head}{written}\n    properties: {{b: {{get_file: {tmp_path}/",
                f"{head}{written}\n    properties:\n      le",
                f"{head}{written}\noutputs: {{a: {{value: {{get_attr: [a, ",
            ):
                answer = browser.submit(
                    "/assistance", "/stacks", ask="complete", document="template", template=text, offset=len(text),
                    environment=environment,
                )  # fmt: skip
                assert answer.status_code == 200 and "secret" not in answer.text and "leaked" not in answer.text
        for ask in ("describe", "type"):
            form = {"template": f"{head}{name}", "name": name, "document": f"file:../..{tmp_path}/secret.yaml"}
            answer = browser.submit("/assistance", "/stacks", ask=ask, offset=3, **form)
            assert answer.status_code == 200 and "leaked" not in answer.text
    assert browser.post("/assistance", {"csrf": "guess"}).status_code == 403
    assert Browser(base).post("/assistance", {}).headers["Location"] == "/console/login"


def test_guessing_passwords(world: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Guess a password in the log-in form of the console, and keep a session for longer than allowed."""
    clock = ManualClock(SystemClock().now())
    directory, password = tmp_path_factory.mktemp("limited"), world.served.cloud.password_of("demo")
    with served_console(world, directory, clock, login_attempts=3, login_window=60, session_seconds=600) as base:
        browser = Browser(base)
        assert [browser.log_in("demo", f"guess {number}").status_code for number in range(4)] == [401, 401, 401, 429]
        refused = browser.log_in("demo", password)
        assert refused.status_code == 429 and refused.headers["Retry-After"] == "60"
        for spelling in ("DEMO", "Demo ", "d\u00e9mo", "\uff44emo"):
            assert browser.log_in(spelling, password).status_code == 429, spelling
        clock.advance(61)
        assert browser.log_in("demo", password).status_code == 303
        assert browser.get("/stacks").status_code == 200
        clock.advance(601)
        assert browser.get("/stacks").status_code == 303


def test_guessing_passwords_at_the_same_time(world: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Send guesses of a password to the console at the same time, to exceed the limit of attempts."""
    clock = ManualClock(SystemClock().now())
    directory = tmp_path_factory.mktemp("parallel")
    with served_console(world, directory, clock, login_attempts=3, login_window=60) as base:
        slow = Fault(on="POST /identity/v3/auth/tokens", do="delay", seconds=0.5, times=3)
        world.served.do(lambda: world.served.cloud.faults.add(slow))
        browsers = [Browser(base) for _ in range(8)]
        with ThreadPoolExecutor(len(browsers)) as threads:
            answers = threads.map(lambda browser: browser.log_in("demo", "guess").status_code, browsers)
    assert sorted(answers) == [401] * 3 + [429] * 5


def test_malformed_requests(base: str, stack: str, world: ThreadedWorld) -> None:
    """Make the console fail with malformed paths, queries, cookies and forms."""
    browser = logged_in(base, world.served)
    secret = browser.get("/stacks").text.partition('name="csrf" value="')[2].partition('"')[0]
    for junk in ("%ff", "%00", "a%2Fb", "%F0%9F%98%80", "%22%3E", "%7B", "%0d%0aX:y", "x" * 3000):
        for path in (
            f"/{junk}", f"/stacks/{junk}/{junk}", f"{stack}/resources/{junk}", f"{stack}/actions/{junk}",
            f"/stacks?name={junk}&status={junk}&marker={junk}", f"{stack}/events?marker={junk}",
            f"{stack}/timeline?operation={junk}", f"/static/{junk}",
        ):  # fmt: skip
            assert browser.get(path).status_code < 500, path
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (
        "csrf=%ff", "\xff", "a=1&" * 5000, f"csrf={secret}&do=plan&template=%00&name=x",
        f"csrf={secret}&do=apply&template=heat_template_version:%202021-04-16&name=x&digest=zzz&sealed=zzz",
        f"csrf={secret}&do=plan&template=a%3A1&environment=%5B&parameter:x=1",
    ):  # fmt: skip
        for path in ("/deploy", f"{stack}/deploy", "/login", f"{stack}/drift"):
            answer = browser.session.post(f"{base}/console{path}", data=body, headers=form, timeout=60)
            assert answer.status_code < 500, (path, body)
    for cookie in ('stoker_console="\\377"', "stoker_console=;;;", '"', "stoker_console=" + "A" * 5000):
        assert Browser(base).get("/stacks", Cookie=cookie).status_code == 303
