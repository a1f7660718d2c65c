"""Checks of the project's own source that no general tool makes; `make check` runs them.

`python -m checks` runs all, `python -m checks.NAME` runs one.
"""
