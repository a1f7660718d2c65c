"""What an operator is told of the options that name the message broker: which one, and never a password."""

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
        ("nonsense", "this is no URL"),
        ("foo://stoker:s3cret@broker/", "no kind of broker by the name of foo"),
        ("rabbit://stoker:s3cret/", "hosts and ports"),
        ("rabbit://stoker:s3cret@broker:port/", "hosts and ports"),
    ],
)
def test_a_url_that_cannot_be_used_is_told_without_its_password(tmp_path: Path, url: str, problem: str) -> None:
    with pytest.raises(cfg.Error, match=problem) as told:
        open_transport(configured(tmp_path, f"[DEFAULT]\ntransport_url = {url}\n"))
    assert str(told.value).startswith("[DEFAULT] transport_url: ")
    notifying = f"[oslo_messaging_notifications]\ndriver = messagingv2\ntransport_url = {url}\n"
    with pytest.raises(cfg.Error, match=problem) as told_too:
        open_bus(configured(tmp_path, notifying))
    assert str(told_too.value).startswith("[oslo_messaging_notifications] transport_url: ")
    assert "s3cret" not in f"{told.value} {told_too.value}"


def test_the_broker_is_named_without_its_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "stoker")
    url = "rabbit://stoker:s3cret@one:5673,stoker:s3cret@two/"
    open_transport(configured(tmp_path, f"[DEFAULT]\ntransport_url = {url}\n"))
    assert "The message broker is at one:5673, two:5672 ([DEFAULT] transport_url)" in caplog.messages
    assert "s3cret" not in caplog.text


def test_an_operator_who_names_no_broker_is_warned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    open_transport(configured(tmp_path, ""))
    assert caplog.messages == [
        "[DEFAULT] transport_url is not set: the message broker is taken to be at localhost:5672"
    ]
