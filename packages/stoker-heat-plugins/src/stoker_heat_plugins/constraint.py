"""A custom constraint of Stoker for a class of Heat's plug-in interface."""

from __future__ import annotations

from typing import Any

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.constraints import CustomCheck
from stoker_heat_plugins.credentials import Bridge, Context
from stoker_heat_plugins.workers import WORKERS


class HeatConstraint(CustomCheck):
    """Calls `validate` of `constraint`, a class derived from BaseCustomConstraint, on a thread."""

    def __init__(self, constraint: Any) -> None:
        self._constraint = constraint

    async def violation(self, value: Any, cloud: Cloud | None) -> str | None:
        if cloud is None:
            return None
        context = Context(cloud, Bridge())

        def checked() -> str | None:
            constraint = self._constraint()
            return None if constraint.validate(value, context) else str(constraint.error(value))

        try:
            return await WORKERS.run(checked)
        except CloudError:
            raise
        except Exception as error:
            return f"the constraint cannot be checked: {type(error).__name__}: {error}"
