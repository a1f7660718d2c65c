"""Whatever comes to the Query API is answered, and never as a failure of ours."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stoker.api.auth import WSGIApplication
from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.app import QUERY_PATHS, make_cfn_app
from stoker.base.config import load_config
from stoker_foundation.clock import ManualClock
from tests.cfn.test_parameters import PARAMETERS
from tests.cfn.test_rendering import NOW, SIGNED, Engine, Trusting
from tests.wsgi_requests import BYTES, answer, environs

SIGNATURES = st.fixed_dictionaries(
    {},
    optional={
        "AWSAccessKeyId": st.sampled_from(["key", "", "\u2603"]),
        "Signature": st.sampled_from(["AAAA", "", "=", "%"]),
        "SignatureVersion": st.sampled_from(["2", "4", "1", "x"]),
        "SignatureMethod": st.sampled_from(["HmacSHA256", "HmacSHA1", "none"]),
        "Timestamp": st.sampled_from(["2023-11-14T22:13:20Z", "0000-00-00T00:00:00Z", "now", ""]),
        "Expires": st.sampled_from(["2023-11-14T22:13:20Z", "-1"]),
        "X-Amz-Algorithm": st.sampled_from(["AWS4-HMAC-SHA256", "x"]),
        "X-Amz-Credential": st.sampled_from(
            [
                "k/20231114/RegionOne/cloudformation/aws4_request",
                "k/x",
                "",
                "////",
                "/" * 5000,
                "k/20231114///aws4_request",
            ]
        ),
        "X-Amz-Date": st.sampled_from(
            ["20231114T221320Z", "x", "99991231T235959Z", "00010101T000000Z", "\0", "9" * 5000]
        ),
        "X-Amz-Expires": st.sampled_from(
            ["60", "-1", "x", "9" * 30, "0", "1e400", "nan", "\u0663", " 60", "604801", "9" * 5000]
        ),
        "X-Amz-SignedHeaders": st.sampled_from(["host", "", "host;host", "x", ";", "\u0130", "host;" * 3000]),
        "X-Amz-Security-Token": st.sampled_from(["", "x" * 9000, "\ud800"]),
        "X-Amz-Signature": st.sampled_from(["0", ""]),
        "ContentType": st.sampled_from(["JSON", "XML"]),
    },
)
ACTION = st.sampled_from(sorted(ACTIONS)) | st.text(max_size=5)
QUERIES = st.builds(
    lambda action, parameters, signature: urlencode({**parameters, **signature, "Action": action}, errors="replace"),
    ACTION,
    PARAMETERS,
    SIGNATURES | st.just(SIGNED),
)
ARN = "arn:openstack:heat::p:stacks/web/2f1d9d4f-6b86-4ee1-8d6f-3a37be4d4e6b/resources/handle"
PATHS = st.one_of(
    st.sampled_from([*QUERY_PATHS, "/versions", "/healthcheck", f"/v1/waitcondition/{ARN}", f"/v1/signal/{ARN}"]),
    st.builds("/v1/{}/{}".format, st.sampled_from(["waitcondition", "signal"]), BYTES | st.just(quote(ARN))),
    BYTES.map(lambda path: f"/{path}"),
)


@pytest.fixture(scope="module")
def application() -> WSGIApplication:
    return make_cfn_app(load_config([], []), Engine(), Trusting(), ManualClock(NOW))


@settings(max_examples=600)
@given(environ=environs(PATHS, QUERIES))
def test_random_requests_cause_no_internal_error(application: WSGIApplication, environ: dict[str, Any]) -> None:
    given_back = answer(application, environ)
    assert given_back.status < 500, given_back.body
    assert b"Traceback" not in given_back.body
