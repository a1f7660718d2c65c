"""Configuration and logging."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oslo_config import cfg

from stoker.base.config import LIBRARY_GROUPS, OPTIONS, load_config, unsupported_options
from stoker.base.context import RequestContext
from stoker.base.logging import _SECRETS, protect, redact, request_scope

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
    assert config.heat_api.workers == 8


def test_options_that_nothing_reads_are_named(settings: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        config = load_config([], [str(settings)])
    unknown = ["[DEFAULT] convergence_engine", "[trustee] surprise", "[trustee] trust_id"]
    assert unsupported_options(config) == unknown
    assert ", ".join(unknown) in caplog.text


def test_arguments_override_and_directories_are_read(settings: Path, tmp_path: Path) -> None:
    directory = tmp_path / "heat.conf.d"
    directory.mkdir()
    (directory / "10-more.conf").write_text("[DEFAULT]\nmax_template_size = 7\nnonsense = 1\n")
    config = load_config(["--config-file", str(settings), "--config-dir", str(directory)])
    assert config.max_template_size == 7
    assert "[DEFAULT] nonsense" in unsupported_options(config)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[DEFAULT]\nmax_template_size = ten", "[DEFAULT] max_template_size"),
        ("[DEFAULT]\ndeferred_auth_method = magic", "[DEFAULT] deferred_auth_method"),
        ("[heat_api]\nworkers = 0", "[heat_api] workers"),
        ("[trustee]\nauth_type = v3token", "[trustee] auth_type"),
        ("[trustee]\nauth_type = magic", "[trustee] auth_type"),
    ],
)
def test_a_bad_value_is_told_at_start(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(text)
    with pytest.raises(cfg.Error, match=place.replace("[", r"\[")):
        load_config([], [str(path)])


def test_a_bad_value_is_told_with_its_file_as_a_person_would_write_it(tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text("[heat_api]\nworkers = many\n")
    with pytest.raises(cfg.Error, match=f"from {path} is not valid") as caught:
        load_config([], [str(path)])
    assert "LocationInfo" not in str(caught.value)


def test_a_file_that_is_not_in_utf_8_is_named(settings: Path, tmp_path: Path) -> None:
    path = tmp_path / "more.conf"
    path.write_bytes("[DEFAULT]\nhost = Zürich\n".encode("latin-1"))
    with pytest.raises(cfg.Error, match=f"{path}: the file is not in UTF-8"):
        load_config([], [str(settings), str(path)])


def test_every_option_has_a_help_text_and_no_group_is_left_to_two_readers() -> None:
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


def test_lines_name_their_request_and_keep_secrets_even_in_tracebacks() -> None:
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
def test_a_text_is_looked_at_closely_whenever_there_may_be_a_secret_in_it(text: str) -> None:
    closely = text
    for pattern in _SECRETS:
        closely = pattern.sub(r"\g<keep>***", closely)
    assert redact(text) == closely
