"""Checks of a whole plan before its first change: quotas and conflicts, with the services' own numbers."""
