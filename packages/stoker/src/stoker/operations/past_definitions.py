"""The definition that a stack had as of one of its operations, and the way back to it."""

from __future__ import annotations

from sqlalchemy import Connection

from stoker.base.errors import BadValue
from stoker.engine.planning.moves import returned_paths
from stoker.engine.planning.relocation import read_for_return
from stoker.engine.records.actions import NOTHING
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import path_text
from stoker.operations.lookup import find_operation
from stoker.store.records import Stack
from stoker.template.template import Template
from stoker.template.transfers import Move, Transfers


async def inputs_as_of(services: EngineServices, stack: Stack, operation_id: str) -> str:
    """Return the ID of the inputs that an operation of a stack worked towards.

    Raises EntityNotFound for an operation that is not one of the stack, BadValue for one without a definition.
    """
    operation = await find_operation(services, stack, operation_id)
    if operation.inputs == NOTHING:
        raise BadValue(
            f"The operation {operation_id} of stack {stack.name} had no definition: it removed all resources."
        )
    return operation.inputs


async def moves_back(services: EngineServices, stack: Stack, inputs: str, template: Template) -> Transfers:
    """Return the entries that give resources, which have been moved, the paths that they have in a former definition.

    `inputs` is the ID of the former ones, `template` the one that applies from now on.
    """

    def on(connection: Connection) -> Transfers:
        tree = read_for_return(services, connection, Recorded.of(services, connection, stack))
        paths = returned_paths(template.resources, tree.places(), inputs)
        return Transfers(moved=tuple(Move(path_text(path), path_text(former)) for path, former in paths.items()))

    return await services.database.read(on)
