"""The examples on the pages of the template functions, evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoker_reference.template_functions import complete, examples, functions_by_name, pages

from stoker.template.expressions import Facade, UnknownScope
from stoker.template.paths import follow_attribute
from tests.template.support import bind, load


@dataclass(frozen=True)
class ExampleScope(UnknownScope):
    """What an example says of the world outside its template."""

    known: Mapping[str, Any]

    def reference(self, resource: str) -> Any:
        return self.known["resources"][resource]["id"]

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        return follow_attribute(self.known["resources"][resource][attribute], path)

    def availability_zones(self) -> Any:
        return self.known["zones"]

    def facade(self) -> Facade:
        return Facade(metadata=self.known["facade"])


def test_every_function_has_examples_that_give_what_they_say() -> None:
    shown = examples()
    assert sorted(functions_by_name()) == sorted(shown)
    for name, of_function in shown.items():
        for example in of_function:
            definition = bind(
                load(complete(name, example)),
                files=example.get("files", {}),
                exports=example.get("exports"),
                look_up=lambda *_, known=example: known["looked_up"],
            )
            output = definition.outputs["result"]
            value = definition.resolve(output.value, ExampleScope(example))
            assert json.dumps(value) == json.dumps(example["result"]), f"{name}: {value!r}"
            assert name in example["template"] or f"!{name.removeprefix('Fn::')}" in example["template"]


def test_a_page_says_where_a_function_can_be_used_and_what_it_was() -> None:
    written = dict(pages())
    joined = written["functions/list_join.md"]
    assert "- In values: HOT from 2013-05-23 on." in joined
    assert "In HOT 2013-05-23 to 2015-04-30: The strings of a list with a delimiter" in joined
    assert "Needs `Transform: AWS::LanguageExtensions`." in written["functions/fn-length.md"]
    assert "`2018-08-31`, or `rocky`\n: - the same as its predecessor" in written["versions.md"]
