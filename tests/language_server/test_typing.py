"""A document in the middle of typing: whatever it looks like, each question has an answer and takes little time."""

from __future__ import annotations

import random
from pathlib import Path

from stoker.authoring.sources import find_templates
from stoker.language_server import describe, navigation
from stoker.language_server.completion import complete
from stoker.language_server.outline import Outline
from stoker.language_server.project import Project
from stoker_foundation.processor_time import processor_time

EXAMPLES = Path(__file__).parents[2] / "packages/stoker/src/stoker"
TYPED = [
    "{", "[", "}", "]", '"', "'", "|", "\n", "- ", ": ", "!Ref ", "!Sub '", "!Sub |\n", "#", "\t", "\r", "${", "&a ",
    "*a", "🍵", "<<: *a\n", "? a\n", "---\n", "  ", ",", "",
]  # fmt: skip


def test_every_request_is_answered_for_any_text(tmp_path: Path) -> None:
    chance = random.Random(20)
    project = Project()
    paths = [*find_templates([str(EXAMPLES / "examples")]), str(EXAMPLES / "resources/aws/load_balancer.yaml")]
    for _ in range(120):
        whole = Path(chance.choice(paths)).read_text()
        offset = chance.randrange(len(whole))
        end = chance.choice([offset, len(whole), max(offset, whole.find("\n", offset))])
        typed = whole[:offset] + chance.choice(TYPED)
        document = project.put(str(tmp_path / "web.yaml"), typed + whole[end:] if end > offset else typed)
        outline = document.outline
        assert all(document.text[token.start : token.end] == token.text for token in outline.tokens)
        assert sorted(outline.tokens, key=lambda token: token.start) == outline.tokens
        cursor = len(typed)
        complete(project, document, cursor)
        describe.hover(project, document, cursor)
        navigation.definition(project, document, cursor)
        navigation.references(project, document, cursor)
        navigation.symbols(document)


def test_scanner_takes_linear_time() -> None:
    """Documents that would take quadratic time in a careless scanner: unclosed quotes, brackets, long lines."""
    units = (
        'a: "b\n', "a: 'b\n  c\n", "a: [\n", "a: {b: [", "- ", "a: !Sub |\n  ${\n", "a: &a *a\n", "a:b", "'", "a #",
        "!Ref ", "\r", 'a: ["b\n  ',
    )  # fmt: skip
    for unit in units:
        times = []
        for count in (1_000, 4_000):
            text = unit * count
            before = processor_time()
            Outline.of(text)
            times.append(processor_time() - before)
        assert times[1] < 10 * times[0] + 0.2, (unit, times)
