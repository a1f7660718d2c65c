"""Checks of the project's own source that no general tool makes; `make check` runs them.

`python -m tools.checks` runs all, `python -m tools.checks.NAME` runs one.
"""
