"""Checks of the project's own source that no general tool makes; `make check` runs each as `python -m checks.NAME`."""
