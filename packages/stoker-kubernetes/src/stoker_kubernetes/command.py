"""The program `stoker-kubernetes`: it runs the operator, and prints the manifests that install it."""

from __future__ import annotations

import logging

import click
import yaml

from stoker_kubernetes.definition import definition, manifests

_IMAGE = "stoker:latest"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stoker-kubernetes")
def main() -> None:
    """Deploy stacks of Stoker from objects of the kind Stack in Kubernetes."""


@main.command()
@click.option("-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Namespace to serve; repeatable.")
@click.option("--all-namespaces", is_flag=True, help="Serve all namespaces.")
@click.option(
    "--liveness-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Answer /healthz for the kubelet on this port.",
)
@click.option(
    "--tick",
    type=click.FloatRange(0.1, 60.0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two looks at an object on which something is in progress.",
)
@click.option(
    "--retry",
    type=click.FloatRange(0.1, 3600.0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Time until a failed step is repeated; after each failed operation twice as long, up to an hour.",
)
@click.option("-v", "--verbose", is_flag=True, help="Also log what the operator does inside.")
def run(
    namespaces: tuple[str, ...],
    all_namespaces: bool,
    liveness_port: int | None,
    tick: float,
    retry: float,
    verbose: bool,
) -> None:
    """Run the operator, until SIGTERM.

    It uses the service account of its pod, or else the kubeconfig.

    \b
    Examples:
      stoker-kubernetes run --all-namespaces
      stoker-kubernetes run -n shop -n test
    """
    if bool(namespaces) == all_namespaces:
        raise click.UsageError("Give either --namespace or --all-namespaces.")
    from stoker_kubernetes import operator  # with the libraries of Kubernetes

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s", level=logging.INFO)
    logging.getLogger("kopf").setLevel(logging.DEBUG if verbose else logging.WARNING)
    for library in ("httpx", "httpx2"):
        logging.getLogger(library).setLevel(logging.WARNING)
    operator.run(None if all_namespaces else namespaces, liveness_port, operator.Pace(tick, retry))


@main.command("manifests")
@click.option("--image", default=_IMAGE, show_default=True, help="The container image of the operator.")
@click.option("--crd", is_flag=True, help="Print the custom resource definition only.")
def print_manifests(image: str, crd: bool) -> None:
    """Print what `kubectl apply -f -` installs.

    \b
    Examples:
      stoker-kubernetes manifests --image registry.example.org/stoker:1.0 | kubectl apply -f -
    """
    found = [definition()] if crd else manifests(image)
    click.echo(yaml.safe_dump_all(found, sort_keys=False), nl=False)
