"""JSON patches, in the dialects of the services."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from openstack_emulator.baremetal.routes import patches as ironic
from openstack_emulator.container_infra.routes import patches as magnum
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.json_patch import REFUSALS, Dialect, PathNotFound, apply, operations
from openstack_emulator.image.routes import patches as glance
from openstack_emulator.messaging.rules import queues as zaqar
from openstack_emulator.metric.routes import types as gnocchi
from testing.cases import check_each

DIALECTS = {
    "murano": Dialect(REFUSALS),
    "ironic": ironic.DIALECT,
    "magnum": magnum.DIALECT,
    "glance": glance.DIALECT,
    "zaqar": zaqar.PATCHES,
    "gnocchi": gnocchi.DIALECT,
}


def op(op: Any, path: Any, *value: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **({"value": value[0]} if value else {})}


MALFORMED: list[Any] = [
    None,
    {},
    "[]",
    [None],
    [[]],
    [{}],
    [{"op": "add"}],
    [op("copy", "/attributes/a", 1)],
    [op("move", "/metadata/a", 1)],
    [op("test", "/attributes/a", 1)],
    [op(["add"], "/attributes/a", 1)],
    [op({}, "/attributes/a", 1)],
    [op("add", None, 1)],
    [op("add", ["/a"], 1)],
    [op("add", "", 1)],
    [op("add", "a", 1)],
    [op("add", "/metadata/~2", 1)],
    [op("add", "/attributes/~", 1)],
    [op("add", "/attributes/a")],
    [op("add", "/metadata/a")],
]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_malformed_document_is_refused(dialect: Dialect) -> None:
    def check(body: Any) -> None:
        with pytest.raises(ApiError) as refused:
            operations(body, dialect)
        assert refused.value.status == 400

    check_each(((str(body), body) for body in MALFORMED), check)


def test_json_pointer_escapes_are_decoded() -> None:
    found = operations([op("add", "/a~1b/c~0d/~01", 1), op("remove", "/x")], Dialect(REFUSALS))
    assert [(one.op, one.pointer, one.value) for one in found] == [
        ("add", ("a/b", "c~d", "~1"), 1),
        ("remove", ("x",), None),
    ]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ([op("add", "/a/new", 1)], {"a": {"k": 0, "new": 1}, "l": [1, 2]}),
        ([op("replace", "/a/k", None)], {"a": {"k": None}, "l": [1, 2]}),
        ([op("remove", "/a")], {"l": [1, 2]}),
        ([op("add", "/l/0", 9), op("add", "/l/-", 8), op("remove", "/l/1")], {"a": {"k": 0}, "l": [9, 2, 8]}),
        ([op("add", "/b", {}), op("add", "/b/c", 1)], {"a": {"k": 0}, "l": [1, 2], "b": {"c": 1}}),
    ],
)
def test_operations_are_carried_out_in_order(body: Any, after: Any) -> None:
    document: dict[str, Any] = {"a": {"k": 0}, "l": [1, 2]}
    for operation in operations(body, Dialect(REFUSALS)):
        apply(document, operation)
    assert document == after


@pytest.mark.parametrize(
    "one",
    [
        op("remove", "/none"),
        op("replace", "/none", 1),
        op("add", "/none/deeper", 1),
        op("add", "/text/0", 1),
        op("remove", "/text/0"),
        op("add", "/null/x", 1),
        op("remove", "/null/x"),
        op("add", "/l/3", 1),
        op("add", "/l/-1", 1),
        op("add", "/l/x", 1),
        op("replace", "/l/-", 1),
        op("remove", "/l/-"),
        op("remove", "/l/2"),
        op("remove", "/l/" + "9" * 30),
        op("add", "/l/" + "9" * 5000, 1),
        op("replace", "/l/" + "9" * 5000 + "/x", 1),
        op("add", "/a" * 100_000, 1),
    ],
    ids=lambda one: f"{one['op']} {one['path'][:12]}",
)
def test_inapplicable_patch_operation_is_refused(one: Any) -> None:
    document: dict[str, Any] = {"text": "abc", "null": None, "l": [1, 2], "a": {}}
    before = copy.deepcopy(document)
    with pytest.raises(PathNotFound):
        apply(document, operations([one], Dialect(REFUSALS))[0])
    assert document == before


def test_patch_dialect_limits_paths() -> None:
    dialect = Dialect(REFUSALS, path=re.compile("/attributes/[^/]+"))
    for path in ("/attributes", "/attributes/", "/attributes/a/b", "/other/a", "x/attributes/a"):
        with pytest.raises(ApiError):
            operations([op("remove", path)], dialect)
