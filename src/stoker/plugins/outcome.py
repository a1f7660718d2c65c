"""What a lifecycle method answers. It never waits: it does one thing and returns one of these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """The action is complete. `physical_id` is set when it became known only now."""

    physical_id: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """What a method waits for, told so that one call can look for many: an object's status in a list.

    `path` of `service` lists objects under the key `members`, each with its id in `id_field`. Entering the method
    again would learn nothing while the object's `status_field` says `status`.
    """

    service: str
    path: str
    members: str
    id_field: str
    status_field: str
    status: str | None


@dataclass(frozen=True, slots=True)
class Again:
    """Enter the method again in `after` seconds; the engine first records `physical_id`, data and progress.

    `after=None` means "when something wakes the stack": a signal, or the end of a child stack's operation.
    With `watch`, the engine may look at the list from time to time instead, when many wait for objects in it.
    """

    after: float | None = 1.0
    physical_id: str | None = None
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The action has failed for good. `kind` is the error class shown before the reason.

    `in_error` says that the service itself reports the object broken: creating it anew may help, and the
    engine does so up to `action_retry_limit` times (facts: engine.yaml, resource_create.retry).
    """

    reason: str
    kind: str = "ResourceInError"
    in_error: bool = False


@dataclass(frozen=True, slots=True)
class Replace:
    """Only an update may answer this: the change needs a new object after all."""

    reason: str


Outcome = Done | Again | Failed | Replace
"""Everything a lifecycle method may answer."""
