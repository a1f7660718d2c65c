"""All routes of the workflow service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.http import Request, Response
from openstack_emulator.workflow.routes import (
    action_executions,
    cron_triggers,
    definitions,
    environments,
    event_triggers,
    executions,
    members,
    tasks,
)
from openstack_emulator.workflow.routes.definitions import of_text, validating
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.language import actions_of, workbook_of, workflows_of

Routes = Mapping[str, Mapping[str, Callable[[Workflows, Request], Response]]]

ROUTES: Routes = {
    "/action_executions": {
        "GET": action_executions.list_action_executions,
        "POST": action_executions.create_action_execution,
    },
    "/action_executions/{id}": {
        "GET": action_executions.show_action_execution,
        "PUT": action_executions.change_action_execution,
        "DELETE": action_executions.delete_action_execution,
    },
    "/actions": {
        "GET": definitions.list_actions,
        "POST": of_text(definitions.create_actions),
        "PUT": of_text(definitions.update_actions),
    },
    "/actions/validate": {"POST": of_text(validating(actions_of))},
    "/actions/{id}": {"GET": definitions.show_action, "DELETE": definitions.delete_action},
    "/cron_triggers": {"GET": cron_triggers.list_triggers, "POST": cron_triggers.create_trigger},
    "/cron_triggers/{id}": {"GET": cron_triggers.show_trigger, "DELETE": cron_triggers.delete_trigger},
    "/environments": {
        "GET": environments.list_environments,
        "POST": environments.create_environment,
        "PUT": environments.change_environment,
    },
    "/environments/{id}": {"GET": environments.show_environment, "DELETE": environments.delete_environment},
    "/event_triggers": {"GET": event_triggers.list_triggers, "POST": event_triggers.create_trigger},
    "/event_triggers/{id}": {
        "GET": event_triggers.show_trigger,
        "PUT": event_triggers.change_trigger,
        "DELETE": event_triggers.delete_trigger,
    },
    "/executions": {"GET": executions.list_executions, "POST": executions.create_execution},
    "/executions/{id}": {
        "GET": executions.show_execution,
        "PUT": executions.change_execution,
        "DELETE": executions.delete_execution,
    },
    "/executions/{id}/executions": {"GET": executions.list_executions_of},
    "/executions/{id}/tasks": {"GET": tasks.list_tasks_of},
    "/tasks": {"GET": tasks.list_tasks},
    "/tasks/{id}": {"GET": tasks.show_task, "PUT": tasks.rerun_task},
    "/tasks/{id}/action_executions": {"GET": tasks.list_actions_of},
    "/tasks/{id}/workflow_executions": {"GET": tasks.list_workflows_of},
    "/workbooks": {
        "GET": definitions.list_workbooks,
        "POST": of_text(definitions.create_workbook),
        "PUT": of_text(definitions.update_workbook),
    },
    "/workbooks/validate": {"POST": of_text(validating(workbook_of))},
    "/workbooks/{id}": {"GET": definitions.show_workbook, "DELETE": definitions.delete_workbook},
    "/workflows": {
        "GET": definitions.list_workflows,
        "POST": of_text(definitions.create_workflows),
        "PUT": of_text(definitions.update_workflows),
    },
    "/workflows/validate": {"POST": of_text(validating(workflows_of))},
    "/workflows/{id}": {
        "GET": definitions.show_workflow,
        "PUT": of_text(definitions.update_workflows),
        "DELETE": definitions.delete_workflow,
    },
    "/workflows/{id}/members": {"GET": members.list_members, "POST": members.add_member},
    "/workflows/{id}/members/{member_id}": {
        "GET": members.show_member,
        "PUT": members.change_member,
        "DELETE": members.remove_member,
    },
}
