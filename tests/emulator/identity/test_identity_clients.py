"""The identity service as the `openstack` command, openstacksdk, keystoneauth and keystonemiddleware see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openstack
import pytest
from keystoneauth1 import session
from keystoneauth1.identity import v3
from openstack.identity.v3 import _proxy

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud

pytestmark = pytest.mark.slow


@pytest.fixture
def live() -> Iterator[ServedCloud]:
    """A cloud on the real clock: clients compare its tokens' times with their own."""
    with ServedCloud(new_cloud()) as running:
        yield running


def environment(served: ServedCloud, **changes: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
    return {
        **kept,
        "OS_AUTH_URL": f"{served.url}/identity",
        "OS_IDENTITY_API_VERSION": "3",
        "OS_USERNAME": "admin",
        "OS_PASSWORD": "secret",
        "OS_PROJECT_NAME": "admin",
        "OS_USER_DOMAIN_ID": "default",
        "OS_PROJECT_DOMAIN_ID": "default",
        **changes,
    }


SESSION = """
domain create --description first corp
domain list
project create --domain corp --description top --tag blue --property cost=7 parent
project create --domain corp --parent parent child
project set --domain corp --tag green child
project show --domain corp child
project list --domain corp --long
project list --domain corp --tags green
user create --domain corp --project parent --project-domain corp --password pw --email e@x ann
user set --domain corp --description tall ann
user list --domain corp --long
user show --domain corp ann
group create --domain corp staff
group add user --user-domain corp --group-domain corp staff ann
group contains user --user-domain corp --group-domain corp staff ann
group list --user ann --user-domain corp
user list --group staff
role create watcher
role set --description sees watcher
implied role create watcher --implied-role reader
implied role list
role add --user ann --user-domain corp --project parent --project-domain corp watcher
role add --group staff --group-domain corp --domain corp --inherited member
role add --user ann --user-domain corp --system all reader
role assignment list --names
role assignment list --effective --names --user ann --user-domain corp
role assignment list --project parent --project-domain corp
role remove --user ann --user-domain corp --system all reader
role list
service create --name thing --description things thing
service set --description better thing
service list --long
service show thing
region create --description far R2
region list
region set --description near R2
endpoint create --region R2 thing public http://thing.example.org/%(project_id)s
endpoint list --service thing
catalog list
catalog show thing
token issue
ec2 credentials create
ec2 credentials list
credential create --type ec2 --project admin admin '{"access": "a", "secret": "s"}'
credential create --type cert admin words
credential list
application credential create --role member --description bot --expiration 2099-01-01T00:00:00 robot
application credential create --access-rules '[{"service":"identity","method":"GET","path":"/v3/projects"}]' ruled
application credential list
application credential show robot
access rule list
policy create --type application/json RULES
policy list
limit list
registered limit create --service thing --default-limit 5 apples
limit create --project admin --service thing --resource-limit 3 apples
limit list
registered limit list
trust create --project admin --role member --impersonate admin demo
trust list
user password set --original-password secret --password secret
application credential delete robot ruled
group remove user --user-domain corp --group-domain corp staff ann
user delete --domain corp ann
project delete --domain corp child
project delete --domain corp parent
group delete --domain corp staff
domain set --disable corp
domain delete corp
region show R2
role delete watcher
service delete thing
region delete R2
"""


def test_a_session_with_the_openstack_command(live: ServedCloud, tmp_path: Path) -> None:
    """One process runs them all: the command reads its commands from the standard input."""
    rules = tmp_path / "rules"
    rules.write_text("{}")
    commands = SESSION.replace("RULES", str(rules)).strip()
    outcome = run(live, commands)
    failed = [(command, text) for command, (code, text) in zip(commands.splitlines(), outcome, strict=True) if code]
    assert failed == []


RUNNER = """
import contextlib, io, json, shlex, sys
from openstackclient import shell
results = []
for line in sys.stdin:
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        try:
            code = shell.main(shlex.split(line))
        except SystemExit as end:
            code = end.code
    results.append((code, said.getvalue() + (errors.getvalue() if code else "")))
print(json.dumps(results))
"""


def run(served: ServedCloud, commands: str, **changes: str) -> list[tuple[int, str]]:
    """Exit status and output of each command; they share one interpreter, which is what takes time to start."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER],
        input=commands,
        capture_output=True,
        text=True,
        env=environment(served, **changes),
        check=True,
    )
    return [(code, text) for code, text in json.loads(done.stdout.splitlines()[-1])]


def test_commands_show_created_objects(live: ServedCloud) -> None:
    out = run(
        live,
        """
        user show -f json demo
        role assignment list -f json --names --user demo --project demo
        catalog show -f json identity
        application credential create -f json --secret s3 --role member robot
        user show -f json nobody
        """.strip(),
    )
    user, roles, catalog, credential = (json.loads(text) for _, text in out[:4])
    assert user["name"] == "demo"
    assert {row["Role"] for row in roles} == {"member", "heat_stack_owner"}
    assert catalog["type"] == "identity"
    assert out[4][0] == 1
    as_robot = run(
        live,
        "token issue -f json\nuser list",
        OS_AUTH_TYPE="v3applicationcredential",
        OS_APPLICATION_CREDENTIAL_ID=credential["ID"],
        OS_APPLICATION_CREDENTIAL_SECRET="s3",
        **dict.fromkeys(("OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME", "OS_USER_DOMAIN_ID"), ""),
    )
    assert json.loads(as_robot[0][1])["project_id"] == credential["Project ID"]
    assert as_robot[1][0] == 1
    assert "403" in as_robot[1][1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
def test_openstacksdk(live: ServedCloud) -> None:
    cloud = openstack.connect(
        auth_url=f"{live.url}/identity",
        username="admin",
        password="secret",
        project_name="admin",
        user_domain_id="default",
        project_domain_id="default",
        region_name="RegionOne",
    )
    keystone = cloud.identity
    assert isinstance(keystone, _proxy.Proxy)
    project = keystone.create_project(name="lab", domain_id="default", description="d")
    user = keystone.create_user(name="eve", password="pw", domain_id="default", email="e@x")
    role = keystone.find_role("member")
    assert role is not None
    keystone.assign_project_role_to_user(project, user, role)
    assert keystone.validate_user_has_project_role(project, user, role)
    assert [each.id for each in keystone.user_projects(user)] == [project.id]
    found = list(keystone.role_assignments(user_id=user.id, scope_project_id=project.id))
    assert [each.role["id"] for each in found] == [role.id]
    assert [each.id for each in keystone.projects(name="lab")] == [project.id]
    assert keystone.update_user(user, description="tall").description == "tall"
    keystone.delete_user(user)
    keystone.delete_project(project)
    assert keystone.find_user("eve") is None
    cloud.close()


def test_keystoneauth_logs_in_with_an_application_credential(live: ServedCloud) -> None:
    admin = v3.Password(
        f"{live.url}/identity/v3",
        username="admin",
        password="secret",
        project_name="admin",
        user_domain_id="default",
        project_domain_id="default",
    )
    keystone = session.Session(admin)
    user = keystone.get_user_id()
    made = keystone.post(
        f"{live.url}/identity/v3/users/{user}/application_credentials",
        json={"application_credential": {"name": "robot", "secret": "s3", "roles": [{"name": "reader"}]}},
    ).json()["application_credential"]
    auth = v3.ApplicationCredential(
        f"{live.url}/identity/v3", application_credential_secret="s3", application_credential_id=made["id"]
    )
    access = auth.get_access(session.Session())
    assert (access.project_id, access.role_names) == (made["project_id"], ["reader"])


def test_keystonemiddleware_validates_tokens_with_a_service_user(live: ServedCloud) -> None:
    """In a process of its own, as a service's WSGI stack runs it."""
    program = """
import json, sys
from keystonemiddleware import auth_token
url, good = sys.argv[1:]
options = {"www_authenticate_uri": url, "auth_url": url, "auth_type": "password", "username": "heat",
    "password": "secret", "project_name": "service", "user_domain_id": "default", "project_domain_id": "default"}
def application(environ, start_response):
    start_response("200 OK", [])
    names = ("HTTP_X_USER_NAME", "HTTP_X_PROJECT_NAME", "HTTP_X_ROLES", "HTTP_X_IDENTITY_STATUS")
    return [json.dumps([environ.get(name) for name in names]).encode()]
guarded = auth_token.filter_factory({}, **options)(application)
def ask(token):
    import io
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "SCRIPT_NAME": "", "SERVER_NAME": "x", "SERVER_PORT": "80",
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr, "HTTP_X_AUTH_TOKEN": token}
    seen = []
    body = b"".join(guarded(environ, lambda status, headers, error=None: seen.append(status)))
    return seen[0], body.decode()
print(json.dumps([ask(good), ask("bad")]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, f"{live.url}/identity", live.token("demo", "demo")],
        capture_output=True,
        text=True,
        check=True,
    )
    (status, body), (refused, _) = json.loads(done.stdout.splitlines()[-1])
    assert status == "200 OK"
    name, project, roles, confirmed = json.loads(body)
    assert (name, project, confirmed) == ("demo", "demo", "Confirmed")
    assert {"member", "reader", "heat_stack_owner"} == set(roles.split(","))
    assert refused.startswith("401")
