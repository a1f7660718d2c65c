"""Run cases of test files, each in a sandbox of its own."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

from stoker.authoring.given_values import option_name
from stoker.authoring.plan_steps import policy_results, policy_sentence
from stoker.authoring.test_files.declarations import KEEP
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic, Position, format_path
from stoker.base.diagnostics import Path as Place
from stoker.base.errors import StokerError, TemplateInvalid, UserError
from stoker.base.similar import Suggestion, closest
from stoker.engine.plan_policies.policy import Policy, Source
from stoker.plugins.registry import Registry
from stoker.schema.unknown import Unknown
from stoker.template.expressions import FunctionError
from stoker.testing.allowed_values import NoValue
from stoker.testing.calls import CloudCalls
from stoker.testing.cases import Case, Step
from stoker.testing.comparing import differences, fits
from stoker.testing.existing_objects import create_existing_objects
from stoker.testing.given import Allowed, Combination, Domain, simplest
from stoker.testing.placeholders import NoObject, filled
from stoker.testing.plans import Plan
from stoker.testing.sandbox import Resource, Sandbox, Signal, Stack

RULE = "expectation"
"""The rule of the diagnostics about what is not as expected."""
_STACK = "test"
"""The name of the stacks of tests."""
_MOST_LINES = 20
_AFTER_CHANGES = 60.0
"""Virtual seconds that pass after changes: services delete servers and volumes in the background."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a case: it has passed if there are no failures. `seconds` are those of the real clock.

    `written` is whether golden plans were written that differ from what was there before.
    """

    file: str
    title: str
    seconds: float
    failures: tuple[Diagnostic, ...]
    written: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON data from which `from_dict` builds an equal outcome."""
        return {**asdict(self), "failures": [item.to_dict() for item in self.failures]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """Return the outcome that `to_dict` described."""
        return cls(**{**data, "failures": tuple(map(Diagnostic.from_dict, data["failures"]))})


def run(case: Case, update: bool = False) -> Outcome:
    """Run a case; with `update`, write its golden plans instead of comparing them.

    One of chosen combinations has the title and the failures of the simplest combination that fails, if there is one.
    """
    began = time.monotonic()
    outcome = _explored(case) if case.examples else _tried(case, update)
    return replace(outcome, seconds=time.monotonic() - began)


def _tried(case: Case, update: bool = False) -> Outcome:
    """Run a case with one combination of given values."""
    trial = _Trial(case, update)
    try:
        with Sandbox(policies=_policies(case)) as sandbox:
            trial.run(sandbox)
    except StokerError as error:
        trial.failures.append(case.problem(("tests", case.name), error.message, RULE))
    return Outcome(case.file.source, case.title, 0.0, tuple(trial.failures), trial.written)


def _explored(case: Case) -> Outcome:
    """Run a case with chosen combinations of the given values, until one fails or all of them have passed.

    A combination that is chosen again is not run again.
    """
    outcomes: dict[str, Outcome] = {}

    def fails(given: Combination) -> bool:
        key = _key(given)
        if key not in outcomes:
            outcomes[key] = _tried(case.with_given(given))
        return bool(outcomes[key].failures)

    try:
        smallest = simplest(_domains(case), case.examples, case.name, fails)
    except TemplateInvalid as error:
        return Outcome(case.file.source, case.title, 0.0, error.diagnostics)
    except StokerError as error:
        failure = case.problem(("tests", case.name, "given"), error.message, RULE)
        return Outcome(case.file.source, case.title, 0.0, (failure,))
    return Outcome(case.file.source, case.title, 0.0, ()) if smallest is None else outcomes[_key(smallest)]


def _domains(case: Case) -> Mapping[str, Domain]:
    """Return the values of a case, with the declarations of the parameters whose values the template allows.

    Raises TemplateInvalid for a template that cannot be read, and NoValue for a parameter that it does not have.
    """
    named = [name for name, domain in case.domains.items() if isinstance(domain, Allowed)]
    if not named:
        return case.domains
    step = case.steps[0]
    declared = Workspace(_registry(), step.environments).root(step.template).definition.template.parameters
    for name in named:
        if name not in declared:
            raise NoValue(f"the template has no parameter {name!r}")
    return {**case.domains, **{name: Allowed(declared[name]) for name in named}}


def _key(given: Combination) -> str:
    """Return what tells a combination from others: the order of its names varies."""
    return repr(sorted(given.items()))


def _policies(case: Case) -> Sequence[Policy]:
    """Return the policies of the case's file. Raises Invalid, and TemplateInvalid with all their mistakes."""
    if not case.policy_files:
        return ()
    from stoker.engine.plan_policies.policy_files import read_files

    return read_files(case.policy_files, Source.OPERATOR)


def unusable(file: str, diagnostics: Sequence[Diagnostic]) -> Outcome:
    """Return a failure for a test file with mistakes, none of whose tests can be run."""
    return Outcome(file, "the test file", 0.0, tuple(diagnostics))


class _Trial:
    """A case that is run. `failures` are what is not as expected."""

    def __init__(self, case: Case, update: bool) -> None:
        self.case = case
        self.failures: list[Diagnostic] = []
        self.written = False
        self._update = update

    def run(self, sandbox: Sandbox) -> None:
        """Run the steps, until one of them leaves no stack for the next."""
        for section in self.case.clouds:
            create_existing_objects(sandbox.cloud, section)
        for step in self.case.steps:
            try:
                self._run_step(sandbox, step)
            except UserError as error:
                self._check_errors(step, _diagnostics(error, step))
                break

    def _run_step(self, sandbox: Sandbox, step: Step) -> None:
        """Deploy and compare. Raises UserError if the template or its values are refused."""
        expected = step.expected
        inputs: dict[str, Any] = {"environments": step.environments, "parameters": step.parameters}
        self._check_plan(step, sandbox.plan(_STACK, step.template, **inputs))
        if expected.get("deploy") is False:
            return
        before = len(sandbox.calls)
        for rule in expected.get("faults", ()):
            sandbox.cloud.add_fault(rule["request"], **{key: rule[key] for key in rule if key != "request"})
        signals = [Signal(signal["resource"], signal.get("details")) for signal in expected.get("signals", ())]
        rollback = expected.get("rollback", False)
        stack = sandbox.deploy(_STACK, step.template, rollback=rollback, signals=signals, **inputs)
        sandbox.cloud.clear_faults()
        if "errors" in expected:
            self._report(step, ("errors",), "errors were expected, but the template was accepted")
            return
        self._check_stack(step, stack)
        self._check_calls(step, sandbox.calls[before:])
        self._change(step, sandbox, stack)
        if "drift" in expected:
            self._check_paths(step, "drift", sandbox.drift(_STACK).actions, "different from its definition")

    def _change(self, step: Step, sandbox: Sandbox, stack: Stack) -> None:
        """Change objects of the cloud behind the stack's back, and let a minute pass."""
        ids = {path: resource.physical_id for path, resource in stack.resources.items() if resource.physical_id}
        names = {**ids, "project_id": sandbox.cloud.project_id}
        for number, change in enumerate(step.expected.get("changes", ())):
            place = ("changes", number)
            try:
                method, _, path = filled(change["request"], names, ("request",)).partition(" ")
                body = filled(change.get("body"), names, ("body",))
                sandbox.cloud.request(method.upper(), path, body, user=change.get("user", "demo"))
            except NoObject as error:
                self._report(
                    step, (*place, *error.path), f"the stack has no object {error.name!r}", *_hint(error.name, ids)
                )
            except UserError as error:
                self._report(step, (*place, "request"), error.message)
        if "changes" in step.expected:
            sandbox.advance(_AFTER_CHANGES)

    def _report(self, step: Step, place: Place, message: str, hint: str = "") -> None:
        self.failures.append(self.case.problem((*step.place, *place), message, RULE, hint))

    def _compare(self, step: Step, place: Place, expected: object, actual: object) -> None:
        for path, message in differences(expected, actual):
            self._report(step, (*place, *path), message)

    def _check_paths(self, step: Step, key: str, actual: Collection[str], word: str) -> None:
        """Compare a list of resources with those that were found."""
        expected = step.expected[key]
        for number, path in enumerate(expected):
            if path not in actual:
                self._report(step, (key, number), f"{path} was expected to be {word}, and is not")
        for path in actual:
            if path not in expected:
                self._report(step, (key,), f"{path} is {word}, which was not expected")

    # -- the template and its plan -------------------------------------------------------------------------------

    def _check_errors(self, step: Step, diagnostics: Sequence[Diagnostic]) -> None:
        """Compare the errors of a refused template with the expected ones."""
        placed = [self._placed(step, item) for item in diagnostics]
        if "errors" not in step.expected:
            self.failures += placed
            return
        unexpected = list(placed)
        for number, entry in enumerate(step.expected["errors"]):
            match = next((item for item in unexpected if self._is_expected(entry, item)), None)
            if match is None:
                reported = "; ".join(item.text() for item in placed)
                self._report(step, ("errors", number), f"this error is not reported, but: {reported}")
            else:
                unexpected.remove(match)
        for item in unexpected:
            self._report(step, ("errors",), f"an error was not expected: {item.text()}")

    def _placed(self, step: Step, item: Diagnostic) -> Diagnostic:
        """Return a diagnostic, one about a value of the test file with its place there."""
        for parameter in step.parameters:
            if item.source == option_name(parameter):
                place = self.case.place_of(parameter, step)
                located = self.case.problem(place, item.message, item.rule, item.hint)
                return replace(located, path=("parameters", parameter))
        return item

    def _is_expected(self, entry: Mapping[str, str], item: Diagnostic) -> bool:
        """Return whether a diagnostic is an expected error."""
        if "at" in entry:
            name, *numbers = _place_parts(entry["at"])
            position = item.position or Position(0, 0)
            if Path(self.case.relative(name)) != Path(item.source):
                return False
            if numbers != [position.line, position.column][: len(numbers)]:
                return False
        text = {"path": format_path(item.path), "rule": item.rule, "message": item.message}
        return all(fits(entry[key], value) for key, value in text.items() if key in entry)

    def _check_plan(self, step: Step, plan: Plan) -> None:
        expected = step.expected.get("plan", {})
        for action, number in expected.get("counts", {}).items():
            actual = plan.counts.get(action, 0)
            if actual != number:
                paths = ", ".join(plan.paths(action)) or "none"
                self._report(step, ("plan", "counts", action), f"{number} expected, {actual} found: {paths}")
        for path, action in expected.get("actions", {}).items():
            self._compare(step, ("plan", "actions", path), action, plan.actions.get(path, KEEP))
        if "replaces" in step.expected:
            self._check_paths(step, "replaces", plan.paths("replace"), "replaced")
        if step.golden is not None:
            self._check_golden(step, step.golden, plan)
        if "conditions" in step.expected:
            self._check_conditions(step)
        if "policies" in step.expected:
            self._check_policies(step, plan)
        elif step.expected.get("deploy") is False:  # others are refused when they are deployed
            self.failures += plan.denials

    def _check_policies(self, step: Step, plan: Plan) -> None:
        """Compare the policies that object to the plan with the expected ones."""
        unexpected = policy_results(plan.data)
        for number, entry in enumerate(step.expected["policies"]):
            meant = (entry["policy"], entry.get("path", ""), entry.get("code", "policy-denied"))
            matching = [result for result in unexpected if (result["policy"], result["path"], result["code"]) == meant]
            if not matching:
                self._report(step, ("policies", number), f"{entry['policy']} does not say this of the plan")
            unexpected = [result for result in unexpected if result not in matching]
        for result in unexpected:
            self._report(step, ("policies",), f"this was not expected: {policy_sentence(result)}")

    def _check_golden(self, step: Step, golden: Path, plan: Plan) -> None:
        current = plan.shown(Path(self.case.file.source).parent)
        recorded = golden.read_text("utf-8") if golden.exists() else None
        if self._update:
            if current != recorded:
                golden.parent.mkdir(parents=True, exist_ok=True)
                golden.write_text(current, "utf-8")
                self.written = True
            return
        place = ("plan", "golden")
        if recorded is None:
            self._report(step, place, f"{golden} does not exist", "`stoker test --update` writes it")
        elif current != recorded:
            lines = list(
                unified_diff(recorded.splitlines(), current.splitlines(), "expected", "found", lineterm="", n=1)
            )
            shown = "\n".join([*lines[:_MOST_LINES], *(["…"] if len(lines) > _MOST_LINES else [])])
            hint = "if the new plan is right, `stoker test --update` writes it"
            self._report(step, place, f"the plan differs from {golden}:\n{shown}", hint)

    def _check_conditions(self, step: Step) -> None:
        parameters: dict[str, object] = {}
        for earlier in self.case.steps[: self.case.steps.index(step) + 1]:
            parameters |= earlier.parameters
        definition = Workspace(_registry(), step.environments, parameters).root(step.template).definition
        for name, expected in step.expected["conditions"].items():
            place = ("conditions", name)
            if name not in definition.template.conditions:
                self._report(
                    step, place, f"the template has no condition {name!r}", *_hint(name, definition.template.conditions)
                )
                continue
            try:
                value = definition.condition(name)
            except FunctionError as error:
                self._report(step, place, f"the condition cannot be evaluated: {error}")
                continue
            if isinstance(value, Unknown):
                self._report(step, place, "the value of the condition is not known before the deployment")
            else:
                self._compare(step, place, expected, value)

    # -- the stack -----------------------------------------------------------------------------------------------

    def _check_stack(self, step: Step, stack: Stack) -> None:
        expected = step.expected
        action = "CREATE" if step is self.case.steps[0] else "UPDATE"
        state = expected.get("state", f"{action}_{'FAILED' if 'failures' in expected else 'COMPLETE'}")
        if stack.state != state:
            failed = [
                f"{resource.path}: {resource.reason}"
                for resource in stack.resources.values()
                if resource.state.endswith("_FAILED")
            ]
            why = "; ".join(failed or [stack.reason])
            self._report(step, ("state",), f"the stack is {stack.state}, and {state} was expected: {why}")
        for path, reason in expected.get("failures", {}).items():
            resource = self._resource(step, ("failures", path), stack, path)
            if resource is not None and not resource.state.endswith("_FAILED"):
                self._report(step, ("failures", path), f"{path} is {resource.state}")
            elif resource is not None:
                self._compare(step, ("failures", path), reason, resource.reason)
        for name, value in expected.get("outputs", {}).items():
            if name in stack.outputs:
                self._compare(step, ("outputs", name), value, stack.outputs[name])
            else:
                self._report(step, ("outputs", name), f"there is no output {name!r}", *_hint(name, stack.outputs))
        for path, value in expected.get("sent", {}).items():
            resource = self._resource(step, ("sent", path), stack, path)
            if resource is not None:
                self._compare(step, ("sent", path), value, resource.sent)

    def _resource(self, step: Step, place: Place, stack: Stack, path: str) -> Resource | None:
        """Return a resource; None, with a problem, if the stack does not have it."""
        if path not in stack.resources:
            self._report(step, place, f"the stack has no resource {path!r}", *_hint(path, stack.resources))
        return stack.resources.get(path)

    def _check_calls(self, step: Step, calls: CloudCalls) -> None:
        for number, entry in enumerate(step.expected.get("calls", ())):
            of_request = calls.matching(entry["request"])
            body = entry.get("body")
            matching = [call for call in of_request if body is None or not any(differences(body, call.properties))]
            times = entry.get("times")
            if (not matching) if times is None else len(matching) != times:
                expected = "at least one was expected" if times is None else f"{times} expected"
                others = f", besides {len(of_request) - len(matching)} with other bodies" if body is not None else ""
                self._report(step, ("calls", number), f"{expected}, {len(matching)} found{others}")


def _diagnostics(error: UserError, step: Step) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a template; a refusal of another kind has this kind as its rule, and no place."""
    if isinstance(error, TemplateInvalid):
        return error.diagnostics
    return (Diagnostic(error.kind, error.message, source=step.template),)


def _hint(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the hint about a name that does not exist, if there is any."""
    similar = closest(name, known)
    return (Suggestion(name, similar),) if similar else ()


def _place_parts(text: str) -> list[Any]:
    """Return the name of a file, the line and the column of `FILE:LINE:COLUMN`, as far as they are given."""
    name, numbers = text, list[int]()
    for _ in range(2):
        rest, separator, last = name.rpartition(":")
        if not separator or not last.isdecimal():
            break
        name, numbers = rest, [int(last), *numbers]
    return [name, *numbers]


@cache
def _registry() -> Registry:
    return Registry.on_demand()
