"""What an embedded set-up keeps, decides and remembers, without processes."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from oslo_config import cfg

from openstack_emulator.identity.rules.seed import USERS
from openstack_emulator.main import chosen_passwords, parser
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.token_cache import TokenCache
from stoker.base.errors import Conflict, Invalid
from stoker.cli.commands.local import planned_set_up, up
from stoker.cli.terminal.errors import CommandFailed
from stoker.processes.access import write_access_files
from stoker.processes.control import StartFailed, programs_of, running, start
from stoker.processes.directory import WELL_KNOWN_PASSWORD, DataDirectory, SetUp
from stoker.processes.embedded import configuration
from stoker.processes.embedded_options import Options
from stoker.processes.settings import cloud_settings, engine_settings
from stoker_foundation.clock import ManualClock

SET_UP = SetUp("http://127.0.0.1:8104/v1", "http://127.0.0.1:8100/v1", "http://127.0.0.1:5100/identity/v3")
KEEP: dict[str, int | None] = {"rest": None, "cfn": None, "identity": None}


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    made = DataDirectory(tmp_path / "data")
    made.make()
    return made


def configured(directory: DataDirectory, *files: str, cloud: str | None = None) -> cfg.ConfigOpts:
    return configuration(Options(directory, 8004, 8000, "http://127.0.0.1:5000/identity", cloud, files))


def test_encryption_key_is_created_once_and_private(directory: DataDirectory) -> None:
    key = directory.encryption_key()
    assert len(key) == 32
    assert DataDirectory(directory.path).encryption_key() == key
    assert stat.S_IMODE((directory.path / "secrets.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700


def test_set_up_record_round_trips(directory: DataDirectory) -> None:
    assert directory.set_up() is None
    directory.record(SET_UP)
    assert directory.set_up() == SET_UP


@pytest.mark.parametrize("text", ["{", "{}", "[]"])
def test_a_damaged_record_is_reported(directory: DataDirectory, text: str) -> None:
    (directory.path / "endpoints.json").write_text(text)
    with pytest.raises(Invalid, match=r"endpoints\.json"):
        directory.set_up()


def test_data_directory_is_locked_by_one_engine(directory: DataDirectory) -> None:
    with directory.engine_lock(), pytest.raises(Conflict, match="Another engine runs"), directory.engine_lock():
        pass
    with directory.engine_lock():
        pass


def test_a_stale_pid_file_is_ignored(directory: DataDirectory) -> None:
    directory.pid_file("engine").write_text("1")
    assert running(directory, "engine") is None


@pytest.mark.slow
def test_other_program_on_the_port_is_not_mistaken_for_the_ended_one(
    directory: DataDirectory,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        port = other.server_port
        cloud = programs_of(directory, replace(SET_UP, identity=f"http://127.0.0.1:{port}/identity/v3"))[0]
        with pytest.raises(StartFailed, match="ended with status 1"):
            start(directory, replace(cloud, ports=()))  # its port was taken after it had been found free
        other.shutdown()
    assert running(directory, cloud.name) is None


def test_chosen_services_are_kept_and_given_to_the_emulated_cloud(directory: DataDirectory) -> None:
    chosen = planned_set_up(SET_UP, KEEP, None, (), ("network", "image"))
    directory.record(chosen)

    again = planned_set_up(directory.set_up(), KEEP, None, ())
    cloud = programs_of(directory, again)[0]

    assert cloud.arguments[-2:] == ("--services", "network,image")
    assert "--services" not in programs_of(directory, SET_UP)[0].arguments


def test_services_of_a_real_cloud_cannot_be_chosen() -> None:
    with pytest.raises(CommandFailed, match="--services is for the emulated cloud only"):
        planned_set_up(None, KEEP, "mine", (), ("network",))


@pytest.mark.parametrize(
    ("names", "message"),
    [("network,nova", "There is no service 'nova' to choose"), ("compute", "needs image and network and volume")],
)
def test_invalid_service_selection_is_refused(names: str, message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(up, ["--data-dir", str(tmp_path / "data"), "--services", names])

    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "data").exists()


def test_ports_are_given_then_former_then_default() -> None:
    fresh = planned_set_up(None, KEEP, None, ())
    assert (fresh.rest, fresh.cfn) == ("http://127.0.0.1:8004/v1", "http://127.0.0.1:8000/v1")
    assert fresh.identity == "http://127.0.0.1:5000/identity/v3"
    assert planned_set_up(SET_UP, KEEP, None, ()) == SET_UP
    moved = planned_set_up(SET_UP, {**KEEP, "rest": 9000}, None, ())
    assert (moved.rest, moved.identity) == ("http://127.0.0.1:9000/v1", SET_UP.identity)
    free = planned_set_up(None, dict.fromkeys(KEEP, 0), None, ())
    assert len({free.rest, free.cfn, free.identity.replace("/identity/v3", "/v1")}) == 3


def test_data_directory_keeps_its_cloud() -> None:
    with pytest.raises(CommandFailed, match="is used with an emulated cloud"):
        planned_set_up(SET_UP, KEEP, "other", ())


def test_client_files_name_both_users_and_are_private(directory: DataDirectory) -> None:
    write_access_files(directory, SET_UP)
    clouds = yaml.safe_load((directory.path / "clouds.yaml").read_text())["clouds"]
    assert {name: cloud["auth"]["username"] for name, cloud in clouds.items()} == {
        "stoker": "demo",
        "stoker-admin": "admin",
        "stoker-system": "admin",
    }
    assert clouds["stoker-system"]["auth"]["system_scope"] == "all"
    assert not [name for name in clouds["stoker-system"]["auth"] if name.startswith("project")]
    assert "export OS_PROJECT_NAME=admin\n" in (directory.path / "openrc-admin").read_text()
    assert f"export OS_AUTH_URL={SET_UP.identity}\n" in (directory.path / "openrc").read_text()
    assert stat.S_IMODE((directory.path / "openrc").stat().st_mode) == 0o600


def test_configuration_files_override_embedded_defaults(directory: DataDirectory) -> None:
    file = directory.path / "heat.conf"
    file.write_text(
        "[DEFAULT]\nmax_resources_per_stack = 7\nhidden_stack_tags = a,b\nmax_nova_api_microversion = 2.60\n"
        "[trustee]\nusername = engine\n[clients_nova]\nendpoint_type = internal\n"
    )
    config = configured(directory, str(file))
    settings = engine_settings(config)
    assert (settings.max_resources_per_stack, settings.hidden_stack_tags) == (7, ("a", "b"))
    assert settings.type_options["max_server_name_length"] == 53
    assert "stack_domain_admin_password" not in settings.type_options
    cloud = cloud_settings(config)
    assert (cloud.username, cloud.password, cloud.project_name) == ("engine", "secret", "service")
    assert cloud.auth_url == "http://127.0.0.1:5000/identity"
    assert cloud.stack_domain_admin == "heat_domain_admin"
    assert cloud.client("nova").endpoint_type == "internal"
    assert cloud.client("cinder").endpoint_type == "public"
    assert cloud.max_microversions == {"nova": "2.60"}
    assert config.database.connection == directory.database_url
    assert config.auth_encryption_key == directory.encryption_key()


def test_a_named_cloud_is_used_with_the_users_own_login(
    directory: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth = {"auth_url": "https://cloud/v3", "application_credential_id": "a", "application_credential_secret": "s"}
    entry = {"auth_type": "v3applicationcredential", "auth": auth, "region_name": "North", "cacert": "/ca.pem"}
    file = directory.path / "clouds.yaml"
    file.write_text(yaml.safe_dump({"clouds": {"mine": entry}}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    config = configured(directory, cloud="mine")
    assert config.keystone_authtoken.auth_type == "v3applicationcredential"
    assert config.keystone_authtoken.application_credential_secret == "s"
    settings = cloud_settings(config)
    assert (settings.auth_url, settings.region_name_for_services) == ("https://cloud/v3", "North")
    assert settings.client("nova").ca_file == "/ca.pem"


def test_token_cache_expires_and_evicts_unused_tokens() -> None:
    clock = ManualClock()
    cache = TokenCache(clock, capacity=2)
    cache.set("a", b"A", time=10)
    cache.set("b", b"B", time=300)
    clock_value = cache.get("a")
    cache.set("c", b"C", time=300)
    assert (clock_value, cache.get("b"), cache.get("c")) == (b"A", None, b"C")
    clock.advance(11)
    assert (cache.get("a"), cache.get("c")) == (None, b"C")


def test_the_port_of_the_name_server_is_kept_and_given_to_the_emulated_cloud(directory: DataDirectory) -> None:
    directory.record(planned_set_up(SET_UP, KEEP, None, (), dns_port=5353))
    cloud = programs_of(directory, planned_set_up(directory.set_up(), KEEP, None, ()))[0]
    assert cloud.arguments[-2:] == ("--dns-port", "5353")
    assert cloud.ports == (5100, 5353)
    assert "--dns-port" not in programs_of(directory, SET_UP)[0].arguments
    with pytest.raises(CommandFailed, match="--dns-port is for the emulated cloud only"):
        planned_set_up(None, KEEP, "mine", (), dns_port=5353)


def test_the_guests_are_kept_and_given_to_the_emulated_cloud(directory: DataDirectory) -> None:
    guests = ("namespace", "flavor:m1.large=qemu")
    directory.record(planned_set_up(SET_UP, KEEP, None, (), guests=guests, guest_image="host"))
    cloud = programs_of(directory, planned_set_up(directory.set_up(), KEEP, None, ()))[0]
    chosen = ("--guests", guests[0], "--guests", guests[1], "--guest-image", "host")
    assert cloud.arguments[-8:] == (*chosen, "--password-file", str(directory.cloud_passwords))
    assert SetUp.from_data({**SET_UP.to_data(), "guests": "qemu"}).guests == ("qemu",)
    assert "--guests" not in programs_of(directory, SET_UP)[0].arguments
    with pytest.raises(CommandFailed, match="--guests is for the emulated cloud only"):
        planned_set_up(None, KEEP, "mine", (), guests=("namespace",))
    refused = CliRunner().invoke(up, ["--data-dir", str(directory.path), "--guests", "flavor:a=xen"])
    assert refused.exit_code == 2
    assert "There is no guest driver 'xen': choose none, namespace, qemu." in " ".join(refused.output.split())


def test_passwords_of_a_cloud_with_guests_are_its_own(directory: DataDirectory) -> None:
    """Programs in guests know the passwords that are documented."""
    directory.record(planned_set_up(SET_UP, KEEP, None, (), guests=("namespace",)))
    made = directory.set_up()
    assert made is not None
    assert set(made.passwords) == set(USERS), "the users of a new cloud"
    assert len({*made.passwords.values(), WELL_KNOWN_PASSWORD}) == len(USERS) + 1
    assert planned_set_up(made, KEEP, None, (), guests=("none",)).passwords == made.passwords, "they are kept"
    assert json.loads(directory.cloud_passwords.read_text()) == made.passwords
    assert stat.S_IMODE(directory.cloud_passwords.stat().st_mode) == 0o600

    write_access_files(directory, made)
    clouds = yaml.safe_load((directory.path / "clouds.yaml").read_text())["clouds"]
    assert clouds["stoker"]["auth"]["password"] == made.passwords["demo"]
    assert clouds["stoker-admin"]["auth"]["password"] == made.passwords["admin"]
    assert made.passwords["demo"] in (directory.path / "openrc").read_text()
    config = configured(directory)
    assert cloud_settings(config).password == made.passwords["heat"]
    assert config.stack_domain_admin_password == made.passwords["heat_domain_admin"]


def test_a_cloud_that_gets_guests_changes_its_passwords(tmp_path: Path) -> None:
    state, passwords = tmp_path / "cloud.db", {user: f"of-{user}" for user in USERS}
    with ServedCloud(new_cloud(("image",), state_path=state)) as served:
        user = served.call("GET", "/identity/v3/users?name=admin", token=served.token()).json["users"][0]
        changed = {"user": {"password": "own"}}
        assert served.call("PATCH", f"/identity/v3/users/{user['id']}", changed, served.token()).status == 200
    with ServedCloud(new_cloud(("image",), state_path=state, passwords=passwords)) as served:
        assert served.token("demo", "demo"), "it has the new password"
        with pytest.raises(AssertionError, match="401"):
            served.token("admin")  # a password that a user has changed is kept
    with ServedCloud(new_cloud(("image",), state_path=state)) as served, pytest.raises(AssertionError, match="401"):
        served.token("demo", "demo")


def test_passwords_of_a_cloud_with_guests_that_is_started_alone(tmp_path: Path) -> None:
    """`openstack-emulator up` keeps them beside the state, and takes given ones."""
    state = tmp_path / "cloud.db"

    def chosen(*words: str, guests: bool = True) -> tuple[str, Mapping[str, str]]:
        return chosen_passwords(parser().parse_args(["up", "--state", str(state), *words]), guests)

    assert chosen(guests=False) == ("secret", {})
    assert chosen("--password", "given") == ("given", {})
    default, made = chosen()
    assert default not in ("secret", *made.values())
    assert stat.S_IMODE((tmp_path / "passwords.json").stat().st_mode) == 0o600
    assert (chosen()[1], chosen()[0] != default) == (made, True)
    (tmp_path / "own.json").write_text('{"demo": "mine"}')
    assert chosen("--password-file", str(tmp_path / "own.json"))[1] == {"demo": "mine"}


@pytest.mark.parametrize("value", ["localhost", "10.0.0.0/99", "127.0.0.1:0"])
def test_addresses_for_requests_of_users_are_checked(directory: DataDirectory, value: str) -> None:
    refused = CliRunner().invoke(up, ["--data-dir", str(directory.path), "--allow-requests-to", value])
    assert refused.exit_code == 2
    assert "is not an address or a network" in " ".join(refused.output.split())


def test_addresses_for_requests_of_users_are_kept_until_others_are_given(directory: DataDirectory) -> None:
    places = ("127.0.0.1:9000", "10.0.0.0/8")
    directory.record(planned_set_up(SET_UP, KEEP, None, (), permitted=places))
    kept = planned_set_up(directory.set_up(), KEEP, None, ())
    assert programs_of(directory, kept)[0].arguments[-4:] == tuple(
        word for place in places for word in ("--allow-requests-to", place)
    )
    assert planned_set_up(kept, KEEP, None, (), permitted=("none",)).permitted == ()
    with pytest.raises(CommandFailed, match="--allow-requests-to is for the emulated cloud only"):
        planned_set_up(None, KEEP, "mine", (), permitted=places)


@pytest.mark.parametrize("pace", [0.0, 0.1, 2.5])
def test_the_pace_of_the_emulated_cloud_is_kept_until_another_one_is_given(
    directory: DataDirectory, pace: float
) -> None:
    directory.record(planned_set_up(SET_UP, KEEP, None, (), pace=pace))
    kept = planned_set_up(directory.set_up(), KEEP, None, ())
    arguments = programs_of(directory, kept)[0].arguments
    assert parser().parse_args(arguments[2:]).pace == pace
    usual = programs_of(directory, planned_set_up(kept, KEEP, None, (), pace=1.0))[0].arguments
    assert parser().parse_args(usual[2:]).pace == 1.0
    with pytest.raises(CommandFailed, match="--pace is for the emulated cloud only"):
        planned_set_up(None, KEEP, "mine", (), pace=pace)


@pytest.mark.parametrize("value", ["-1", "1001", "fast"])
def test_paces_are_checked(directory: DataDirectory, value: str) -> None:
    refused = CliRunner().invoke(up, ["--data-dir", str(directory.path), "--pace", value])
    assert refused.exit_code == 2
    assert "--pace" in refused.output
