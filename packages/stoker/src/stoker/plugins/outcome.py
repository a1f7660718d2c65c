"""Results of lifecycle methods. A method never waits: it takes one step and returns one of these."""

from __future__ import annotations

from dataclasses import dataclass

from stoker.plugins.former_names import former_name


@dataclass(frozen=True, slots=True)
class Done:
    """The action is complete. `physical_id` is set if it has just become known."""

    physical_id: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """The condition that a method waits for, in a form that lets one request check many objects.

    `path` of `service` lists objects under the key `members`, each with its ID in `id_field`. There is no need to call
    the method again while the object's `status_field` has the value `status`.
    """

    service: str
    path: str
    members: str
    id_field: str
    status_field: str
    status: str | None


@dataclass(frozen=True, slots=True)
class InProgress:
    """The action continues: call the method again in `after` seconds. First, `physical_id`, data and progress are
    recorded.

    `after=None` means to wait for an event: a signal, or the end of a nested stack's operation. With `watch`, the
    engine may poll the list instead, when many resources wait for objects in it.

    `waiting` says what the resource waits for, in a sentence for users, without secrets. The engine shows it as the
    resource's status reason, in an event whenever it changes, and in the message of a timeout.
    """

    after: float | None = 1.0
    physical_id: str | None = None
    watch: Watch | None = None
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The action has failed permanently. `kind` is the error class that is shown before the reason.

    `in_error` means that the service reports the object to be in an error state: creating a new one may succeed, and
    the engine does so up to `action_retry_limit` times. `path` are the names of the resources inside the resource's
    nested stack down to the one that has failed; it is empty if the resource itself has failed.
    """

    reason: str
    kind: str = "ResourceInError"
    in_error: bool = False
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """The update requires a replacement after all. Only `update` may return this."""

    reason: str


Outcome = Done | InProgress | Failed | Replace
"""The results of a lifecycle method."""


def __getattr__(name: str) -> object:
    return former_name(__name__, name, {"Again": InProgress})
