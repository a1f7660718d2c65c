_COLUMNS = {
    "id": "id",
    "name": "name",
    "stack_name": "name",
    "status": "status",
    "stack_status": "status",
    "action": "action",
    "stack_action": "action",
    "tenant": "project_id",
    "project": "project_id",
    "username": "user_name",
    "stack_owner": "user_name",
    "owner_id": "parent_id",
    "parent": "parent_id",
    "stack_status_reason": "reason",
    "disable_rollback": "disable_rollback",
    "timeout_mins": "timeout_minutes",
    "stack_user_project_id": "user_project_id",
    "creation_time": "created_at",
    "created_at": "created_at",
    "updated_time": "updated_at",
    "updated_at": "updated_at",
}


async def stack_list(
    engine: Engine,
    context: RequestContext,
    filters: Mapping[str, Sequence[Any]] | None = None,
    tags: Sequence[str] | None = None,
    tags_any: Sequence[str] | None = None,
    not_tags: Sequence[str] | None = None,
    not_tags_any: Sequence[str] | None = None,
    limit: int | None = None,
    marker: str | None = None,
    sort_keys: Sequence[str] | None = None,
    sort_dir: str | None = None,
    global_tenant: bool = False,
    show_deleted: bool = False,
    show_nested: bool = False,
    show_hidden: bool = False,
    with_count: bool = False,
) -> dict[str, Any]:
    """A page of stacks, newest first unless asked otherwise."""
    if global_tenant and not context.is_admin:
        raise Forbidden("Only an administrator may list the stacks of all projects.")
    wanted = queries.StackQuery(
        project_id=None if global_tenant else context.project_id,
        filters={_COLUMNS[name]: _states(name, values) for name, values in (filters or {}).items()},
        tags=tags or (),
        tags_any=tags_any or (),
        not_tags=not_tags or (),
        not_tags_any=not_tags_any or (),
        hidden_tags=() if show_hidden else engine.settings.hidden_stack_tags,
        show_deleted=show_deleted,
        show_nested=show_nested or "parent" in (filters or {}) or "owner_id" in (filters or {}),
        limit=limit,
        marker=marker,
        sort_keys=[_COLUMNS[key] for key in sort_keys or ("created_at",)],
        descending=sort_dir != "asc" if sort_dir or not sort_keys else False,
    )
    stacks = await engine.database.read(queries.list_stacks, wanted)
    found = await engine.database.read(queries.tags_of, [stack.id for stack in stacks])
    views = [{**stack_view(stack, found.get(stack.id)), "description": ""} for stack in stacks]
    count = await engine.database.read(queries.count_listed, wanted) if with_count else None
    return {"stacks": views, "count": count}


def _states(name: str, values: Sequence[Any]) -> list[Any]:
    """`stack_status` filters may be given as `CREATE_COMPLETE`; the status alone is what is stored."""
    if name not in ("status", "stack_status"):
        return list(values)
    return [str(value).rpartition("_")[2] if "IN_PROGRESS" not in str(value) else IN_PROGRESS for value in values]
