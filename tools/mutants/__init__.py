"""Plant bugs in a copy of the sources, and see which suites of tests notice them: `python -m tools.mutants`."""
