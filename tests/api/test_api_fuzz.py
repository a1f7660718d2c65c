"""Whatever comes to the REST API is answered, and never as a failure of ours."""

from __future__ import annotations

import io
import json
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
ODD = (
    "http://[::1", "http://h:99999999/", "http://h:x/?=&#", "//", "\0", "a\r\nb: c", "9" * 30, "9" * 5000, "1e400",
    "-0", "nan", "[" * 5000, "{" * 200, '{"a":' * 200, "é\U0001f600", "../..", "",
)  # fmt: skip
LONE = ("\ud800", "a\udfff")
QUERIES = (
    st.lists(
        st.tuples(
            st.sampled_from(QUERY_NAMES) | st.text(max_size=5),
            st.sampled_from(["1", "true", "-1", *ODD]) | st.text(max_size=9),
        ),
        max_size=4,
    )
    .flatmap(lambda pairs: st.sampled_from([pairs, pairs * 2]))
    .map(lambda pairs: urlencode(pairs, errors="replace"))
)


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


VALUES = st.recursive(
    st.sampled_from([None, True, 0, -0.0, 10**400, -(2**63), float("nan"), float("inf"), *ODD, *LONE])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ODD, "a", "x.yaml"]), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = (
    "stack_name", "template", "template_url", "environment", "files", "environment_files", "files_container",
    "parameters", "timeout_mins", "tags", "disable_rollback", "adopt_stack_data", "clear_parameters", "existing",
    "config", "inputs", "options", "server_id", "input_values", "status", "name", "mark_unhealthy", "suspend", "check",
)  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5).map(lambda body: {"stack_name": "web", **body})


@pytest.fixture(scope="module")
def application() -> WSGIApplication:
    return make_app(load_config([], []), scripted_engine(), check_tokens)


@settings(max_examples=600)
@given(environ=environs(PATHS, QUERIES), token=st.sampled_from(["admin-token", "member-token", "stack-user-token", ""]))
def test_random_requests_cause_no_internal_error(
    application: WSGIApplication, environ: dict[str, Any], token: str
) -> None:
    given_back = answer(application, {**environ, "HTTP_X_AUTH_TOKEN": token})
    assert given_back.status < 500, given_back.body
    assert b"Traceback" not in given_back.body


@settings(max_examples=300)
@given(
    environ=environs(PATHS, QUERIES),
    path=st.sampled_from(["stacks", "stacks/preview", f"stacks/web/{STACK_ID}", "validate", "software_configs"])
    | st.sampled_from(["software_deployments", f"stacks/web/{STACK_ID}/actions", f"stacks/web/{STACK_ID}/preview"]),
    body=BODIES,
)
def test_random_body_values_cause_no_internal_error(
    application: WSGIApplication, environ: dict[str, Any], path: str, body: dict[str, Any]
) -> None:
    content = json.dumps(body).encode()
    sent = {
        **environ,
        "REQUEST_METHOD": "PUT" if path.endswith((STACK_ID, "web/preview")) else "POST",
        "PATH_INFO": f"/v1/{PROJECT}/{path}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(content)),
        "HTTP_X_AUTH_TOKEN": "member-token",
        "wsgi.input": io.BytesIO(content),
    }
    given_back = answer(application, sent)
    assert given_back.status < 500, given_back.body
    assert b"Traceback" not in given_back.body
