"""What an engine still has to take over, at `/readyz`: for probes, and for `stoker up` and `stoker status`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from stoker.api.auth import WSGIApplication
from stoker.engine.core import Engine
from stoker_foundation.readiness import READY_PATH


def progress_of(engine: Engine) -> dict[str, object]:
    """Return the state of an engine that serves requests: how many operations it has taken over, and of how many."""
    takeovers = engine.membership.takeovers
    return {
        "ready": True,
        "operations": len(engine.runs),
        "taking_over": {"done": takeovers.total - takeovers.waiting, "total": takeovers.total},
    }


def with_progress(
    engine: Engine, application: WSGIApplication, more: Callable[[], Mapping[str, object]] = dict
) -> WSGIApplication:
    """Return `application` with the progress of an engine in the same process at `/readyz`, without a token.

    `more` returns what else is shown there.
    """

    def choose(environ: dict[str, object], start_response: Any) -> Any:
        if environ.get("PATH_INFO") != READY_PATH:
            return application(environ, start_response)
        body = json.dumps({**progress_of(engine), **more()}).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response("200 OK", headers)
        return [body if environ["REQUEST_METHOD"] == "GET" else b""]

    return choose
