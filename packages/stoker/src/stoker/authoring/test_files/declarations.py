"""What a test file may consist of. The reader, the JSON Schema for editors and the reference are made from this."""

from __future__ import annotations

from stoker.authoring.document_grammar import (
    ANYTHING,
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Choice,
    Either,
    Key,
    ListOf,
    MapOf,
    Section,
)
from stoker.authoring.plan_steps import VERBS

ACTIONS = tuple(VERBS)
"""What a plan does to a resource."""

FAULTS = ("fail", "succeed_but_fail", "error_state", "rate_limit", "delay", "drop", "act_and_drop")
"""What the fault rules of the emulated cloud do, which is not needed to check a file."""

POLICY_CODES = (
    "policy-denied",
    "policy-approval-required",
    "policy-warned",
    "policy-failed",
    "policy-deferred",
)
"""What policies on plans say, which is not needed to check a file."""

KEEP = "keep"
"""What a plan does to a resource that it does not change, in expectations."""

PARAMETERS = MapOf(ANYTHING, "parameter")

RANGE = Section(
    "range",
    {
        "from": Key(NUMBER, "The first value.", required=True),
        "to": Key(NUMBER, "The last value; it is one of the values if a step ends there.", required=True),
        "step": Key(NUMBER, "The difference between two values, which is 1 unless given."),
    },
    "Numbers from one to another.",
)

PATTERN = Section(
    "pattern",
    {
        "matching": Key(
            TEXT,
            "A regular expression of Python, which matches the strings as a whole. It needs `examples`.",
            required=True,
        ),
    },
    "Strings that match a pattern.",
)

ALLOWED = "allowed"
"""Instead of given values: those that the template allows."""

FLAVOR = Section(
    "flavor",
    {
        "ram": Key(COUNT, "Memory in MiB, which is 2048 unless given."),
        "vcpus": Key(COUNT, "Number of processors, which is 1 unless given."),
        "disk": Key(COUNT, "Size of the disk in GiB, which is 20 unless given."),
        "extra_specs": Key(
            MapOf(TEXT, "key"), "What the scheduler and the hosts are asked for, such as `hw:cpu_policy`."
        ),
    },
)

VOLUME_TYPE = Section(
    "volume_type",
    {
        "extra_specs": Key(MapOf(TEXT, "key"), "What the back ends are asked for, such as `volume_backend_name`."),
    },
)

IMAGE = MapOf(ANYTHING, "property")

NETWORK = Section(
    "network",
    {
        "cidr": Key(TEXT, "The range of addresses of a subnet of the network."),
        "external": Key(FLAG, "Whether it is an external network, for routers and floating IPs."),
    },
)

_QUOTAS = {
    "compute": Key(MapOf(COUNT, "limit"), "Limits of Nova, such as `cores` and `instances`."),
    "network": Key(MapOf(COUNT, "limit"), "Limits of Neutron, such as `port` and `floatingip`."),
    "volume": Key(MapOf(COUNT, "limit"), "Limits of Cinder, such as `volumes` and `gigabytes`."),
}

QUOTAS = Section("quotas", _QUOTAS)

USED = Section("used", _QUOTAS, "How much of quotas is in use, by objects that the emulated cloud does not have.")

CLOUD = Section(
    "cloud",
    {
        "flavors": Key(MapOf(FLAVOR, "name"), "Flavors that all projects may use."),
        "images": Key(MapOf(IMAGE, "name"), "Public images with their properties, such as `min_disk`."),
        "networks": Key(MapOf(NETWORK, "name"), "Networks of the user, or external ones."),
        "keypairs": Key(ListOf(TEXT), "Names of key pairs of the user."),
        "regions": Key(ListOf(TEXT), "Further regions, with the same services, for stacks in them."),
        "services": Key(ListOf(TEXT), "Types of the services in the catalog; all that are emulated unless given."),
        "extensions": Key(ListOf(TEXT), "Aliases of the extensions of Neutron; all that are emulated unless given."),
        "only": Key(FLAG, "Whether the cloud has no other flavors, images and networks than these."),
        "roles": Key(ListOf(TEXT), "Further roles of the user in the project, such as `admin`."),
        "volume_types": Key(MapOf(VOLUME_TYPE, "name"), "Public volume types, besides the default one."),
        "quotas": Key(QUOTAS, "How much the project of the user may have."),
        "used": Key(USED, "How much of the quotas that are given is in use already, so that less is left."),
    },
    "What the emulated cloud has, besides what a new one has.",
)

FAULT = Section(
    "fault",
    {
        "request": Key(  # the reference has `on`, which is a boolean in YAML
            TEXT,
            "Method and path of requests, such as `POST /compute/v2.1/servers`; `*` matches any characters.",
            required=True,
        ),
        "do": Key(Choice(FAULTS), "What happens to them ([fault rules](/reference/emulator.md)).", required=True),
        "match": Key(MapOf(ANYTHING, "field"), "Values of fields of the body, with wildcards."),
        "times": Key(COUNT, "How many requests are affected; all unless given."),
        "after": Key(COUNT, "How many requests are let through before."),
        "status": Key(COUNT, "The status of the answer."),
        "message": Key(TEXT, "The message of the answer."),
        "seconds": Key(NUMBER, "How long to wait (`delay`), or when to try again (`rate_limit`)."),
    },
    "A rule for requests that go wrong.",
)

SIGNAL = Section(
    "signal",
    {
        "resource": Key(TEXT, "The path of the resource, such as a handle of a wait condition.", required=True),
        "details": Key(MapOf(ANYTHING, "name"), "What is sent, such as `{status: SUCCESS}`."),
    },
    "A signal as a program in a server sends it.",
)

USERS = ("demo", "admin")
"""The users of the emulated cloud: the owner of the stacks, and the operator."""

CHANGE = Section(
    "change",
    {
        "request": Key(
            TEXT,
            "Method and path, such as `DELETE /network/v2.0/ports/{port}`. Here and in the body, a path of a resource "
            "in braces stands for the ID of its object, and `{project_id}` for that of the project.",
            required=True,
        ),
        "body": Key(ANYTHING, "The JSON data that is sent."),
        "user": Key(Choice(USERS), "Who sends it: the owner of the stack, `demo`, unless given, or the operator."),
    },
    "A request that changes something without the stack.",
)

PLAN = Section(
    "plan",
    {
        "counts": Key(
            MapOf(COUNT, "action", ACTIONS),
            "How many resources are created, changed (`update`), replaced and so on. Actions that are not named are "
            "not checked.",
        ),
        "actions": Key(
            MapOf(Choice((KEEP, *ACTIONS)), "path of a resource"),
            "What is done to a resource; `keep` means that it is not changed. Nested resources have paths such as "
            "`servers.0.port`.",
        ),
        "golden": Key(
            TEXT,
            "A file with the plan as `stoker plan` prints it. `stoker test --update` writes it.",
        ),
    },
    "What the plan of the step does.",
)

ERROR = Section(
    "error",
    {
        "at": Key(TEXT, "The place, as `FILE:LINE:COLUMN`, `FILE:LINE` or `FILE`."),
        "path": Key(TEXT, "The path in the document, such as `resources.disk.properties.size` or `parameters.size`."),
        "rule": Key(
            TEXT,
            "The name of the [rule](/generated/rules.md), or the kind of a refusal that has no place in a file, such "
            "as `ImmutableParameterModified`.",
        ),
        "message": Key(TEXT, "The message; `*` matches any characters."),
    },
    "An error that must be reported.",
)

POLICY_RESULT = Section(
    "policy_result",
    {
        "policy": Key(TEXT, "The name of the policy.", required=True),
        "path": Key(TEXT, "The path of the resource; a policy on the plan as a whole has none."),
        "code": Key(Choice(POLICY_CODES), "What the policy says, which is `policy-denied` unless given."),
    },
    "A policy on plans that objects.",
)

CALL = Section(
    "call",
    {
        "request": Key(TEXT, "Method and path, such as `POST /network/v2.0/*`.", required=True),
        "body": Key(ANYTHING, "What the bodies contain, without a wrapper such as `server`; compared like outputs."),
        "times": Key(COUNT, "How many such requests there are; at least one unless given."),
    },
    "Requests that the cloud receives during the step.",
)

STEP = {
    "template": Key(TEXT, "The template, relative to the test file."),
    "environments": Key(ListOf(TEXT), "Environments, relative to the test file; later ones override."),
    "parameters": Key(PARAMETERS, "Values of parameters."),
    "rollback": Key(FLAG, "Whether to roll back after a failure."),
    "faults": Key(ListOf(FAULT), "What goes wrong during the step."),
    "signals": Key(
        ListOf(SIGNAL), "Signals that are sent when their resources are created or changed, or wait for them."
    ),
    "deploy": Key(FLAG, "Whether to deploy; with `false`, only the plan is made."),
    "errors": Key(
        ListOf(ERROR),
        "The errors for which the template or its values are refused: exactly these. Nothing is deployed.",
    ),
    "plan": Key(PLAN, "Expectations about the plan."),
    "conditions": Key(MapOf(FLAG, "name"), "Values of the template's conditions."),
    "replaces": Key(ListOf(TEXT), "The paths of the resources that are replaced: exactly these."),
    "policies": Key(ListOf(POLICY_RESULT), "The policies on plans that object to the plan: exactly these."),
    "state": Key(
        TEXT,
        "The state of the stack after the step. Unless given, it is `CREATE_COMPLETE` or `UPDATE_COMPLETE`; with "
        "`failures`, it is `CREATE_FAILED` or `UPDATE_FAILED`.",
    ),
    "failures": Key(MapOf(TEXT, "path of a resource"), "Reasons for which resources fail; `*` matches any characters."),
    "outputs": Key(
        MapOf(ANYTHING, "name"),
        "Values of outputs. In maps, keys that are not named are not checked; in strings, `*` matches any characters.",
    ),
    "sent": Key(
        MapOf(ANYTHING, "path of a resource"),
        "What the service has received about the object of a resource when it was created, compared like outputs.",
    ),
    "calls": Key(ListOf(CALL), "Requests that the cloud has received during the step."),
    "changes": Key(
        ListOf(CHANGE),
        "What somebody changes in the cloud after the deployment, behind the stack's back. Then, a minute passes. "
        "`drift` and the next update find it.",
    ),
    "drift": Key(
        ListOf(TEXT),
        "The paths of the resources whose objects differ from their definition afterwards: exactly these.",
    ),
}

UPDATE = Section(
    "update",
    STEP,
    "What is deployed next. A template, environments and parameters that are not given stay as they are.",
)

TEST = Section(
    "test",
    {
        **STEP,
        "given": Key(
            MapOf(
                Either(
                    Choice((ALLOWED,)),
                    Either(
                        Either(PATTERN, RANGE, lambda value: isinstance(value, dict) and "matching" in value),
                        ListOf(ANYTHING),
                        lambda value: isinstance(value, dict),
                    ),
                    lambda value: isinstance(value, str),
                ),
                "parameter",
            ),
            "Lists or ranges of values: the test is run with each combination, unless `examples` is given. `allowed` "
            "stands for all values that the template allows for the parameter, by its type and constraints; it needs "
            "`examples`.",
        ),
        "examples": Key(
            COUNT,
            "Number of combinations of the given values that are tried instead of all of them. Each run chooses the "
            "same. When the test fails with one, the simplest is searched for with which it fails.",
        ),
        "cloud": Key(CLOUD, "What the emulated cloud has, besides what is in the section of the file."),
        "updates": Key(ListOf(UPDATE), "Updates of the stack, one after the other."),
    },
    "A stack that is created in a cloud of its own, and then perhaps updated.",
)

FILE = Section(
    "file",
    {
        "template": Key(TEXT, "The template of all tests that have none, relative to the test file."),
        "environments": Key(ListOf(TEXT), "Environments of all tests that have none."),
        "parameters": Key(PARAMETERS, "Values of parameters for all tests; those of a test override them."),
        "cloud": Key(CLOUD, "What the emulated cloud has in all tests."),
        "policy_files": Key(
            ListOf(TEXT), "Files with [policies on plans](/how-to/policies.md), which all tests must satisfy."
        ),
        "tests": Key(MapOf(TEST, "name"), "The tests.", required=True),
    },
)
