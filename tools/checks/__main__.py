"""Run all checks over one reading of the sources: `python -m tools.checks`."""

from __future__ import annotations

import sys

from tools.checks import (
    any_bound,
    assertions,
    attribute_bound,
    child_processes,
    commit_subjects,
    import_cycles,
    method_bound,
    module_length,
    patterns,
    prose,
    release,
    service_shape,
    single_definitions,
)
from tools.checks.source_tree import SourceTree, show

CHECKS = (
    prose,
    import_cycles,
    method_bound,
    module_length,
    attribute_bound,
    any_bound,
    child_processes,
    patterns,
    single_definitions,
    service_shape,
    assertions,
    release,
    commit_subjects,
)


def main() -> int:
    tree = SourceTree()
    return show(line for check in CHECKS for line in check.report(tree))


if __name__ == "__main__":
    sys.exit(main())
