"""Generate the page about policies on plans: those that Stoker brings along, their keys, and what expressions read."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.engine.plan_policies.policy import DEFAULT_KINDS, KINDS, Policy, Scope, Source
from stoker.engine.plan_policies.policy_files import LONGEST_EXPRESSION, LONGEST_MESSAGE, MOST, packs
from stoker_reference.markdown import code, page, section, table

_KEYS = {
    "name": "The name, which is unique in the directory: letters, digits, dots, hyphens and underscores.",
    "use": "The policy of this page that this one changes. It has no `expression` then.",
    "verdict": "`deny`, which is the default, `require_approval` or `warn`.",
    "for": "`resource`, which is the default: each step; `plan`: the plan as a whole.",
    "types": "Names of resource types, or beginnings of names that end with `*`; all unless given.",
    "kinds": f"Kinds of steps: {', '.join(map(code, sorted(KINDS)))}. Unless given, "
    f"{', '.join(map(code, sorted(DEFAULT_KINDS)))}.",
    "actions": "Actions of operations; all unless given.",
    "except_actions": "Actions of operations that the policy does not apply to.",
    "expression": f"What must be true, in CEL; at most {LONGEST_EXPRESSION} characters.",
    "message": f"What is wrong if it is not; at most {LONGEST_MESSAGE} characters.",
    "message_expression": "The same as a string in CEL, which replaces the message if it has a value.",
    "hint": "What to do about it; as long.",
    "parameters": "Values that the expressions read as `parameters`.",
    "webhook": "The URL of a webhook, which is asked about the plan as a whole, in place of an expression. Besides it, "
    "a policy has only `name`, `actions`, `except_actions`, `hint` and `on_failure` then.",
    "on_failure": "What follows if the webhook does not answer as it should: `deny`, which is the default, or `warn`.",
}

_VARIABLES = {
    "step": "The step, in policies for each resource.",
    "plan": "The plan, in policies for the plan as a whole: `plan.steps`, `plan.summary`, and, with a price list, "
    "`plan.costs` with the strings `before`, `after` and `change`.",
    "stack": "`stack.name`, `stack.project_id`, the list `stack.tags`, and `stack.nested`: whether it is nested.",
    "action": "The action of the operation.",
    "parameters": "The parameters of the policy.",
}

_STEP = {
    "path": "The names from the root stack's resource on, joined by dots.",
    "type, types": "The type as written, and a list with the type to which an environment maps it besides.",
    "kind, kinds": "What is done, and a list with `import` or `move` besides.",
    "properties": "The values that the object will have, with defaults, without those that are not given. "
    "`(known after apply)` stands for values that are not known yet, asterisks for hidden ones. Empty for deletions.",
    "unknown": "The names of the properties that are not known yet.",
    "data_bearing": "Whether users keep data in objects of the type, such as volumes and servers.",
    "loses_data": "Whether the step deletes an object with data, or its data.",
    "changes": "The changes of properties: `property`, `path`, `before`, `after`, `effect`, `known`, `hidden`.",
    "reasons": "The reasons, each with a `code`.",
    "causes": "The resources that new values depend on.",
    "definition": "Changes of metadata and policies of the resource.",
    "key, after": "The key of the step, and those of the steps before it.",
    "depth": "The number of nested stacks around it.",
    "moved_from, imports": "The former name of a moved resource; the ID of an imported object.",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page."""
    yield (
        "policies.md",
        page(
            "Policies on plans",
            "[](../how-to/policies.md) describes how policies are used. There may be "
            f"{MOST[Source.OPERATOR]} of the operator, {MOST[Source.PROJECT]} of a project, and {MOST[Source.STACK]} "
            "of a stack.",
            section("Policies that Stoker brings along", "\n\n".join(_pack(policy) for policy in packs().values())),
            section("Keys", table(["Key", "Meaning"], [[code(name), text] for name, text in _KEYS.items()])),
            section(
                "What expressions read",
                table(["Variable", "Meaning"], [[code(name), text] for name, text in _VARIABLES.items()]),
            ),
            section(
                "Steps",
                "The plan is that of `stoker plan -f json`, with `types`, `kinds`, `properties`, `unknown`, "
                "`data_bearing` and `loses_data` in each step. Right before a step acts, it has `path`, `type`, "
                "`kind`, and these.\n\n"
                + table(["Key", "Meaning"], [[code(name), text] for name, text in _STEP.items()]),
            ),
        ),
    )


def _pack(policy: Policy) -> str:
    needed = [f"{code(name)} ({'required' if value is None else value})" for name, value in policy.parameters.items()]
    about = "the plan" if policy.scope is Scope.PLAN else ", ".join(map(code, policy.types)) or "all types"
    return (
        f"### {policy.name}\n\n"
        f"Objects if {policy.message}. About {about}; parameters: {', '.join(needed) or 'none'}.\n\n"
        f"```text\n{policy.expression}\n```"
    )
