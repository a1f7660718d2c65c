"""An update is one request to an engine, which records the settings with it; except for engines of release 0.1.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from falcon import testing

from stoker.api.auth import Credentials
from stoker.api.cfn.app import make_cfn_app
from stoker.api.cfn.identity import Caller
from stoker.api.cfn.signatures import Signed
from stoker.base.config import load_config
from stoker.base.context import RequestContext
from stoker.base.errors import ReleaseMismatch
from stoker.contract.request import Request
from stoker_foundation.clock import ManualClock
from tests.cfn.test_rendering import NOW, SIGNED, STACK, Trusting

SETTINGS = {"notification_topics": ["topic"], "policy": {"Statement": []}}
GIVEN = {"NotificationARNs.member.1": "topic", "StackPolicyBody": '{"Statement": []}'}


class Member(Trusting):
    """Takes every signature to be that of one member of the project."""

    def caller(self, signed: Signed) -> Caller:
        return Caller(Credentials("u1", "p1", ("member",)), "alice", "demo", None, "token")


class Recorder:
    """An `EngineClient` whose engine refuses an `unknown` argument of updates; `changes` are the others that change."""

    def __init__(self, unknown: str = "") -> None:
        self.changes: list[tuple[str, Any]] = []
        self._unknown = unknown

    def call(self, context: RequestContext, request: Request[Any], timeout: float = 60.0) -> Any:
        arguments: Mapping[str, Any] = request.arguments()
        match request.method:
            case "stack_show":
                return {**STACK, "parameters": {}}
            case "stack_patch_changes":
                return True
            case "stack_patch" if self._unknown in arguments:
                raise ReleaseMismatch("unknown argument", "stack_patch", self._unknown, "0.1.0", "")
        self.changes.append((request.method, arguments.get("settings") or arguments.get("changes")))
        return STACK


def update(engine: Recorder, **given: str) -> testing.Result:
    client = testing.TestClient(make_cfn_app(load_config([], []), engine, Member(), ManualClock(NOW)))
    asked = {**SIGNED, "Action": "UpdateStack", "StackName": "web", "UsePreviousTemplate": "true", **given}
    return client.simulate_get("/v1/", query_string=urlencode(asked))


@pytest.mark.parametrize(("given", "expected"), [({}, None), (GIVEN, SETTINGS)])
def test_an_update_is_one_request(given: dict[str, str], expected: dict[str, Any] | None) -> None:
    engine = Recorder()
    assert update(engine, **given).status_code == 200
    assert engine.changes == [("stack_patch", expected)]


def test_older_engine_gets_settings_after_the_update() -> None:
    engine = Recorder("settings")
    assert update(engine, **GIVEN).status_code == 200
    assert engine.changes == [("stack_patch", None), ("stack_settings_change", SETTINGS)]


def test_older_engine_refuses_unknown_argument_without_changes() -> None:
    engine = Recorder("ref")
    assert update(engine, **GIVEN).status_code == 503
    assert engine.changes == []
