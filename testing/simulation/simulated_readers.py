"""People who look at stacks all the time: every request that only reads, at any moment of any operation.

Each must be answered, and nothing that they do may be seen in what is done to the stacks. They take no part in what
chance decides for the others.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import select

from stoker.base.errors import Bug, NotFound, StokerError
from stoker.operations import OPERATIONS
from stoker.store.records import Stack
from stoker.store.tables import stacks
from stoker.testing.simulated_loop import settle
from testing.simulation.simulated_cluster import Cluster, Lost, Member
from testing.simulation.simulated_templates import FILES, Draft

OF_STACK: Mapping[str, Mapping[str, Any]] = {
    "stack_show": {},
    "stack_describe": {},
    "stack_template": {},
    "stack_environment": {},
    "stack_files": {},
    "output_list": {},
    "resource_list": {"nested_depth": 5, "with_detail": True},
    "event_list": {"nested_depth": 5},
    "event_page": {"limit": 20},
    "operation_list": {},
    "snapshot_list": {},
    "drift_list": {},
    "stack_export": {},
}
OF_RESOURCE = ("resource_show", "resource_metadata", "resource_describe", "drift_detect_resource")
OF_PROJECT: Mapping[str, Mapping[str, Any]] = {
    "stack_list": {"show_nested": True},
    "stack_describe_page": {"limit": 20},
    "export_list": {},
    "software_config_list": {},
    "software_deployment_list": {},
}


class Readers:
    """Ask `cluster` about all its stacks; `drafts` are what previews ask for, by the stack's name."""

    def __init__(self, cluster: Cluster, drafts: Mapping[str, Draft], seed: int) -> None:
        self._cluster = cluster
        self._drafts = drafts
        self.chance = random.Random(f"readers {seed}")
        self._tasks: set[asyncio.Task[None]] = set()
        reading = logging.getLogger("stoker.engine.inspection.stack_reader")
        reading.setLevel(logging.ERROR)  # whatever the others may say
        reading.addHandler(_WarningHandler(self._violate))

    def schedule(self, number: int) -> None:
        """Have so many requests made from this moment on, beside everything else."""
        requests = list(self._requests())
        for method, arguments in self.chance.sample(requests, min(number, len(requests))):
            members = [member for member in self._cluster.members if member.up and not member.process.paused]
            if members:
                task = asyncio.ensure_future(self._ask(self.chance.choice(members), method, arguments))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _requests(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Everything that can be asked just now."""
        yield from OF_PROJECT.items()
        for stack in self._stacks():
            ref = {"name": None, "id": stack.id}
            for method, arguments in OF_STACK.items():
                yield method, {"ref": ref, **arguments}
            draft = self._drafts.get(stack.name)
            if draft is not None:
                yield "stack_update_preview", {"ref": ref, "template": draft.template(), "files": FILES}
                yield from (("output_show", {"ref": ref, "key": f"show_{name}"}) for name in draft.resources)
                names = list(draft.resources)
            else:
                names = ["first", "volume", "port", "word", "net", "subnet", "0", "1"]
            yield from ((method, {"ref": ref, "name": name}) for name in names for method in OF_RESOURCE)

    def _stacks(self) -> list[Stack]:
        with self._cluster.database.engine.connect() as connection:
            return [Stack.of(row) for row in connection.execute(select(stacks).order_by(stacks.c.id))]

    async def _ask(self, member: Member, method: str, arguments: Mapping[str, Any]) -> None:
        self._cluster.injector.counts["reads"] += 1
        answer = asyncio.get_running_loop().create_future()
        work: Any = OPERATIONS[method](member.engine, self._cluster.reader(), arguments)
        task = member.process.start(work, reading=True)
        task.add_done_callback(lambda done: settle(answer, done))
        died = _dying(answer)
        member.process.on_death.append(died)
        try:
            await answer
        except (Lost, NotFound):
            return
        except StokerError as error:
            if isinstance(error, Bug):
                self._violate(f"{method} {arguments}: {error.message}")
        except Exception as error:
            self._violate(f"{method} {arguments}: {type(error).__name__}: {error}")
        finally:
            if died in member.process.on_death:
                member.process.on_death.remove(died)

    def _violate(self, text: str) -> None:
        self._cluster.injector.violate("unreadable", text)


def _dying(answer: asyncio.Future[Any]) -> Any:
    def died() -> None:
        if not answer.done():
            answer.set_exception(Lost())

    return died


class _WarningHandler(logging.Handler):
    """Types that stumble over what they are asked to read."""

    def __init__(self, violate: Any) -> None:
        super().__init__(logging.ERROR)
        self._violate = violate

    def emit(self, record: logging.LogRecord) -> None:
        self._violate(f"{record.getMessage()}: {record.exc_info[1] if record.exc_info else ''!r}")
