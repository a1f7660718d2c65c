"""Entries that commands add to environments, whose authors find everything else as they wrote it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stoker.authoring.added_entries import NotAdded, with_entries, written

ENTRY = {"to": "net", "id": "5ad674be-5fb6-476d-92bf-b96ace635bda"}
LINE = '- {to: net, id: "5ad674be-5fb6-476d-92bf-b96ace635bda"}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"imports:\n  {LINE}\n"),
        ("# mine\n", f"# mine\nimports:\n  {LINE}\n"),
        ("---\n", f"---\nimports:\n  {LINE}\n"),
        ("{}\n", f"\nimports:\n  {LINE}\n"),
        (
            "parameters:  # ours\n  a: 1   # one\n",
            f"parameters:  # ours\n  a: 1   # one\nimports:\n  {LINE}\n",
        ),
        ("parameters: {a: 1}", f"parameters: {{a: 1}}\nimports:\n  {LINE}\n"),
        ("parameters:\n  a: |\n    text\n    more\n", f"parameters:\n  a: |\n    text\n    more\nimports:\n  {LINE}\n"),
        (
            "imports:\n- {to: a, id: b}  # the first\n\n# then\nparameters: {}\n",
            f"imports:\n- {{to: a, id: b}}  # the first\n{LINE}\n\n# then\nparameters: {{}}\n",
        ),
        (
            "imports:\n    - to: a\n      identity:\n        name: b # last\n# end\n",
            f"imports:\n    - to: a\n      identity:\n        name: b # last\n    {LINE}\n# end\n",
        ),
        ("imports: [{to: a, id: b}] # c\n", f"imports: [{{to: a, id: b}}, {LINE[2:]}] # c\n"),
        ("imports: [] # c\nmoved: []\n", f"imports: [{LINE[2:]}] # c\nmoved: []\n"),
        ("imports:\nmoved: []\n", f"imports:\n  {LINE}\nmoved: []\n"),
        ("imports: null\nmoved: []\n", f"imports:\n  {LINE}\nmoved: []\n"),
        ("imports:\r\n  - {to: a, id: b}\r\n", f"imports:\r\n  - {{to: a, id: b}}\r\n  {LINE}\r\n"),
        (
            '{"parameters": {"a": 1}}\n',
            '{"parameters": {"a": 1}, "imports": [{"to": "net", "id": "5ad674be-5fb6-476d-92bf-b96ace635bda"}]}\n',
        ),
        (
            '{"imports": []}',
            '{"imports": [{"to": "net", "id": "5ad674be-5fb6-476d-92bf-b96ace635bda"}]}',
        ),
    ],
)
def test_only_the_entry_is_added(before: str, after: str) -> None:
    assert with_entries(before, "imports", [ENTRY]) == after
    assert with_entries(after, "imports", [ENTRY]) == after


@pytest.mark.parametrize(
    ("text", "message"), [("[a]", "it is no map"), ("imports: {a: b}", "is no list"), ("a: [", "it is no YAML")]
)
def test_document_other_than_environment_is_unchanged(text: str, message: str) -> None:
    with pytest.raises(NotAdded, match=message):
        with_entries(text, "imports", [ENTRY])


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)


@given(
    data=st.dictionaries(
        st.sampled_from(["parameters", "imports", "moved"]),
        st.lists(st.dictionaries(NAMES, NAMES, max_size=3), max_size=3),
    ),
    flow=st.sampled_from([True, False, None]),
    entry=st.dictionaries(st.sampled_from(["from", "to"]), NAMES, min_size=1),
)
def test_entries_are_added_to_all_forms_of_environments(data: Any, flow: bool | None, entry: Any) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    listed = data.get("imports", [])
    body = {**data, "imports": listed if entry in listed else [*listed, entry]}
    assert yaml.safe_load(with_entries(text, "imports", [entry])) == body
    assert yaml.safe_load(written(entry)) == entry
