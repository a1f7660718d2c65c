"""Templates that are generated from the objects of a project."""

from __future__ import annotations

from stoker.api.requests import Query
from stoker.api.v1.call import RestCall
from stoker.api.values import BOOLEAN, STRING, Field
from stoker.contract.generating import GenerateFromProject, ListGeneratedTypes

QUERY = Query(
    fields={
        "type": Field(STRING, repeatable=True),
        "tag": Field(STRING, repeatable=True),
        "name": Field(STRING),
        "id": Field(STRING, repeatable=True),
        "groups": Field(BOOLEAN),
    },
    strict=True,
)


def generate(call: RestCall) -> dict[str, object]:
    """Generate a template of the objects that the project has and no stack owns, with an environment that imports them.

    `type` limits the types, `tag` selects objects by tags or by keys and values of metadata (`key=value`), `name` by a
    pattern with `*`, `?` and `[…]`. What is inside an object comes with it; with `id`, which can be repeated, the
    template has only the objects with these IDs. With `groups`, `grouped` is a template to update
    the stack to, in which objects that are equal but for a number in their names are members of groups: its environment
    moves them there, and the nested templates are among its `files`. It is null if nothing repeats.

    `left_out` are the objects that became no resource, with the reasons; `unread` the types whose service did not list
    its objects. A stack with the template and the environment imports the objects without a change of any.
    """
    query = call.query
    request = GenerateFromProject(
        types=query["type"], tags=query["tag"], name=query["name"], ids=query["id"], groups=bool(query["groups"])
    )
    return {"generated_template": call.execute(request)}


def list_types(call: RestCall) -> dict[str, object]:
    """List the types of which objects can become resources of a generated template."""
    return {"resource_types": call.execute(ListGeneratedTypes())}
