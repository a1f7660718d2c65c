"""`stoker keystone-setup`: what a cluster needs in the identity service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from stoker.cli.commands.database import config_files_option
from stoker.cli.framework import Rows, listing
from stoker.cli.terminal.errors import CommandFailed

if TYPE_CHECKING:
    from stoker.cloud.clouds_yaml import NamedCloud

_INTERFACES = ("public", "internal", "admin")
_DEFAULT_REGION = "RegionOne"


@listing("keystone-setup", "object", "outcome")
@config_files_option
@click.option("--os-cloud", envvar="OS_CLOUD", metavar="NAME", help="Entry of clouds.yaml with an administrator.")
@click.option("--api-url", required=True, metavar="URL", help="Public URL of the Orchestration API, without /v1.")
@click.option(
    "--cfn-url", metavar="URL",
    help="Public URL of the CloudFormation interface, without /v1.  [default: heat_metadata_server_url]",
)  # fmt: skip
@click.option("--internal-api-url", metavar="URL", help="The same for internal and admin.  [default: --api-url]")
@click.option("--internal-cfn-url", metavar="URL", help="The same for internal and admin.  [default: --cfn-url]")
@click.option(
    "--region", "regions", multiple=True, metavar="NAME",
    help="Region of the endpoints; repeatable.  [default: region_name_for_services, or the login's, or RegionOne]",
)  # fmt: skip
@click.option("--dry-run", "dry", is_flag=True, help="Show what is missing, and change nothing.")
def keystone_setup(
    config_files: tuple[str, ...],
    os_cloud: str | None,
    api_url: str,
    cfn_url: str | None,
    internal_api_url: str | None,
    internal_cfn_url: str | None,
    regions: tuple[str, ...],
    dry: bool,
) -> Rows:
    """Create what a cluster needs in the identity service: roles, service user, stack domain, and catalog entries.

    The names and passwords are those of heat.conf: of the user in [keystone_authtoken], stack_user_domain_name,
    stack_domain_admin and heat_stack_user_role. The login is an administrator's: --os-cloud or the OS_* variables.
    Objects that exist are kept; only URLs of endpoints are changed. It can be repeated.

    \b
    Examples:
      stoker keystone-setup --api-url http://controller:8004 --dry-run
      stoker keystone-setup --os-cloud admin --config-file heat.conf \\
        --api-url https://heat.example.com --cfn-url https://cfn.example.com \\
        --internal-api-url http://10.0.0.5:8004 \\
        --region RegionOne --region RegionTwo
    """
    from keystoneauth1.adapter import Adapter

    from stoker.cloud.named_login import session_of
    from stoker.processes.identity_setup import IdentityContents, IdentitySetup
    from stoker.processes.lifetime import cluster_config

    config = cluster_config(config_files)
    cloud = _administrator(os_cloud)
    if not regions:
        regions = (config.region_name_for_services or cloud.region_name or _DEFAULT_REGION,)
    cfn_url = cfn_url or config.heat_metadata_server_url
    urls = {"orchestration": _endpoints(api_url, internal_api_url, "/v1/%(project_id)s")}
    if cfn_url:
        urls["cloudformation"] = _endpoints(cfn_url, internal_cfn_url, "/v1")
    contents = IdentityContents.of(config, regions, urls)
    identity = Adapter(
        session_of(cloud),
        service_type="identity",
        interface=(cloud.interface or "public").removesuffix("URL"),
        region_name=cloud.region_name,
        min_version="3",
        max_version="3.latest",
    )
    return list(IdentitySetup(identity, dry=dry).run(contents))


def _administrator(os_cloud: str | None) -> NamedCloud:
    from stoker.cli.client.connection import cloud_from_environment
    from stoker.cloud.clouds_yaml import read_cloud

    if os_cloud:
        return read_cloud(os_cloud)
    if os.environ.get("OS_AUTH_URL"):
        return cloud_from_environment(os.environ)
    raise CommandFailed("There is no login: name an administrator's with --os-cloud, OS_CLOUD or the OS_* variables.")


def _endpoints(public: str, internal: str | None, path: str) -> Mapping[str, str]:
    other = internal or public
    return {
        interface: (public if interface == "public" else other).rstrip("/").removesuffix("/v1") + path
        for interface in _INTERFACES
    }
