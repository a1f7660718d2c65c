"""Configuration and logging."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oslo_config import cfg

from stoker.base.config import load_config, shown_options
from stoker.base.context import RequestContext
from stoker.base.known_options import known_options
from stoker.base.logging import protect, request_scope
from stoker.base.options import LIBRARY_GROUPS, LOGINS, OPTIONS
from stoker.base.paste_filters import apply_paste_filters
from stoker.base.unused_options import ALL, WITHOUT_EFFECT, log_unused_options, reason_of, unused_options
from stoker.processes.settings import serving_threads
from stoker_foundation.log_lines import _SECRETS, redact

FILE = """
[DEFAULT]
max_template_size = 1000
hidden_stack_tags = a, b
convergence_engine = true
debug = true
[database]
connection = sqlite://
[clients_nova]
endpoint_type = internal
[trustee]
auth_type = password
user-name = heat
password = s3cret
trust_id = 1
surprise = 1
[keystone_authtoken]
whatever = 1
[cors]
allowed_origin = *
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "heat.conf"
    path.write_text(FILE)
    return path


def test_values_come_from_the_file_and_defaults_from_the_table(settings: Path) -> None:
    config = load_config([], [str(settings)])
    assert config.max_template_size == 1000
    assert config.hidden_stack_tags == ["a", "b"]
    assert config.database.connection == "sqlite://"
    assert config.clients_nova.endpoint_type == "internal"
    assert config.clients_nova.insecure is None
    assert config.clients.endpoint_type == "public"
    assert config.trustee.username == "heat"
    assert config.max_resources_per_stack == 1000
    assert serving_threads(config, "heat_api") == 8


def test_shown_options_contain_no_secrets(settings: Path) -> None:
    settings.write_text("[database]\nconnection = mysql://u:p@h/n\n[heat_api]\nworkers = 3\n")
    shown = shown_options(load_config([], [str(settings)]))
    assert shown["[heat_api] workers"] == 3
    assert shown["[database] connection"] == shown["[DEFAULT] auth_encryption_key"] == "***"


@pytest.mark.parametrize(("workers", "fewest"), [("0", 8), ("1", 8), ("4", 32)])
def test_worker_serves_concurrent_requests(settings: Path, workers: str, fewest: int) -> None:
    settings.write_text(f"[heat_api]\nworkers = {workers}\n")
    assert serving_threads(load_config([], [str(settings)]), "heat_api") >= fewest


def test_unused_options_are_logged_with_reason(settings: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = load_config([], [str(settings)])
    assert not caplog.records, "logging is not set up yet"
    assert unused_options(config) == [
        ("DEFAULT", "convergence_engine"),
        ("trustee", "surprise"),
        ("trustee", "trust_id"),
    ]
    log_unused_options(config)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3
    assert "[DEFAULT] convergence_engine has no effect: Operations are always" in caplog.text
    assert "[trustee] trust_id has no effect: The login is" in caplog.text
    assert f"does not support: {settings}:16: [trustee] surprise: there is no such option\n" in caplog.text


def test_every_heat_option_has_an_effect_or_a_reason() -> None:
    """`heat_options.json` has the names of the options that Heat 27 registers itself."""
    config = load_config([], [])
    known = known_options(config)
    theirs = json.loads((Path(__file__).parent / "heat_options.json").read_text())
    pairs = [(group, name) for group, names in theirs.items() for name in names]
    assert len(pairs) == 247
    assert [pair for pair in pairs if pair not in known and reason_of(*pair) is None] == []
    both = [(group, name) for group, names in WITHOUT_EFFECT.items() for name in names if (group, name) in known]
    assert both == []
    assert [group for group, names in WITHOUT_EFFECT.items() if ALL in names and group in (*OPTIONS, *LOGINS)] == []


def test_configuration_files_are_found_in_heat_locations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the home directory, since a test cannot write to /etc; oslo.config searches both in the same way."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = tmp_path / ".heat"
    (found / "heat.conf.d").mkdir(parents=True)
    (found / "heat.conf").write_text("[DEFAULT]\nmax_template_size = 1\nmax_stacks_per_tenant = 1\nhost = a\n")
    (found / "heat-engine.conf").write_text("[DEFAULT]\nhost = b\n")
    (found / "heat.conf.d" / "50-more.conf").write_text("[DEFAULT]\nmax_stacks_per_tenant = 2\n")
    (found / "policy.yaml").write_text("")
    config = load_config(prog="heat-engine")
    assert (config.max_template_size, config.max_stacks_per_tenant, config.host) == (1, 2, "b")
    assert config.find_file("policy.yaml") == str(found / "policy.yaml")
    assert load_config().host == "a"
    assert load_config([], []).host not in ("a", "b"), "an embedded Stoker does not read the machine's files"


PASTE = """
[DEFAULT]
name = passed to all filters
[pipeline:heat-api]
pipeline = healthcheck cors http_proxy_to_wsgi request_id faultwrap authtoken audit context apiv1app
[filter:healthcheck]
paste.filter_factory = oslo_middleware:Healthcheck.factory
backends = disable_by_file
disable_by_file_path = /tmp/off
[filter:cors]
paste.filter_factory = oslo_middleware.cors:filter_factory
oslo_config_project = heat
allowed_origin = https://dashboard.example.com
[filter:http_proxy_to_wsgi]
paste.filter_factory = oslo_middleware:HTTPProxyToWSGI.factory
enable_proxy_headers_parsing = true
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
delay_auth_decision = true
[filter:context]
paste.filter_factory = heat.common.context:ContextMiddleware_filter_factory
[filter:audit]
paste.filter_factory = keystonemiddleware.audit:filter_factory
[filter:osprofiler]
paste.filter_factory = osprofiler.web:WsgiMiddleware.factory
"""


def test_options_of_filters_in_api_paste_ini_precede_those_of_heat_conf(
    settings: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.parent / "api-paste.ini").write_text(PASTE)
    config = load_config(["--config-file", str(settings)])
    apply_paste_filters(config)
    assert config.healthcheck.backends == ["disable_by_file"]
    assert config.healthcheck.disable_by_file_path == "/tmp/off"
    assert config.cors.allowed_origin == ["https://dashboard.example.com"]
    assert config.oslo_middleware.enable_proxy_headers_parsing is True
    assert "no effect in Stoker: authtoken: delay_auth_decision, audit\n" in caplog.text, "osprofiler is not in use"

    (settings.parent / "api-paste.ini").write_text(PASTE.replace("parsing = true", "parsing = maybe"))
    with pytest.raises(cfg.Error, match=r"api-paste.ini: \[filter:http_proxy_to_wsgi\] enable_proxy"):
        apply_paste_filters(load_config(["--config-file", str(settings)]))
    (settings.parent / "api-paste.ini").write_text("x")
    with pytest.raises(cfg.Error, match=r"api-paste.ini cannot be read"):
        apply_paste_filters(load_config(["--config-file", str(settings)]))


def test_arguments_override_and_directories_are_read(settings: Path, tmp_path: Path) -> None:
    directory = tmp_path / "heat.conf.d"
    directory.mkdir()
    (directory / "10-more.conf").write_text("[DEFAULT]\nmax_template_size = 7\nnonsense = 1\n")
    config = load_config(["--config-file", str(settings), "--config-dir", str(directory)])
    assert config.max_template_size == 7
    assert ("DEFAULT", "nonsense") in unused_options(config)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[DEFAULT]\nmax_template_size = ten", "[DEFAULT] max_template_size"),
        ("[DEFAULT]\ndeferred_auth_method = magic", "[DEFAULT] deferred_auth_method"),
        ("[heat_api]\nworkers = -1", "[heat_api] workers"),
        ("[trustee]\nauth_type = v3token", "[trustee] auth_type"),
        ("[trustee]\nauth_type = magic", "[trustee] auth_type"),
        ("[ec2authtoken]\nauth_type = magic", "[ec2authtoken] auth_type"),
    ],
)
def test_invalid_value_is_reported_at_start(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(text)
    with pytest.raises(cfg.Error, match=place.replace("[", r"\[")):
        load_config([], [str(path)])


def test_invalid_value_is_reported_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text("[heat_api]\nworkers = many\n")
    with pytest.raises(cfg.Error) as caught:
        load_config([], [str(path)])
    assert str(caught.value) == (
        f"{path}:2: [heat_api] workers: 'many' is not acceptable: use a whole number of at least 0"
    )


WRONG = """[DEFAULT]
max_template_size = lots
deferred_auth_method = trust

# a comment, and an option of Heat
convergence_engine = true
auth_encryption_key = secret-word-of-this-file
[engine]
heartbeat_secnds = 3
heartbeat_seconds =
  soon
[console]
enabled = maybe
steps = 20000
[trustee]
auth_type = pasword
"""


def test_all_configuration_mistakes_are_reported_with_lines_and_suggestions(tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(WRONG.replace("auth_type = pasword\n", ""))
    with pytest.raises(cfg.Error) as caught:
        load_config([], [str(path)])
    first, *others = str(caught.value).split("\n  ")
    assert first == "6 problems:"
    assert others == [
        f"{path}:2: [DEFAULT] max_template_size: 'lots' is not acceptable: use a whole number of at least 0",
        f"{path}:3: [DEFAULT] deferred_auth_method: 'trust' is not acceptable: use one of password, trusts; did you "
        "mean 'trusts'?",
        f"{path}:10: [engine] heartbeat_seconds: '\\nsoon' is not acceptable: use a number of at least 0.1",
        f"{path}:13: [console] enabled: 'maybe' is not acceptable: use true or false",
        f"{path}:9: [engine] heartbeat_secnds: there is no such option; did you mean 'heartbeat_seconds'?",
        f"{path}:14: [console] steps: there is no such option; it belongs to the section [evaluation]",
    ]


def test_invalid_values_of_command_line_options_are_reported_with_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "heat.conf"
    path.write_text("[DEFAULT]\ndebug = maybe\nuse_json = 2\nlog_rotation_type = sise\n[engine]\nlease_seconds = -4\n")
    with pytest.raises(cfg.Error) as caught:
        load_config([], [str(path)])
    assert str(caught.value).split("\n  ") == [
        "4 problems:",
        f"{path}:6: [engine] lease_seconds: '-4' is not acceptable: use a number of at least 0.5",
        f"{path}:2: [DEFAULT] debug: 'maybe' is not acceptable: use true or false",
        f"{path}:3: [DEFAULT] use-json: '2' is not acceptable: use true or false",
        f"{path}:4: [DEFAULT] log_rotation_type: 'sise' is not acceptable: use one of interval, size, none; did you "
        "mean 'size'?",
    ]
    assert capfd.readouterr() == ("", "")


def test_invalid_credentials_are_reported_with_other_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(WRONG)
    with pytest.raises(cfg.Error, match=r"5 problems:\n.*heat\.conf:16: \[trustee\] auth_type: 'pasword' is not supp"):
        load_config([], [str(path)])


def test_a_wrong_value_of_the_environment_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_ENGINE__LEASE_SECONDS", "soon")
    with pytest.raises(cfg.Error, match=r"^\[engine\] lease_seconds: .*OS_ENGINE__LEASE_SECONDS is not valid"):
        load_config([], [])


def test_a_wrong_secret_value_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    option = cfg.IntOpt("pin", secret=True, min=10, help="A secret number.")
    monkeypatch.setitem(OPTIONS, "engine", [*OPTIONS["engine"], option])
    path = tmp_path / "heat.conf"
    path.write_text("[engine]\npin = 7\n")
    with pytest.raises(
        cfg.Error, match=r":2: \[engine\] pin: the value is not acceptable: use a whole number of at"
    ) as caught:
        load_config([], [str(path)])
    assert "7" not in str(caught.value).replace(str(path), "")


def test_unparsable_lines_are_reported_together_without_content(tmp_path: Path) -> None:
    path, other = tmp_path / "heat.conf", tmp_path / "other.conf"
    path.write_text("secret = s3cret\n[DEFAULT]\npassword s3cret\n\n  s3cret more\n= s3cret\n[engine\n[]\nhost = a\n")
    other.write_text("[DEFAULT]\ns3cret\n")
    with pytest.raises(cfg.Error) as caught:
        load_config([], [str(path), str(other)])
    problems = str(caught.value).split("\n  ")
    assert problems[0] == "7 problems:"
    places = [problem.partition(": ")[0] for problem in problems[1:]]
    assert places == [*(f"{path}:{line}" for line in (1, 3, 5, 6, 7, 8)), f"{other}:2"]
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[engine]\nlease_second = 1", "; did you mean 'lease_seconds'?"),
        ("[DEFAULT]\nheartbeat_seconds = 1", "; it belongs to the section [engine]"),
        ("[evaluatoin]\nlimit = 1", "; did you mean the section [evaluation]?"),
        ("[engine]\nsomething = 1", ""),
    ],
)
def test_unknown_option_is_logged_with_suggestion(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, hint: str
) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(text)
    log_unused_options(load_config([], [str(path)]))
    assert caplog.messages[0].endswith(f"there is no such option{hint}")
    assert f"{path}:2: [" in caplog.messages[0]


def test_a_file_that_is_not_in_utf_8_is_named(settings: Path, tmp_path: Path) -> None:
    path = tmp_path / "more.conf"
    path.write_bytes("[DEFAULT]\nhost = Zürich\n".encode("latin-1"))
    with pytest.raises(cfg.Error, match=f"{path}: the file is not in UTF-8"):
        load_config([], [str(settings), str(path)])


def test_every_option_has_help_and_every_group_one_owner() -> None:
    assert not LIBRARY_GROUPS & set(OPTIONS)
    for group, options in OPTIONS.items():
        names = [option.dest for option in options]
        assert len(names) == len(set(names)), group
        assert all(option.help for option in options)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("X-Auth-Token: abc", "X-Auth-Token: ***"),
        ("Authorization: Bearer a.b.c", "Authorization: Bearer ***"),
        ('{"password": "it\\"s", "a": 1}', '{"password": "***", "a": 1}'),
        ("{'adminPass': 'x y', 'b': 2}", "{'adminPass': '***', 'b': 2}"),
        ("('X-Subject-Token', 'abc')", "('X-Subject-Token', '***')"),
        (r'"{\"db_password\": \"p w\", \"x\": 1}"', r'"{\"db_password\": \"***\", \"x\": 1}"'),
        (
            '{"auth": {"password": {"user": {"password": "p"}}}}',
            '{"auth": {"password": {"user": {"password": "***"}}}}',
        ),
        ("mysql+pymysql://heat:pw@db/heat", "mysql+pymysql://heat:***@db/heat"),
        ("GET /x?Signature=abc%3D&Action=a", "GET /x?Signature=***&Action=a"),
        ("validating gAAAAABabcdefghijklmnopqrstuvwxyz", "validating ***"),
        ("the password of the user is too short", "the password of the user is too short"),
        ("http://127.0.0.1:8004/v1", "http://127.0.0.1:8004/v1"),
    ],
)
def test_secrets_are_redacted(text: str, redacted: str) -> None:
    assert redact(text) == redacted


def test_log_lines_have_request_ids_and_redacted_tracebacks() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(request_id)s %(user_identity)s %(message)s"))
    protect(handler)
    log = logging.Logger("test")
    log.addHandler(handler)
    with request_scope(RequestContext("req-7", "u", "alice", "p", token="t")):
        try:
            raise ValueError("password=hunter2")
        except ValueError:
            log.exception("token: %s", "abc")
    text = stream.getvalue()
    assert text.startswith("req-7 u p token: ***\n")
    assert "Traceback" in text and "hunter2" not in text


@given(text=st.text() | st.one_of([st.from_regex(pattern) for pattern in _SECRETS]))
def test_strings_with_possible_secrets_are_scanned(text: str) -> None:
    closely = text
    for pattern in _SECRETS:
        closely = pattern.sub(r"\g<keep>***", closely)
    assert redact(text) == closely
