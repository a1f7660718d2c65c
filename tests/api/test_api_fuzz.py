"""Whatever comes to the REST API is answered, and never as a failure of ours."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stoker.api.app import make_app
from stoker.api.auth import WSGIApplication
from stoker.api.v1.routes import ROUTES
from stoker.base.config import load_config
from tests.api.api_support import PROJECT, STACK_ID, check_tokens, scripted_engine
from tests.wsgi_requests import BYTES, answer, environs

SEGMENT = st.sampled_from(["web", STACK_ID, "0", "..", "arn:openstack:heat::p:stacks/web/1", ""]) | BYTES
QUERY_NAMES = sorted(
    {name for methods in ROUTES.values() for action in methods.values() for name in action.query.fields}
)
QUERIES = st.lists(
    st.tuples(
        st.sampled_from(QUERY_NAMES) | st.text(max_size=5), st.sampled_from(["1", "true", "-1"]) | st.text(max_size=9)
    ),
    max_size=4,
).map(lambda pairs: urlencode(pairs, errors="replace"))


def filled(path: str, segments: list[str]) -> str:
    """A route's path with something for each variable."""
    return re.sub(r"\{\w+\}", lambda _: segments.pop() if segments else "x", path)


PATHS = st.one_of(
    st.builds(
        lambda version, project, path, segments: f"/{version}/{project}{filled(path, segments)}",
        st.sampled_from(["v1", "v1", "v1.0", "v2"]),
        st.sampled_from([PROJECT, PROJECT, "other"]) | BYTES,
        st.sampled_from(sorted(ROUTES)),
        st.lists(SEGMENT, max_size=4),
    ),
    BYTES.map(lambda path: f"/{path}"),
)


@pytest.fixture(scope="module")
def application() -> WSGIApplication:
    return make_app(load_config([], []), scripted_engine(), check_tokens)


@settings(max_examples=600)
@given(environ=environs(PATHS, QUERIES), token=st.sampled_from(["admin-token", "member-token", "stack-user-token", ""]))
def test_any_request_has_an_answer_that_is_no_failure_of_ours(
    application: WSGIApplication, environ: dict[str, Any], token: str
) -> None:
    given_back = answer(application, {**environ, "HTTP_X_AUTH_TOKEN": token})
    assert given_back.status < 500, given_back.body
    assert b"Traceback" not in given_back.body
