"""Messages about the options that name the message broker name the option, and never contain a password."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from oslo_config import cfg

from stoker.processes.lifetime import cluster_config
from stoker.rpc.messaging import open_transport
from stoker.rpc.notifications import open_bus


def configured(directory: Path, text: str) -> cfg.ConfigOpts:
    path = directory / "heat.conf"
    path.write_text(text)
    return cluster_config([str(path)])


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nonsense", "this is not a URL"),
        ("foo://stoker:s3cret@broker/", "no driver 'foo'"),
        ("rabbit://stoker:s3cret/", "hosts and ports"),
        ("rabbit://stoker:s3cret@broker:port/", "hosts and ports"),
    ],
)
def test_an_invalid_url_is_reported_without_its_password(tmp_path: Path, url: str, problem: str) -> None:
    with pytest.raises(cfg.Error, match=problem) as refused:
        open_transport(configured(tmp_path, f"[DEFAULT]\ntransport_url = {url}\n"))
    assert str(refused.value).startswith("[DEFAULT] transport_url: ")
    notifying = f"[oslo_messaging_notifications]\ndriver = messagingv2\ntransport_url = {url}\n"
    with pytest.raises(cfg.Error, match=problem) as refused_too:
        open_bus(configured(tmp_path, notifying))
    assert str(refused_too.value).startswith("[oslo_messaging_notifications] transport_url: ")
    assert "s3cret" not in f"{refused.value} {refused_too.value}"


def test_the_broker_is_named_without_its_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "stoker")
    url = "rabbit://stoker:s3cret@one:5673,stoker:s3cret@two/"
    open_transport(configured(tmp_path, f"[DEFAULT]\ntransport_url = {url}\n"))
    assert "The message broker is at one:5673, two:5672 ([DEFAULT] transport_url)" in caplog.messages
    assert "s3cret" not in caplog.text


def test_a_missing_transport_url_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    open_transport(configured(tmp_path, ""))
    assert caplog.messages == ["[DEFAULT] transport_url is not set; using the message broker at localhost:5672"]
