"""No class has more public attributes than a reader can keep in mind, those of its bases included.

An attribute is public data that the class declares in its body, or sets in one of its methods; methods and properties
are not counted, nor are frozen dataclasses, which nobody can change, and declarations of schema: rows, stored records,
and the form of JSON objects, whose fields are those of what they describe. Classes over the bound are errors, unless
`tool.stoker.checks.attribute-bound` of pyproject.toml lists them with a reason. Exit status 1 when there is an error,
also for a listed class that keeps the bound.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping

from tools.checks.method_bound import Counter, definitions, over_bound
from tools.checks.source_tree import Module, SourceTree, show

BOUND = 15
SCHEMAS = frozenset({"openstack_emulator.core.typed.Part", "stoker.store.records.Record", "typing.TypedDict"})
"""The bases of classes that declare a schema."""


def attributes(node: ast.ClassDef) -> Iterator[str]:
    """The public attributes that a class itself declares or sets."""
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and "ClassVar" not in ast.unparse(statement.annotation):
            yield from _public(statement.target)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and _of_self(inner):
            yield from _public(ast.Name(inner.attr))


def _of_self(node: ast.Attribute) -> bool:
    """Whether a node is an attribute of `self`."""
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _public(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name) and not target.id.startswith("_"):
        yield target.id


def counts(modules: Mapping[str, Module], schemas: Collection[str] = SCHEMAS) -> dict[str, int]:
    """The number of attributes of each class that can be changed, by its dotted name."""
    counter = Counter(modules)
    own, frozen = dict[str, frozenset[str]](), set[str]()
    for module in modules.values():
        for name, node in definitions(module.name, module.tree):
            own[name] = frozenset(attributes(node))
            if any("frozen=True" in ast.unparse(decorator) for decorator in node.decorator_list):
                frozen.add(name)
    found = {}
    for name in own.keys() - frozen:
        family = [*counter.family(name)]
        if not any({each.name, *each.bases} & {*schemas} for each in family):
            found[name] = len(frozenset[str]().union(*(own[each.name] for each in family)))
    return found


def check(modules: Mapping[str, Module], excepted: Mapping[str, str], bound: int = BOUND) -> list[str]:
    """The lines of the report; empty when all is well."""
    return over_bound("attributes", counts(modules), lambda name: bound, excepted)


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the classes of all packages."""
    return check(tree.modules, tree.exceptions["attribute-bound"])


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
