"""Tests of Stoker: README.md explains the suites."""

import testing as testing  # sets what libraries read when they are imported
