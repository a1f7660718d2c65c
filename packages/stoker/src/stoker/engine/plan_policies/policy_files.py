"""Reading policies from YAML files: those of a directory, or of one file. Every mistake is refused, with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

from stoker.base.diagnostics import Diagnostic, Key, Position
from stoker.base.errors import BadValue, Invalid, TemplateInvalid
from stoker.base.named_files import read_named
from stoker.base.similar import closest
from stoker.base.webhooks import check_url
from stoker.engine.plan_policies.evaluation import compile_errors
from stoker.engine.plan_policies.policy import DEFAULT_KINDS, KINDS, EnforcementLevel, OnFailure, Policy, Scope, Source
from stoker.template.document import Document

MOST: Mapping[Source, int] = {Source.OPERATOR: 200, Source.COMMAND: 200, Source.PROJECT: 50, Source.STACK: 50}
"""How many policies of each source there may be."""
MOST_WEBHOOKS = 5
"""How many policies of a source may ask webhooks."""
LONGEST_MESSAGE = 500
"""Characters of a message or a hint."""
LONGEST_EXPRESSION = 4096
"""Characters of an expression."""

_SUFFIXES = (".yaml", ".yml")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ACTIONS = frozenset(
    {"CREATE", "UPDATE", "DELETE", "ROLLBACK", "ADOPT", "ABANDON", "RESTORE", "CHECK", "SUSPEND", "RESUME", "SNAPSHOT"}
)
_KEYS = (
    "name",
    "use",
    "verdict",
    "for",
    "types",
    "kinds",
    "actions",
    "except_actions",
    "expression",
    "message",
    "message_expression",
    "hint",
    "parameters",
    "webhook",
    "on_failure",
)
_NOT_FOR_WEBHOOKS = ("use", "for", "types", "kinds", "verdict", "message", "message_expression", "expression")


def read_directory(directory: str, source: Source) -> tuple[Policy, ...]:
    """Return the policies of all `.yaml` and `.yml` files of a directory, in the order of their names.

    Raises Invalid if it cannot be read, TemplateInvalid with all mistakes in its files.
    """
    try:
        paths = sorted(str(path) for path in Path(directory).iterdir() if path.suffix in _SUFFIXES)
    except OSError as error:
        raise Invalid(f"The policies in {directory} cannot be read: {error}") from error
    return read_files(paths, source)


def read_files(paths: Iterable[str], source: Source) -> tuple[Policy, ...]:
    """Return the policies of files. Raises Invalid for one that cannot be read, TemplateInvalid with all mistakes."""
    return read_policies(texts_of(paths).items(), source)


def texts_of(paths: Iterable[str]) -> dict[str, str]:
    """Return the contents of files with policies, by path. Raises Invalid for one that cannot be read."""
    texts = {}
    for path in paths:
        try:
            texts[path] = read_named(path).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"The policies in {path} cannot be read: {error}") from error
    return texts


def read_policies(texts: Iterable[tuple[str, str]], source: Source) -> tuple[Policy, ...]:
    """Return the policies of files, given by name and text. Raises TemplateInvalid with all mistakes."""
    reading = _Reading(source, packs())
    for name, text in texts:
        reading.file(name, text)
    return reading.evaluable()


def stored_policies(name: str, text: str, source: Source) -> tuple[Policy, ...]:
    """Return policies that were read before: their expressions are not compiled again. Raises TemplateInvalid."""
    reading = _Reading(source, packs())
    reading.file(name, text)
    return reading.checked()


@cache
def packs() -> Mapping[str, Policy]:
    """Return the policies that Stoker brings along, by name."""
    text = resources.files("stoker.engine.plan_policies").joinpath("packs.yaml").read_text(encoding="utf-8")
    reading = _Reading(Source.OPERATOR, {})
    reading.file("packs.yaml", text)
    return {policy.name: policy for policy in reading.policies}


class _Reading:
    """Policies while they are read. Mistakes are collected."""

    def __init__(self, source: Source, known: Mapping[str, Policy]) -> None:
        self._source = source
        self._known = known
        self._problems: list[Diagnostic] = []
        self.policies: list[Policy] = []

    def file(self, name: str, text: str) -> None:
        try:
            document = Document.parse(text, source=name)
        except TemplateInvalid as error:
            self._problems += error.diagnostics
            return
        entries = document.data.get("policies")
        if set(document.data) != {"policies"} or not isinstance(entries, list):
            self._problems.append(
                Diagnostic("policy", "the file must have one key, policies, with a list", source=name)
            )
            return
        for index, entry in enumerate(entries):
            reading = _Entry(document, index, self._problems)
            if (policy := reading.read(entry, self._known)) is not None:
                self.policies.append(replace(policy, source=self._source))

    def evaluable(self) -> tuple[Policy, ...]:
        """Return the policies with expressions that can be evaluated. Raises TemplateInvalid."""
        policies = self.checked()
        self._compile()
        return self._without_mistakes(policies)

    def checked(self) -> tuple[Policy, ...]:
        """Return the policies, after the checks that need all of them. Raises TemplateInvalid."""
        seen = dict[str, Policy]()
        for policy in self.policies:
            if policy.name in seen:
                where = seen[policy.name]
                self._refuse(policy, f"the name {policy.name!r} is used twice, first in {where.file}")
            seen.setdefault(policy.name, policy)
        most = MOST[self._source]
        if len(self.policies) > most:
            self._refuse(self.policies[most], f"there are {len(self.policies)} policies; at most {most} are evaluated")
        asking = [policy for policy in self.policies if policy.webhook]
        if len(asking) > MOST_WEBHOOKS:
            self._refuse(asking[MOST_WEBHOOKS], f"{len(asking)} policies ask webhooks; at most {MOST_WEBHOOKS} may")
        return self._without_mistakes(tuple(self.policies))

    def _without_mistakes(self, policies: tuple[Policy, ...]) -> tuple[Policy, ...]:
        if self._problems:
            raise TemplateInvalid(sorted(self._problems, key=Diagnostic.sort_key))
        return policies

    def _compile(self) -> None:
        written = [
            (policy, name, text)
            for policy in self.policies
            for name, text in (("expression", policy.expression), ("message_expression", policy.message_expression))
            if text is not None and not policy.webhook
        ]
        for (policy, name, _), wrong in zip(
            written, compile_errors([(policy.scope, text) for policy, _, text in written]), strict=True
        ):
            if wrong is not None:
                self._refuse(policy, f"the {name} of {policy.name!r} cannot be evaluated: {wrong}")

    def _refuse(self, policy: Policy, message: str) -> None:
        self._problems.append(Diagnostic("policy", message, source=policy.file, position=policy.place))


class _Entry:
    """One policy of a file."""

    def __init__(self, document: Document, index: int, problems: list[Diagnostic]) -> None:
        self._document = document
        self._index = index
        self._problems = problems
        self._mistakes = 0

    def _position(self, *path: str) -> Position | None:
        return self._document.locate(("policies", self._index, *path[:-1], *(Key(part) for part in path[-1:])))

    def _refuse(self, message: str, *path: str, hint: str = "") -> None:
        self._mistakes += 1
        source = self._document.source
        self._problems.append(Diagnostic("policy", message, source=source, position=self._position(*path), hint=hint))

    def read(self, entry: object, known: Mapping[str, Policy]) -> Policy | None:
        """Return the policy; None after mistakes were noted."""
        if not isinstance(entry, Mapping):
            self._refuse("a policy must be a map")
            return None
        for key in entry:
            if key not in _KEYS:
                meant = closest(key, _KEYS)
                self._refuse(f"unknown key {key!r}", key, hint=f"did you mean {meant!r}?" if meant else "")
        base = self._base(entry, known)
        if base is None:
            return None
        policy = self._with(base, entry)
        if "webhook" in entry:
            policy = self._webhook_policy(policy, entry)
        elif "on_failure" in entry:
            self._refuse("on_failure is for policies with a webhook", "on_failure")
        if policy.scope is Scope.PLAN and (policy.types or policy.kinds != DEFAULT_KINDS):
            self._refuse("types and kinds select steps, so a policy for the plan has none", "for")
        return policy if not self._mistakes else None

    def _base(self, entry: Mapping[str, object], known: Mapping[str, Policy]) -> Policy | None:
        """Return what the entry changes: a policy of the packs, or one of its own."""
        if "use" not in entry:
            for key in ("name", "webhook" if "webhook" in entry else "expression"):
                if key not in entry:
                    self._refuse(f"the policy has no {key}", hint="name one of the packs with use, or give one")
                    return None
            return Policy("", "", file=self._document.source, place=self._position())
        used = entry["use"]
        if not isinstance(used, str) or used not in known:
            meant = closest(str(used), known)
            hint = f"did you mean {meant!r}?" if meant else f"known are {', '.join(known)}"
            self._refuse(f"there is no policy {str(used)[:100]!r} to use", "use", hint=hint)
            return None
        if "expression" in entry:
            self._refuse("a policy of the packs has its own expression", "expression")
        return replace(known[used], file=self._document.source, place=self._position())

    def _with(self, base: Policy, entry: Mapping[str, object]) -> Policy:
        name = self._text(entry, "name", base.name)
        if not _NAME.fullmatch(name):
            self._refuse("a name has letters, digits, dots, hyphens and underscores, at most 100", "name")
        says = self._expression(entry, "message_expression", base.message_expression or "")
        return replace(
            base,
            name=name,
            expression=self._expression(entry, "expression", base.expression),
            verdict=EnforcementLevel(
                self._choice(entry, "verdict", base.verdict.value, [each.value for each in EnforcementLevel])
            ),
            scope=Scope(self._choice(entry, "for", base.scope.value, [each.value for each in Scope])),
            types=tuple(self._texts(entry, "types", base.types, ())),
            kinds=frozenset(self._texts(entry, "kinds", sorted(base.kinds), KINDS)),
            actions=frozenset(self._texts(entry, "actions", sorted(base.actions), _ACTIONS)),
            except_actions=frozenset(self._texts(entry, "except_actions", sorted(base.except_actions), _ACTIONS)),
            message=self._sentence(entry, "message", base.message),
            message_expression=says or None,
            hint=self._sentence(entry, "hint", base.hint),
            parameters=self._parameters(entry, base),
        )

    def _webhook_policy(self, policy: Policy, entry: Mapping[str, object]) -> Policy:
        """Return a policy that asks a webhook."""
        for key in _NOT_FOR_WEBHOOKS:
            if key in entry:
                self._refuse(f"a policy with a webhook has no {key}: the webhook judges the plan as a whole", key)
        url = entry["webhook"]
        try:
            check_url(url, "webhook")
        except BadValue as error:
            self._refuse(error.message.removesuffix("."), "webhook")
        known = [each.value for each in OnFailure]
        on_failure = OnFailure(self._choice(entry, "on_failure", OnFailure.DENY.value, known))
        return replace(policy, webhook=str(url), on_failure=on_failure, scope=Scope.PLAN, expression="true")

    def _text(self, entry: Mapping[str, object], key: str, default: str) -> str:
        value = entry.get(key, default)
        if not isinstance(value, str):
            self._refuse(f"{key} must be a string", key)
            return default
        return value.strip()

    def _sentence(self, entry: Mapping[str, object], key: str, default: str) -> str:
        text = " ".join(self._text(entry, key, default).split())
        if len(text) > LONGEST_MESSAGE:
            self._refuse(f"{key} has {len(text)} characters; at most {LONGEST_MESSAGE} are shown", key)
        return text

    def _expression(self, entry: Mapping[str, object], key: str, default: str) -> str:
        text = self._text(entry, key, default)
        if len(text) > LONGEST_EXPRESSION:
            self._refuse(f"{key} has {len(text)} characters; at most {LONGEST_EXPRESSION} are evaluated", key)
        return text

    def _choice(self, entry: Mapping[str, object], key: str, default: str, known: Sequence[str]) -> str:
        value = entry.get(key, default)
        if value in known:
            return str(value)
        self._refuse(f"{key} must be one of {', '.join(known)}, not {str(value)[:100]!r}", key)
        return default

    def _texts(
        self, entry: Mapping[str, object], key: str, default: Sequence[str], known: Iterable[str]
    ) -> Sequence[str]:
        values = entry.get(key, default)
        allowed = list(known)
        if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
            self._refuse(f"{key} must be a list of strings", key)
            return default
        for value in values:
            if allowed and value not in allowed:
                meant = closest(value, allowed)
                hint = f"did you mean {meant!r}?" if meant else f"known are {', '.join(sorted(allowed))}"
                self._refuse(f"{key}: unknown {value[:100]!r}", key, hint=hint)
        return values

    def _parameters(self, entry: Mapping[str, object], base: Policy) -> Mapping[str, object]:
        """Return the parameters of a policy: those of the packs have names, and null for what must be given."""
        parameters = entry.get("parameters", {})
        if not isinstance(parameters, Mapping):
            self._refuse("parameters must be a map", "parameters")
            return base.parameters
        for name in parameters if base.expression else ():
            if name not in base.parameters:
                meant = closest(name, base.parameters)
                hint = f"did you mean {meant!r}?" if meant else f"known are {', '.join(base.parameters) or 'none'}"
                self._refuse(f"{base.name} has no parameter {name!r}", "parameters", name, hint=hint)
        found = {**base.parameters, **parameters}
        for name, value in found.items() if base.expression else ():
            if value is None:
                self._refuse(f"{base.name} needs the parameter {name!r}")
        return found
