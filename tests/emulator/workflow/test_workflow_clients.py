"""The workflow service as openstacksdk sees it."""

from __future__ import annotations

import pytest
from openstack.connection import Connection

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning"),  # the SDK's own
]


def test_workflows_executions_and_cron_triggers(connection: Connection) -> None:
    mistral = connection.workflow
    text = "version: '2.0'\nw:\n  input: [a]\n  tasks: {t: {action: std.echo output=<% $.a %>}}\n"
    mistral.create_workflow(definition=text, scope="private")
    workflow = mistral.get_workflow("w")
    assert (workflow.name, workflow.definition) == ("w", text)
    assert mistral.find_workflow("w", ignore_missing=False).id == workflow.id
    executions = [mistral.create_execution(workflow_name="w", input={"a": 1}) for _ in range(3)]
    listed = list(mistral.executions(limit=2))
    assert {one.id for one in listed} == {one.id for one in executions}
    assert mistral.get_execution(executions[0].id).status == "SUCCESS"
    trigger = mistral.create_cron_trigger(
        name="nightly", pattern="0 0 * * *", workflow_name="w", workflow_input={"a": 1}
    )
    assert mistral.get_cron_trigger(trigger.id).next_execution_time.endswith("00:00:00")
    mistral.delete_cron_trigger(trigger, ignore_missing=False)
    for execution in executions:
        mistral.delete_execution(execution, ignore_missing=False)
    mistral.delete_workflow("w", ignore_missing=False)
    assert list(mistral.workflows()) == list(mistral.executions()) == list(mistral.cron_triggers()) == []
