"""`heat-status upgrade check`: whether what the configuration names is there, before services are started."""

from __future__ import annotations

import sys

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from stoker.base.errors import StokerError
from stoker.processes import readiness
from stoker.processes.lifetime import cluster_config
from stoker_heat_commands.environment import require_no_heat

NAME = "heat-status"

_CODES = {
    readiness.Level.GOOD: upgradecheck.Code.SUCCESS,
    readiness.Level.WARNING: upgradecheck.Code.WARNING,
    readiness.Level.FAILURE: upgradecheck.Code.FAILURE,
}


class Checks(upgradecheck.UpgradeCommands):
    """The checks of `stoker.processes.readiness`, in the form of oslo.upgradecheck."""

    def _run(self, check: readiness.Check) -> upgradecheck.Result:
        found = check(self.config)
        return upgradecheck.Result(_CODES[found.level], found.details or None)

    def check(self) -> upgradecheck.Code:
        """Print the results, and return the worst."""
        self._upgrade_checks = tuple(
            (name, (Checks._run, {"check": check})) for name, check in readiness.CHECKS.items()
        )
        return super().check()

    config: cfg.ConfigOpts


def main() -> None:
    """Run `upgrade check`; the exit status is 0 (all good), 1 (a warning), 2 (a failure) or 255 (an error)."""
    require_no_heat()
    commands = Checks()
    try:
        config = cluster_config(
            (), sys.argv[1:], NAME, lambda config: upgradecheck.register_cli_options(config, commands)
        )
        commands.config = config
        sys.exit(upgradecheck.run(config))
    except (StokerError, cfg.Error, OSError) as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        sys.exit(255)
