"""Read test files: their cases, with the places of all that they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from stoker.authoring.test_files.declarations import CLOUD, FILE, TEST
from stoker.base.diagnostics import Diagnostic
from stoker.base.diagnostics import Path as Place
from stoker.base.errors import TemplateInvalid
from stoker.template.document import Document
from stoker.testing.given import Allowed, Combination, Domain, Pattern, domain_of

SUFFIXES = (".test.yaml", ".test.yml")
RULE = "test-file"
"""The rule of the diagnostics about a test file's form."""

_MOST_COMBINATIONS = 1000
"""Combinations of a test that are all run: more are a mistake. As many may be chosen at most."""
_STEP_KEYS = TEST.keys.keys() - {"given", "examples", "cloud", "updates"}


@dataclass(frozen=True, slots=True)
class Step:
    """A deployment and what is expected of it. `place` is the path of its declaration in the test file.

    `template`, `environments` and `golden` are paths relative to the working directory; `parameters` are those of this
    step alone.
    """

    place: Place
    template: str
    environments: tuple[str, ...]
    parameters: Mapping[str, Any]
    expected: Mapping[str, Any]
    golden: Path | None


@dataclass(frozen=True, slots=True)
class Case:
    """A test with one combination of given values, the case `number` of its file.

    `clouds` are sections with what the emulated cloud has, `policy_files` paths relative to the working directory.
    `cloud_file` is the path of the file with the first of the clouds, if it is not from the test file.

    With `examples`, it stands for combinations of the values in `domains`, of which so many are chosen when it is run;
    then it has no given values of its own, and `with_given` returns the case for a combination.
    """

    file: Document
    number: int
    name: str
    given: Combination
    clouds: tuple[Mapping[str, object], ...]
    steps: tuple[Step, ...]
    policy_files: tuple[str, ...] = ()
    cloud_file: str | None = None
    examples: int = 0
    domains: Mapping[str, Domain] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of the test, with the given values, or how many combinations of them are chosen."""
        if self.examples:
            return f"{self.name} [{', '.join(self.domains)}: {self.examples} examples]"
        values = ", ".join(f"{name}={value}" for name, value in self.given.items())
        return f"{self.name} [{values}]" if values else self.name

    def with_given(self, given: Combination) -> Case:
        """Return the case with this combination of values."""
        steps = tuple(_steps(self.file, self.name, self.file.data["tests"][self.name], given))
        return replace(self, given=given, steps=steps, examples=0, domains={})

    def problem(self, place: Place, message: str, rule: str, hint: str = "") -> Diagnostic:
        """Return a diagnostic about a place in the test file."""
        return Diagnostic(rule, message, place, self.file.source, self.file.locate(place), hint)

    def relative(self, name: str) -> str:
        """Return a path in the test file as one that is relative to the working directory."""
        return _relative_path(self.file, name)

    def place_of(self, parameter: str, step: Step) -> Place:
        """Return where a parameter got its value in a step."""
        index = self.steps.index(step)
        for earlier in reversed(self.steps[: index + 1]):
            if parameter in earlier.expected.get("parameters", {}):
                return (*earlier.place, "parameters", parameter)
        if parameter in self.given:
            return ("tests", self.name, "given", parameter)
        return ("parameters", parameter)


def found_files(paths: Iterable[str]) -> list[str]:
    """Return the given files, and for directories all test files below them, in their order."""
    files: list[str] = []
    for name in paths:
        path = Path(name)
        if path.is_dir():
            below = [file for file in path.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file()]
            files += sorted(str(file) for file in below if not is_hidden(file.relative_to(path)))
        else:
            files.append(str(path))
    return list(dict.fromkeys(files))


def is_hidden(path: Path) -> bool:
    """Return whether a relative path has a part whose name begins with a dot."""
    return any(part.startswith(".") for part in path.parts)


def read_cases(path: str, cloud: str | None = None) -> list[Case]:
    """Return the cases of a test file, in their order. Raises TemplateInvalid with all mistakes of the file.

    `cloud` is the path of a file with what the cloud has in all tests, besides what the test file says.

    Raises OSError or UnicodeDecodeError for a file that cannot be read.
    """
    document = Document.parse(Path(path).read_text("utf-8"), source=path)
    wrong = [_placed(document, fault.path, fault.message, fault.hint) for fault in FILE.faults(document.data, ())]
    wrong = wrong or list(_contradictions(document))
    if wrong:
        raise TemplateInvalid(sorted(wrong, key=Diagnostic.sort_key))
    cases: list[Case] = []
    for name, test in document.data["tests"].items():
        cases += _cases(document, name, test, len(cases))
    if cloud is None:
        return cases
    common = read_cloud(cloud)
    return [replace(case, clouds=(common, *case.clouds), cloud_file=cloud) for case in cases]


def read_cloud(path: str) -> Mapping[str, Any]:
    """Return what a file says that the cloud has: it has the keys of the section `cloud` of a test file.

    Raises TemplateInvalid with all mistakes of the file; OSError or UnicodeDecodeError if it cannot be read.
    """
    document = Document.parse(Path(path).read_text("utf-8"), source=path)
    wrong = [_placed(document, fault.path, fault.message, fault.hint) for fault in CLOUD.faults(document.data, ())]
    if wrong:
        raise TemplateInvalid(sorted(wrong, key=Diagnostic.sort_key))
    return document.data


def _placed(document: Document, place: Place, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(RULE, message, place, document.source, document.locate(place), hint)


def _contradictions(document: Document) -> Iterator[Diagnostic]:
    """Yield mistakes that are more than the wrong form of a value."""
    data = document.data
    for name, test in data["tests"].items():
        place: Place = ("tests", name)
        if "template" not in test and "template" not in data:
            yield _placed(document, place, "there is no template: give one here or at the top of the file")
        yield from _wrong_values(document, place, test)
        steps = [
            (place, test),
            *(((*place, "updates", number), step) for number, step in enumerate(test.get("updates", ()))),
        ]
        for step_place, step in steps:
            yield from _ineffective_expectations(document, step_place, step)
            if "golden" in step.get("plan", {}) and _runs(test) > 1:
                message = "one golden plan cannot be that of several combinations of given values"
                yield _placed(document, (*step_place, "plan", "golden"), message)
            if step is not steps[-1][1] and ("errors" in step or step.get("deploy") is False):
                message = "there is no stack to update: the step before does not deploy"
                yield _placed(document, (*place, "updates"), message)


_OF_STACKS = frozenset(
    {"rollback", "faults", "signals", "state", "failures", "outputs", "sent", "calls", "changes", "drift"}
)
_OF_PLANS = frozenset({"plan", "replaces", "conditions", "policies"})
"""Keys that are about a stack, and those that are about a plan."""


def _ineffective_expectations(document: Document, place: Place, step: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield expectations that nothing would be compared with."""
    if "errors" in step:
        keys, why = _OF_STACKS | _OF_PLANS | {"deploy"}, "a template that is refused has neither a plan nor a stack"
    elif step.get("deploy") is False:
        keys, why = _OF_STACKS, "nothing is deployed (deploy: false)"
    else:
        return
    for key in step:
        if key in keys:
            yield _placed(document, (*place, key), f"{key} cannot be expected: {why}")


def _wrong_values(document: Document, place: Place, test: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield mistakes in the given values of a test."""
    given, examples = test.get("given", {}), test.get("examples")
    for parameter, values in given.items():
        value_place = (*place, "given", parameter)
        if parameter in test.get("parameters", {}):
            yield _placed(document, value_place, f"the parameter {parameter!r} has another value under 'parameters'")
        try:
            domain = domain_of(values)
        except ValueError as error:
            yield _placed(document, value_place, str(error))
            continue
        if isinstance(domain, Pattern | Allowed):
            if examples is None:
                message = "there may be more values than can be tried"
                yield _placed(document, value_place, message, "`examples: 20` tries that many combinations")
        elif not domain:
            yield _placed(document, value_place, "the list has no values, so that the test would never run")
    if examples is None and (combinations := _runs(test)) > _MOST_COMBINATIONS:
        message = f"there are {combinations} combinations of values, and at most {_MOST_COMBINATIONS} are allowed"
        yield _placed(document, (*place, "given"), message, "with `examples: 100`, only that many of them are tried")
    if examples is not None and not given:
        yield _placed(document, (*place, "examples"), "there are no given values to choose from")
    if examples is not None and not 0 < examples <= _MOST_COMBINATIONS:
        yield _placed(document, (*place, "examples"), f"must be a number from 1 to {_MOST_COMBINATIONS}")


def _runs(test: Mapping[str, Any]) -> int:
    """Return how often a test is run, as far as its given values are right."""
    if "examples" in test:
        return int(test["examples"])
    lengths = []
    for values in test.get("given", {}).values():
        try:
            domain = domain_of(values)
        except ValueError:
            continue
        lengths += [] if isinstance(domain, Pattern | Allowed) else [max(len(domain), 1)]
    return prod(lengths)


def _cases(document: Document, name: str, test: Mapping[str, Any], before: int) -> Iterator[Case]:
    domains = {parameter: domain_of(values) for parameter, values in test.get("given", {}).items()}
    clouds = tuple(section["cloud"] for section in (document.data, test) if "cloud" in section)
    policies = tuple(_relative_path(document, file) for file in document.data.get("policy_files", ()))
    steps = tuple(_steps(document, name, test, {}))
    case = Case(document, before, name, {}, clouds, steps, policies, examples=test.get("examples", 0), domains=domains)
    if case.examples:
        yield case
        return
    listed = [domain for domain in domains.values() if not isinstance(domain, Pattern | Allowed)]
    for number, combination in enumerate(product(*listed), before):
        yield replace(case.with_given(dict(zip(domains, combination, strict=True))), number=number)


def _steps(document: Document, name: str, test: Mapping[str, Any], given: Mapping[str, object]) -> Iterator[Step]:
    data = document.data
    template = test.get("template", data.get("template"))
    environments: Sequence[str] = test.get("environments", data.get("environments", ()))
    parameters = {**data.get("parameters", {}), **given, **test.get("parameters", {})}
    place: Place = ("tests", name)
    declared = [(place, {key: test[key] for key in test if key in _STEP_KEYS})]
    declared += [((*place, "updates", number), step) for number, step in enumerate(test.get("updates", ()))]
    for number, (step_place, step) in enumerate(declared):
        template = step.get("template", template)
        environments = step.get("environments", environments)
        own = parameters if number == 0 else step.get("parameters", {})
        golden = step.get("plan", {}).get("golden")
        yield Step(
            step_place,
            _relative_path(document, template),
            tuple(_relative_path(document, file) for file in environments),
            own,
            step,
            Path(_relative_path(document, golden)) if golden else None,
        )


def _relative_path(document: Document, name: str) -> str:
    """Return a path that a document names as one that is relative to the working directory."""
    return name if "://" in name else str(Path(document.source).parent / name)
