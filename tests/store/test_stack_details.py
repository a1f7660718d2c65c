"""What is recorded beside the row of a stack."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from stoker.store import queries, settings
from stoker.store.change_sets import Room, room_for
from stoker.store.creations import room_and_rules
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.records import StackSettings
from stoker.store.stack_details import RecordedDetails, stack_with_details
from stoker.store.survey_records import DriftDetection
from tests.store.rows import stack


async def test_tags_settings_of_the_tree_and_the_last_complete_look_are_read_together(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'stoker.db'}")
    database.migrate()
    journal = Journal(database)
    root, plain, gone = stack("root"), stack("plain"), stack("gone")
    nested = replace(stack("nested"), root_id=root.id, parent_id=root.id)
    chosen = StackSettings(root.id, protected=True, notification_topics='["t"]', drift_mode="report")
    look = DriftDetection("1", nested.id, "p", "e", "COMPLETE", "", "", 10.0, "IN_SYNC")
    looks = [
        look,
        replace(look, id="2", created_at=20.0, result="DRIFTED"),
        replace(look, id="3", created_at=30.0, result=None),
        replace(look, id="4", created_at=40.0, status="IN_PROGRESS", result="IN_SYNC"),
        replace(look, id="5", stack_id=root.id, created_at=50.0),
    ]
    batch = Batch().add(root, nested, plain, *looks)
    batch.then(partial(settings.save, settings=chosen))
    batch.then(partial(queries.set_tags, stack_id=nested.id, tags=["b", "a", "c"]))
    await journal.commit(batch)
    for each, details in (
        (nested, RecordedDetails(["b", "a", "c"], chosen, ("DRIFTED", 20.0))),
        (root, RecordedDetails([], chosen, ("IN_SYNC", 50.0))),
        (plain, RecordedDetails([], StackSettings(plain.id), None)),
    ):
        recorded = await database.read(queries.stack_by_id, each.id)
        assert await database.read(partial(stack_with_details, id=each.id)) == (recorded, details)
        by_name = partial(stack_with_details, project_id=each.project_id, live_name=each.name)
        assert await database.read(by_name) == (recorded, details)
    assert await database.read(partial(stack_with_details, id=gone.id)) is None
    journal.close()
    database.close()


async def test_control_and_policies_of_a_project_and_a_stack_are_read_together(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'stoker.db'}")
    database.migrate()
    journal = Journal(database)
    batch = Batch().add(stack("web"), stack("db"))
    for where, name in (("", "project"), ("s", "stack"), ("other", "other")):
        batch.then(
            partial(settings.save_control, project_id="p", stack_id=where, body={"of": name}, user_id="u", now=1)
        )
        batch.then(partial(settings.save_plan_policies, project_id="p", stack_id=where, body=name, user_id="u", now=1))
    batch.then(partial(settings.save_plan_policies, project_id="q", stack_id="", body="no", user_id="u", now=1))
    await journal.commit(batch)
    controls, policies = await database.read(settings.rules_of, "p", "s")
    assert controls == {"": {"of": "project"}, "s": {"of": "stack"}}
    assert policies == {"": "project", "s": "stack"}
    assert await database.read(settings.plan_policies_of, "p", "s") == policies
    assert await database.read(settings.plan_policies_of, "p", None) == {"": "project"}
    assert await database.read(settings.rules_of, "r", "s") == ({}, {})
    for name, project, room in (
        ("web", "p", Room(is_taken=True, is_promised=False, stacks=2)),
        ("new", "p", Room(is_taken=False, is_promised=False, stacks=2)),
        ("web", "r", Room(is_taken=False, is_promised=False, stacks=0)),
    ):
        new = stack(name, id="s", root_id="s", project_id=project)
        rules = await database.read(settings.rules_of, project, "s")
        assert await database.read(room_and_rules, new, 5) == (room, rules)
        assert await database.read(room_for, new, 5) == room
    journal.close()
    database.close()
