"""When the console is served, and where its users log in."""

from __future__ import annotations

import pytest
from oslo_config import cfg

from stoker.base.config import load_config
from stoker.processes.settings import TOKEN_CHECK, set_login
from stoker.processes.web_console import _auth_url, with_console
from stoker_foundation.clock import ManualClock


def api(environ: object, start_response: object) -> list[bytes]:
    return [b"the API"]


def test_the_console_is_off_by_default_and_needs_an_identity_service_and_a_key() -> None:
    config = load_config([], [])
    assert with_console(config, api, ManualClock()) is api
    config.set_override("enabled", True, group="console")
    with pytest.raises(cfg.Error, match=r"\[console\] auth_url"):
        with_console(config, api, ManualClock())
    set_login(config, TOKEN_CHECK, "password", {"auth_url": "https://keystone:5000/"})
    assert _auth_url(config) == "https://keystone:5000/v3"
    with pytest.raises(cfg.Error, match="auth_encryption_key"):
        with_console(config, api, ManualClock())
    config.set_override("auth_encryption_key", "0123456789abcdef0123456789abcdef")
    config.set_override("auth_url", "https://login:5000/v3", group="console")
    assert _auth_url(config) == "https://login:5000/v3"
    served = with_console(config, api, ManualClock())
    assert served is not api and served({"PATH_INFO": "/consoles"}, None) == [b"the API"]
