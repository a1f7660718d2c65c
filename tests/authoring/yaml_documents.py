"""Generated YAML documents as people write them: all notations, comments, anchors, tags, odd indentation."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

PLAIN = [
    "a",
    "two  spaces  inside",
    "0755",
    "yes",
    "~",
    "2013-05-23",
    ".nan",
    "http://x:80/#y",
    "it's",
    "1e3",
    "\u00fc \U0001f600",
]
KEYS = ["a", "b c", "type", "properties", "0", '"quoted"', "'single'", "depends_on", "a#b"]
FLOW = [
    "[]",
    "{}",
    "[a, b]",
    "[ a,b , ]",
    "{a: 1,b : [c , {d: }]}",
    "[{get_resource: sg}]",
    "[{ get_resource: sg }, {get_param: x}]",
    '{"a":b, c}',
    "[a: b]",
    "[!!str 1, &z {c: d}, *z ]",
]
BROKEN_FLOW = [
    ["[", "a,", "b", "]"],
    ["{a: 1, # first", "# second", "", "b: [c,", "d]}"],
    ["[{", "a: b", "}, {", "c: 'd", "", "e'", "}]"],
]
QUOTED = [
    ['"one"'],
    ["'it''s'"],
    ['"two', 'lines"'],
    ['"escaped \\', "  end # no comment", "", ' "'],
    ["'three", "", "  # lines'"],
    ['"kept \\ ', '\\ space"'],
]
FOLDED = [["long words  with", "more  words"], ["first", "", "", "second - x"], ["a", "- b", "c"]]
BLOCK_LINES = ["text", "  deeper", "# no comment", "", "   ", "key: value", "\ttab", "trailing  ", "- x"]
COMMENTS = ["# comment", "#", "#no space", "#  'quote", "# a: b"]


class Written(NamedTuple):
    """A value: what stands behind its key or dash, and the lines below."""

    head: str
    below: list[str]


@st.composite
def yaml_documents(draw: st.DrawFn) -> str:
    """A document whose root is a block mapping; not all are valid, since keys and anchors may collide."""
    anchors: list[str] = []
    version = draw(st.sampled_from(["heat_template_version: 2018-08-31", "AWSTemplateFormatVersion: 2010-09-09"]))
    has_short_tags = version.startswith("AWS")
    sections = draw(st.lists(st.sampled_from(["resources", "outputs", "parameters", "x"]), unique=True, max_size=3))
    lines = draw(_spaces(0))
    for name in sections:
        lines += _placed(draw, f"{name}:", 0, draw(_values(0, 3, anchors, has_short_tags)))
        lines += draw(_spaces(0))
    lines.insert(draw(st.sampled_from([0, len(lines)])), version)
    return draw(st.sampled_from(["\n", "\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n", "\n\n", "\n  "]))


@st.composite
def _spaces(draw: st.DrawFn, column: int) -> list[str]:
    """Blank lines and comments, near a column."""
    kinds = draw(st.lists(st.sampled_from(["", "  ", *COMMENTS]), max_size=2))
    offset = draw(st.sampled_from([0, 0, 1, 4]))
    return [" " * (column + offset) + kind if kind.strip() else kind for kind in kinds]


def _placed(draw: st.DrawFn, key: str, column: int, value: Written) -> list[str]:
    gap = draw(st.sampled_from([" ", "  ", "   "])) if value.head else ""
    comment = ""
    if not value.head or value.head[-1] not in "\\":
        comment = draw(st.sampled_from(["", "", "  # behind", " #"])) if not _is_folded(value) else ""
    return [f"{' ' * column}{key}{gap}{value.head}{comment}", *value.below]


def _is_folded(value: Written) -> bool:
    """Whether a scalar continues in the next line, so that what follows its first line would belong to it."""
    return value.below != [] and value.head[:1] not in ("", "|", ">", "&", "!")


@st.composite
def _values(draw: st.DrawFn, column: int, depth: int, anchors: list[str], short_tags: bool) -> Written:
    """A value of something at a column."""
    kinds = ["plain", "flow", "broken flow", "quoted", "folded", "block", "next line", "nothing"]
    if depth:
        kinds += ["mapping", "list", "mapping", "list"]
    if anchors:
        kinds.append("alias")
    kind = draw(st.sampled_from(kinds))
    if kind == "alias":
        return Written(f"*{draw(st.sampled_from(anchors))}", [])
    prefix = ""
    if draw(st.integers(0, 4)) == 0 and kind not in ("next line", "nothing"):
        name = f"n{len(anchors)}"
        anchors.append(name)
        prefix = f"&{name}"
    if short_tags and kind in ("plain", "quoted", "block", "flow") and draw(st.booleans()):
        prefix += " !Sub" if kind != "flow" else " !If"
    elif draw(st.integers(0, 4)) == 0 and kind in ("plain", "quoted", "block", "mapping", "list"):
        prefix += {"mapping": " !!map", "list": " !!seq"}.get(kind, " !!str")
    prefix = prefix.strip()
    value = _value(draw, kind, column, depth, anchors, short_tags)
    return Written(f"{prefix} {value.head}".strip(), value.below)


def _value(draw: st.DrawFn, kind: str, column: int, depth: int, anchors: list[str], short_tags: bool) -> Written:
    inner = column + draw(st.integers(1, 5))
    if kind == "plain":
        return Written(draw(st.sampled_from(PLAIN)), [])
    if kind == "flow":
        return Written(draw(st.sampled_from(FLOW)), [])
    if kind == "block":
        return _block(draw, inner)
    if kind == "next line":
        return Written("", [*draw(_spaces(inner)), " " * inner + draw(st.sampled_from([*PLAIN, *FLOW]))])
    if kind in ("mapping", "list"):
        return Written("", _collection(draw, kind, column, inner, depth, anchors, short_tags))
    if kind == "nothing":
        return Written("", [])
    first, *others = draw(st.sampled_from({"broken flow": BROKEN_FLOW, "quoted": QUOTED, "folded": FOLDED}[kind]))
    return Written(first, [" " * inner + line if line else "" for line in others])


def _block(draw: st.DrawFn, inner: int) -> Written:
    lines = draw(st.lists(st.sampled_from(BLOCK_LINES), max_size=5))
    header = draw(st.sampled_from("|>")) + draw(st.sampled_from(["", "-", "+"]))
    return Written(header, [" " * inner + line if line else "" for line in lines])


def _collection(
    draw: st.DrawFn, kind: str, column: int, inner: int, depth: int, anchors: list[str], short_tags: bool
) -> list[str]:
    lines: list[str] = []
    if kind == "list":
        inner = draw(st.sampled_from([column, inner]))
        for _ in range(draw(st.integers(1, 3))):
            lines += [*draw(_spaces(inner)), *_item(draw, inner, depth, anchors, short_tags)]
        return lines
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3)):
        space = draw(st.sampled_from([":", ":", " :"]))
        value = draw(_values(inner, depth - 1, anchors, short_tags))
        lines += [*draw(_spaces(inner)), *_placed(draw, f"{key}{space}", inner, value)]
    return lines


def _item(draw: st.DrawFn, column: int, depth: int, anchors: list[str], short_tags: bool) -> list[str]:
    if depth > 1 and draw(st.booleans()):  # `- key: value` and `- - item`
        inner = column + draw(st.integers(2, 4))
        kind = draw(st.sampled_from(["mapping", "list"]))
        lines = _collection(draw, kind, inner if kind == "list" else column, inner, depth - 1, anchors, short_tags)
        first = lines[0]
        if first.strip() and first.lstrip()[:1] != "#" and len(first) - len(first.lstrip()) > column + 1:
            return [f"{' ' * column}-{first[column + 1 :]}", *lines[1:]]
        return [f"{' ' * column}-", *lines]
    value: Any = draw(_values(column, depth - 1, anchors, short_tags))
    return _placed(draw, "-", column, value)
