"""Conversion of the configuration to the settings of a process's components."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest
from oslo_config import cfg

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.identity import SignatureCheck
from stoker.api.cfn.signatures import Signed
from stoker.api.faults import IdentityUnavailable
from stoker.base.config import load_config
from stoker.base.errors import Invalid, TemplateInvalid
from stoker.plugins.pricing import Item
from stoker.plugins.registry import Registry
from stoker.processes.assembly import loaded_plugins
from stoker.processes.directory import DataDirectory
from stoker.processes.embedded import configuration
from stoker.processes.embedded_options import Options
from stoker.processes.opened_database import database_pool
from stoker.processes.settings import cloud_settings, encryption_keys, engine_settings
from stoker.store.database import Database
from stoker.store.sealing import Sealer
from stoker.template.packaged import packaged_environment, packaged_templates

Configure = Callable[[str], cfg.ConfigOpts]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Return a configuration with these lines; the operator's environment is in directories of the test."""

    def load(text: str) -> cfg.ConfigOpts:
        path = tmp_path / "heat.conf"
        here = f"[DEFAULT]\nenvironment_dir = {tmp_path}/environment.d\ntemplate_dir = {tmp_path}/templates\n"
        path.write_text(here + text)
        return load_config([], [str(path)])

    return load


def test_limits_are_passed_to_the_engine(configure: Configure) -> None:
    settings = engine_settings(
        configure(
            "host = here\nmax_template_size = 7\nmax_software_configs_per_tenant = 2\nevent_purge_batch_size = 3\n"
            "hidden_stack_tags = a, b\nregion_name_for_services = North\n"
            "[yaql]\nlimit_iterators = 5\nmemory_quota = 99\n"
            "[evaluation]\nsteps = 20000\nbytes = 2000000\nseconds = 0.5\nseconds_at_once = 0.02\nmemory = 2000000\n"
        )
    )
    assert (settings.host, settings.region_name, settings.hidden_stack_tags) == ("here", "North", ("a", "b"))
    assert (settings.max_template_size, settings.max_software_configs_per_tenant) == (7, 2)
    assert settings.event_purge_batch_size == 3
    assert (settings.yaql_limit_iterators, settings.yaql_memory_quota) == (5, 99)
    assert (settings.evaluation_steps, settings.evaluation_bytes) == (20_000, 2_000_000)
    assert (settings.evaluation_seconds, settings.evaluation_seconds_at_once) == (0.5, 0.02)
    assert settings.evaluation_memory == 2_000_000


def test_a_price_list_is_read_at_start_and_a_wrong_one_is_refused(configure: Configure, tmp_path: Path) -> None:
    listed = tmp_path / "prices.csv"
    listed.write_text("item,name,price,currency\nrouter,,0.01,EUR\n")
    prices = engine_settings(configure(f"price_list = {listed}\n")).prices
    assert prices is not None and prices.of_item(Item.ROUTER, "") == Decimal("0.01")
    listed.write_text("item,name,price,currency\nrouter,,free,EUR\n")
    with pytest.raises(TemplateInvalid, match=r"prices\.csv:2:1: the price of router must be a number"):
        _ = engine_settings(configure(f"price_list = {listed}\n"))


@pytest.mark.parametrize("option", ["steps = 9999", "bytes = 1000", "seconds = 0", "seconds_at_once = 2"])
def test_a_budget_of_evaluation_has_bounds(configure: Configure, option: str) -> None:
    with pytest.raises(cfg.Error, match=option.split()[0]):
        _ = engine_settings(configure(f"[evaluation]\n{option}\n"))


@pytest.mark.parametrize(
    ("text", "insecure"),
    [
        ("", False),
        ("[clients]\ninsecure = true", True),
        ("[clients]\ninsecure = true\n[clients_heat]\ninsecure = false", False),
        ("[clients_heat]\ninsecure = true", True),
    ],
)
def test_types_get_certificate_verification_setting(configure: Configure, text: str, insecure: bool) -> None:
    assert engine_settings(configure(text)).type_options["clients_heat_insecure"] is insecure


def test_types_get_no_secrets(configure: Configure) -> None:
    secrets = "auth_encryption_key = very-secret-key-1\nstack_domain_admin_password = very-secret-word\n"
    shown = engine_settings(configure(secrets)).type_options
    assert not any("very-secret" in str(value) for value in shown.values())


def test_the_connection_pool_is_configured(configure: Configure) -> None:
    pool = database_pool(
        configure("[database]\nmax_pool_size = 3\nmax_overflow = 4\npool_timeout = 5\nconnection_recycle_time = 6\n")
    )
    assert pool.options() == {"pool_size": 3, "max_overflow": 4, "pool_timeout": 5, "pool_recycle": 6}
    assert "pool_timeout" not in database_pool(configure("")).options()


def test_keys_rotate(configure: Configure) -> None:
    old, new = "o" * 32, "n" * 32
    sealed = Sealer(encryption_keys(configure(f"auth_encryption_key = {old}"))).seal("secret")
    rotated = encryption_keys(configure(f"auth_encryption_key = {new}, {old}"))
    assert rotated == [new, old]
    assert Sealer(rotated).open(sealed) == "secret"


@pytest.mark.parametrize("keys", ["short", "", f"{'n' * 32},short", f"{'n' * 32},"])
def test_a_short_key_is_refused_and_not_repeated(configure: Configure, keys: str) -> None:
    with pytest.raises(cfg.Error, match="auth_encryption_key: each key must have 16") as caught:
        encryption_keys(configure(f"auth_encryption_key = {keys}"))
    assert "nnn" not in str(caught.value)


def test_deferred_authentication_by_password_is_refused_at_start(configure: Configure) -> None:
    with pytest.raises(cfg.Error, match="deferred_auth_method: 'password' is not supported"):
        engine_settings(configure("deferred_auth_method = password"))


def test_servers_can_get_another_identity_url(configure: Configure) -> None:
    settings = cloud_settings(
        configure("server_keystone_endpoint_type = public\n[clients_keystone]\nauth_uri = http://identity:5000")
    )
    assert settings.server_keystone_endpoint_type == "public"
    assert settings.server_auth_url == "http://identity:5000"


def test_types_follow_the_configuration(configure: Configure) -> None:
    settings = engine_settings(
        configure(
            "max_server_name_length = 20\ndefault_user_data_format = RAW\n"
            "default_software_config_transport = POLL_SERVER_HEAT\n[volumes]\nbackups_enabled = false\n"
        )
    )
    types = Registry.from_entry_points(settings.type_options).types
    server = types["OS::Nova::Server"]
    assert server.physical_name_limit == 20
    assert server.properties["user_data_format"].default == "RAW"
    assert server.properties["software_config_transport"].default == "POLL_SERVER_HEAT"
    assert not types["OS::Cinder::Volume"].snapshot_on_delete
    untouched = Registry.from_entry_points().types["OS::Nova::Server"]
    assert (untouched.physical_name_limit, untouched.properties["user_data_format"].default) == (53, "HEAT_CFNTOOLS")


# -- the operator's environment ----------------------------------------------------------------------------------

TEMPLATE = "heat_template_version: 2021-04-16\n"


def test_environment_files_are_merged_in_the_order_of_their_names(configure: Configure, tmp_path: Path) -> None:
    directory = tmp_path / "environment.d"
    directory.mkdir()
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "own.yaml").write_text(TEMPLATE)
    (directory / "20.yaml").write_text("resource_registry: {'A::B': 'OS::Heat::Value'}\n")
    (directory / "10.yaml").write_text(
        "resource_registry: {'A::B': 'C::D', 'My::Own': own.yaml}\nparameter_defaults: {x: 1}\n"
    )
    (directory / "30.txt").write_text("no: environment\n")
    (directory / "40.yaml").write_text("")
    operator = engine_settings(configure("")).operator
    url = (tmp_path / "templates" / "own.yaml").as_uri()
    own = {"A::B": "OS::Heat::Value", "My::Own": url}
    assert operator.environment.registry.to_data() == {**packaged_environment()["resource_registry"], **own}
    assert operator.environment.parameter_defaults == {"x": 1}
    assert operator.templates == {**packaged_templates(), url: TEMPLATE}
    assert operator.problems == ()


@pytest.mark.parametrize("text", ["surprise: {}\n", "- 1\n", "a: [\n", "resource_registry: {A: 5}\n"])
def test_an_invalid_environment_file_is_reported_at_start_with_its_name(
    configure: Configure, tmp_path: Path, text: str
) -> None:
    (tmp_path / "environment.d").mkdir()
    (tmp_path / "environment.d" / "wrong.yaml").write_text(text)
    with pytest.raises(TemplateInvalid, match=r"wrong\.yaml"):
        engine_settings(configure(""))


def test_a_binary_environment_file_is_reported_at_start(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "environment.d").mkdir()
    (tmp_path / "environment.d" / "wrong.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Invalid, match=r"wrong\.yaml cannot be read"):
        engine_settings(configure(""))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("resource_registry: {'A::B': missing.yaml}", "A::B is mapped to file:///.*missing.yaml.* No such file"),
        ("resource_registry: {'A::B': 'http://x/t.yaml'}", "A::B is mapped to http://x/t.yaml.*must be files"),
        ("resource_registry: {'A::B': broken.yaml}", "broken.yaml, which is unusable"),
        ("resource_registry: {resources: {r: {'A::B': missing.yaml}}}", "A::B is mapped to file:///"),
        ("parameters: {x: 1}", "ignored: parameters"),
    ],
)
def test_unusable_settings_are_named_in_a_warning(
    configure: Configure, tmp_path: Path, caplog: pytest.LogCaptureFixture, section: str, words: str
) -> None:
    for name in ("environment.d", "templates"):
        (tmp_path / name).mkdir()
    (tmp_path / "environment.d" / "a.yaml").write_text(section)
    (tmp_path / "templates" / "broken.yaml").write_text("no_template: {}\n")
    with caplog.at_level(logging.WARNING):
        operator = engine_settings(configure("")).operator
    assert operator.templates == packaged_templates()
    [problem] = operator.problems
    assert problem in caplog.text
    assert re.search(words, problem)


def test_unused_plug_in_directories_are_reported(
    configure: Configure, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`plugin_dirs` needs a package of its own; a directory that does not exist needs nothing."""
    (tmp_path / "plugins").mkdir()
    config = configure(f"plugin_dirs = {tmp_path}/plugins,{tmp_path}/none\n")
    options = engine_settings(config).type_options
    assert options["plugin_dirs"] == [f"{tmp_path}/plugins", f"{tmp_path}/none"]
    assert options["config_files"] == (f"{tmp_path}/heat.conf",)
    loaded_plugins(options)
    assert f"plug-ins for Heat in {tmp_path}/plugins are loaded by the package stoker-heat-plugins" in caplog.text


@pytest.mark.parametrize(("lease", "heartbeat"), [(3, 1.5), (3, 3), (0.5, 3)])
def test_a_lease_that_can_expire_between_two_reports_is_refused(
    configure: Configure, lease: float, heartbeat: float
) -> None:
    with pytest.raises(cfg.Error, match=r"\[engine\] heartbeat_seconds: .* too long for a lease of"):
        engine_settings(configure(f"[engine]\nlease_seconds = {lease}\nheartbeat_seconds = {heartbeat}\n"))


def test_three_reports_in_a_lease_are_enough(configure: Configure) -> None:
    settings = engine_settings(configure("[engine]\nlease_seconds = 0.9\nheartbeat_seconds = 0.3\n"))
    assert (settings.lease_seconds, settings.heartbeat_seconds) == (0.9, 0.3)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("default_software_config_transport", "POLL_NOTHING"),
        ("default_deployment_signal_transport", "SMOKE_SIGNAL"),
        ("default_deployment_signal_transport", "NO_SIGNAL"),
        ("default_deployment_signal_transport", "TOKEN_SIGNAL"),
    ],
)
def test_a_default_transport_that_no_package_offers_is_refused(configure: Configure, option: str, value: str) -> None:
    with pytest.raises(cfg.Error, match=rf"\[DEFAULT\] {option}: '{value}' is not one of "):
        engine_settings(configure(f"{option} = {value}"))


def test_the_connection_to_the_database_takes_parameters(configure: Configure, tmp_path: Path) -> None:
    pool = database_pool(configure("[database]\nconnection_parameters = charset=utf8mb4&ssl_ca=ca.pem\n"))
    database = Database("mysql+pymysql://u@h/n?read_timeout=5", pool)
    assert database.url.query == {"read_timeout": "5", "charset": "utf8mb4", "ssl_ca": "ca.pem"}
    database.close()


@pytest.mark.parametrize(("text", "seconds"), [("", 60), ("expiration_time = 5", 5), ("caching = false", 0)])
def test_how_long_the_ids_of_names_are_cached(configure: Configure, text: str, seconds: float) -> None:
    settings = cloud_settings(configure(f"[constraint_validation_cache]\n{text}\n"))
    assert settings.finder_cache_seconds == seconds


def test_signatures_are_checked_with_the_login_of_their_own_section(configure: Configure) -> None:
    """A wrong password would end in IdentityUnavailable: the request is not sent without a token."""

    class Forged:
        def credentials(self) -> dict[str, object]:
            return {"access": "a", "signature": "s", "host": "h", "verb": "GET", "path": "/", "params": {}}

    def login(section: str, password: str) -> str:
        return (
            f"[{section}]\nauth_url = {served.url}/identity/v3\nauth_type = password\nusername = heat\n"
            f"password = {password}\nproject_name = service\nuser_domain_name = Default\n"
            "project_domain_name = Default\n"
        )

    with ServedCloud(new_cloud(("image",))) as served:
        for shared, own, error in (("wrong", "secret", QueryError), ("secret", "wrong", IdentityUnavailable)):
            config = configure(login("keystone_authtoken", shared) + login("ec2authtoken", own))
            with pytest.raises(error):
                SignatureCheck(config).caller(cast(Signed, Forged()))
        member = login("keystone_authtoken", "secret").replace("heat", "demo").replace("service", "demo")
        with pytest.raises(IdentityUnavailable, match="may not check signatures"):
            SignatureCheck(configure(member)).caller(cast(Signed, Forged()))


@pytest.mark.parametrize("with_domain", [True, False])
def test_on_a_users_cloud_the_administrator_of_the_stack_domain_checks_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_domain: bool
) -> None:
    """An ordinary user may validate its own tokens only, not those of the stacks' users."""
    auth = {"auth_url": "http://127.0.0.1:5000/v3", "username": "demo", "password": "x", "project_name": "demo"}
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text(json.dumps({"clouds": {"mine": {"auth": auth}}}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
    settings = tmp_path / "stoker.conf"
    domain = "stack_user_domain_name = heat\nstack_domain_admin = keeper\nstack_domain_admin_password = y\n"
    settings.write_text(f"[DEFAULT]\n{domain if with_domain else ''}")
    directory = DataDirectory(tmp_path / "data")
    directory.make()
    login = configuration(Options(directory, 1, 2, "", "mine", (str(settings),))).keystone_authtoken
    found = (login.username, login.user_domain_name, login.domain_name, login.project_name)
    assert found == (("keeper", "heat", "heat", None) if with_domain else ("demo", None, None, "demo"))
    assert login.auth_url == auth["auth_url"]
