"""Checks of requests' bodies, in the words of Zun."""

from __future__ import annotations

from openstack_emulator.container.rules.errors import SCHEMA
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.objects import Dialect, Step, named
from openstack_emulator.core.validation.problems import Problem, Reason
from openstack_emulator.core.validation.sentences import JSON_SCHEMA


def _refusal(where: str, body: object, problem: Problem, words: str) -> ApiError:
    if problem.reason in (Reason.MISSING, Reason.UNKNOWN):
        return bad_request(words, SCHEMA)
    error = named(where, body, problem, words)
    error.kind = SCHEMA
    return error


ZUN = Dialect((Step.MISSING, Step.UNKNOWN, Step.VALUES), _refusal, JSON_SCHEMA)
