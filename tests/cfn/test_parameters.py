"""Parameters: flat names into values, and whatever a client may think of."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from falcon import testing
from hypothesis import given, settings
from hypothesis import strategies as st

from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.app import make_cfn_app
from stoker.api.cfn.parameters import Form, read_parameters
from stoker.api.values import RepeatedField
from stoker.base.config import load_config
from stoker.base.errors import UserError
from stoker_foundation.clock import ManualClock
from tests.cfn.test_rendering import NOW, SIGNED, Engine, Trusting

NAMES = sorted({name for action in ACTIONS.values() for name in action.parameters})
PARTS = st.sampled_from(
    ["", ".member", ".member.1", ".member.2.Key", ".member.1.ParameterKey", ".x", ".", ".member.-1"]
)
PARAMETERS = st.dictionaries(
    st.one_of(st.builds("{}{}".format, st.sampled_from(NAMES), PARTS), st.text(max_size=8)),
    st.one_of(st.text(max_size=20), st.sampled_from(["true", "1", "CREATE", "99999999999", "arn:a:b"])),
    max_size=6,
)


def read(action: str, **params: str) -> dict[str, object]:
    spelled = {name.replace("__", "."): value for name, value in params.items()}
    return read_parameters(ACTIONS[action].parameters, Form.of(list(spelled.items())).own())


def test_lists_and_structures() -> None:
    found = read(
        "UpdateStack",
        StackName="web",
        Tags__member__2__Key="b",
        Tags__member__10__Key="c",
        Tags__member__1__Key="a",
        Tags__member__1__Value="1",
        Parameters__member__1__ParameterKey="p",
        Parameters__member__1__UsePreviousValue="True",
        NotificationARNs="",
    )
    assert found["Tags"] == [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}, {"Key": "c", "Value": ""}]
    assert found["Parameters"] == [{"ParameterKey": "p", "ParameterValue": None, "UsePreviousValue": True}]
    assert found["NotificationARNs"] == []
    assert found["Capabilities"] is None


def test_boolean_and_number_spellings() -> None:
    assert read("CreateStack", StackName="a", TemplateUrl="http://x")["TemplateURL"] == "http://x"
    with pytest.raises(RepeatedField, match="two of its names"):
        read("CreateStack", StackName="a", TemplateUrl="http://x", TemplateURL="http://x")


@settings(max_examples=400, deadline=None)
@given(action=st.sampled_from(sorted(ACTIONS)), params=PARAMETERS)
def test_random_parameters_are_read_or_refused(action: str, params: dict[str, str]) -> None:
    try:
        read_parameters(ACTIONS[action].parameters, Form.of(list(params.items())).own())
    except UserError as error:
        assert error.message


@settings(max_examples=150, deadline=None)
@given(action=st.one_of(st.sampled_from(sorted(ACTIONS)), st.text(max_size=9)), params=PARAMETERS, header=st.text())
def test_random_parameters_cause_no_internal_error(action: str, params: dict[str, str], header: str) -> None:
    client = testing.TestClient(make_cfn_app(load_config([], []), Engine(), Trusting(), ManualClock(NOW)))
    query = urlencode({**params, **SIGNED, "Action": action}, errors="replace")
    headers = {"Authorization": header.encode("latin-1", "replace").decode("latin-1")} if len(header) % 3 == 0 else {}
    answer = client.simulate_get("/v1/", query_string=query, headers=headers)
    assert answer.status_code < 500, answer.text
    body = client.simulate_post("/v1/", body=query, content_type="application/x-www-form-urlencoded")
    assert body.status_code < 500, body.text
