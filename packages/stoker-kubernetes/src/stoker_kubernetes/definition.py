"""The custom resource definition of the kind Stack, and the other manifests with which the operator is installed."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

Manifest = dict[str, Any]

GROUP, VERSION = "stoker.dev", "v1alpha1"
KIND, PLURAL = "Stack", "stacks"
APPROVED = f"{GROUP}/approved-plan"
"""The annotation with the digest of the plan that is approved."""

SYSTEM = "stoker-system"
"""The namespace of the operator, and its name there."""
_NAME = "stoker-kubernetes"


class Approval(StrEnum):
    """Whether plans are carried out by themselves."""

    AUTOMATIC = "Automatic"
    MANUAL = "Manual"


class DeletionPolicy(StrEnum):
    """What happens to the stack when its object is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


def _text(description: str, **more: Any) -> Manifest:
    return {"type": "string", "description": description, **more}


def _flag(description: str, default: bool = False) -> Manifest:
    return {"type": "boolean", "default": default, "description": description}


def _map_of_text(description: str) -> Manifest:
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": description}


def _reference(description: str, *keys: str) -> Manifest:
    properties = {"name": _text("The name of the object, in the namespace of the stack.", minLength=1)}
    properties |= {key: _text("The key in it.", minLength=1) for key in keys}
    return {"type": "object", "required": list(properties), "properties": properties, "description": description}


_ANY_VALUE: Manifest = {"x-kubernetes-preserve-unknown-fields": True}

_CLOUD: Manifest = {
    "type": "object",
    "required": ["secretName", "name"],
    "properties": {
        "secretName": _text("The Secret whose key clouds.yaml has the entry.", minLength=1),
        "name": _text("The name of the entry of clouds.yaml.", minLength=1),
    },
    "description": "The cloud: an entry of clouds.yaml with auth_url, and a password or an application credential.",
}

SPEC: Manifest = {
    "type": "object",
    "required": ["cloud"],
    "x-kubernetes-validations": [
        {
            "rule": "has(self.template) != has(self.templateFrom)",
            "message": "exactly one of template and templateFrom is needed",
        },
        {
            "rule": "has(self.stackName) == has(oldSelf.stackName)"
            " && (!has(self.stackName) || self.stackName == oldSelf.stackName)",
            "message": "the name of a stack cannot be changed",
        },
    ],
    "properties": {
        "cloud": _CLOUD,
        "stackName": _text(
            "The name of the stack; that of the object unless given. It cannot be changed.", minLength=1
        ),
        "template": _text("The template: HOT or CloudFormation, as YAML or JSON."),
        "templateFrom": _reference("A ConfigMap that has the template.", "key"),
        "files": _map_of_text("Files that the template refers to, such as nested templates, by their names."),
        "filesFrom": {
            "type": "array",
            "items": _reference("A ConfigMap of which each key is a file."),
            "description": "ConfigMaps with more files.",
        },
        "environment": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "description": "The environment: parameters, resource_registry, and its other sections.",
        },
        "parameters": {
            "type": "object",
            "additionalProperties": _ANY_VALUE,
            "description": "Values of parameters; they override those of the environment.",
        },
        "parametersFrom": {
            "type": "array",
            "items": _reference("A Secret of which each key is a parameter."),
            "description": "Secrets with values of parameters, which override `parameters`.",
        },
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags of the stack."},
        "rollback": _flag("Whether to roll back after a failure."),
        "timeoutMinutes": {"type": "integer", "minimum": 1, "description": "Timeout of an action on the stack."},
        "approval": _text(
            f"With Manual, a plan is carried out when the annotation {APPROVED} has its digest (status.plan.digest).",
            enum=[each.value for each in Approval],
            default=Approval.AUTOMATIC.value,
        ),
        "allowDataLoss": _flag("Whether plans are carried out that lose data, such as the deletion of a volume."),
        "adopt": _flag("Whether a stack of this name that exists already is taken over."),
        "deletionPolicy": _text(
            "What happens to the stack when the object is deleted.",
            enum=[each.value for each in DeletionPolicy],
            default=DeletionPolicy.DELETE.value,
        ),
        "suspend": _flag("Whether nothing is done for now."),
        "intervalSeconds": {
            "type": "integer",
            "minimum": 30,
            "default": 600,
            "description": "Seconds between two comparisons with the cloud, whose differences are corrected.",
        },
        "outputsTo": _reference("A Secret into which the outputs are written; outputs may be secrets."),
    },
}

_CONDITION: Manifest = {
    "type": "object",
    "required": ["type", "status", "reason", "message", "lastTransitionTime"],
    "properties": {
        "type": {"type": "string"},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": {"type": "string"},
        "message": {"type": "string"},
        "observedGeneration": {"type": "integer"},
        "lastTransitionTime": {"type": "string", "format": "date-time"},
    },
}

STATUS: Manifest = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,  # kopf keeps what it has handled there
    "properties": {
        "observedGeneration": {"type": "integer", "description": "The generation that the conditions are about."},
        "conditions": {
            "type": "array",
            "items": _CONDITION,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
        "stackID": _text("The ID of the stack."),
        "state": _text("The state of the stack, such as CREATE_COMPLETE."),
        "plan": {
            "type": "object",
            "description": "The plan that waits for an approval, or was carried out last.",
            "properties": {
                "digest": _text("What identifies the plan, for the annotation that approves it."),
                "summary": _text("What it does, in words."),
                "dataLost": _text("The resources that lose data by it; absent for none."),
            },
        },
        "failures": {"type": "integer", "description": "How often the same has failed one after the other."},
        "lastCheckedTime": {"type": "string", "format": "date-time", "description": "When the cloud was looked at."},
        "attempted": _text("The digest of the definition with which the last operation was begun."),
    },
}


def definition() -> Manifest:
    """Return the custom resource definition."""
    schema = {"type": "object", "required": ["spec"], "properties": {"spec": SPEC, "status": STATUS}}
    columns = [
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
        {"name": "Reason", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].reason'},
        {"name": "State", "type": "string", "jsonPath": ".status.state"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": KIND, "plural": PLURAL, "singular": "stack", "listKind": "StackList"},
            "versions": [version],
        },
    }


def manifests(image: str) -> list[Manifest]:
    """Return all that is applied to install the operator, which runs in a container of the `image`."""
    labels = {"app.kubernetes.io/name": _NAME}
    here = {"name": _NAME, "namespace": SYSTEM, "labels": labels}
    container = {
        "name": "operator",
        "image": image,
        "command": ["stoker-kubernetes"],
        "args": ["run", "--all-namespaces", "--liveness-port", "8080"],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "initialDelaySeconds": 15},
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108  a volume of the container's own
    }
    pod = {
        "serviceAccountName": _NAME,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": here,
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}
    return [namespace, definition(), account, *_rights(), deployment]


def _rights() -> list[Manifest]:
    rules = [
        {"apiGroups": [GROUP], "resources": [PLURAL], "verbs": ["get", "list", "watch", "patch"]},
        {"apiGroups": [GROUP], "resources": [f"{PLURAL}/status", f"{PLURAL}/finalizers"], "verbs": ["patch", "update"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "create", "patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]},
        {
            "apiGroups": ["apiextensions.k8s.io"],
            "resources": ["customresourcedefinitions"],
            "verbs": ["list", "watch"],
        },
    ]
    api = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": _NAME}, "rules": rules}
    binding = {
        "apiVersion": f"{api}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _NAME},
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": _NAME},
        "subjects": [{"kind": "ServiceAccount", "name": _NAME, "namespace": SYSTEM}],
    }
    return [role, binding]
