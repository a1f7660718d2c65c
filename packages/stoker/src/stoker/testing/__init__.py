"""Tests of templates: an engine and an emulated cloud in this process, in virtual time."""

from __future__ import annotations

from stoker.testing.calls import CloudCall, CloudCalls
from stoker.testing.emulated_cloud import EmulatedCloud
from stoker.testing.plans import Plan
from stoker.testing.sandbox import Resource, Sandbox, Signal, Stack

__all__ = ["CloudCall", "CloudCalls", "EmulatedCloud", "Plan", "Resource", "Sandbox", "Signal", "Stack"]
