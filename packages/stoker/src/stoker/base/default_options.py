"""The options of the section `[DEFAULT]` of `heat.conf` that Stoker supports: see `options`."""

from __future__ import annotations

import ipaddress
import socket

from oslo_config import cfg, types


class _Network(types.ConfigType):
    """A network of IP addresses (`10.0.0.0/8`), stored as a string."""

    def __init__(self) -> None:
        super().__init__(type_name="network")

    def __call__(self, value: str) -> str:
        return str(ipaddress.ip_network(value))

    def _formatter(self, value: str) -> str:
        return value


PUBLIC_KEY = "notgood but just long enough i t"
"""The default of auth_encryption_key, which protects nothing because it is public."""

LIMITS = (
    cfg.IntOpt(
        "max_template_size",
        default=524288,
        min=0,
        help="Largest template, in bytes of UTF-8; one that is sent as a map counts as JSON without spaces.",
    ),
    cfg.IntOpt("max_json_body_size", default=1048576, min=0, help="Largest body of a request, in bytes."),
    cfg.IntOpt("max_resources_per_stack", default=1000, min=-1, help="Resources in a tree of stacks; -1: no limit."),
    cfg.IntOpt("max_nested_stack_depth", default=5, min=0, help="Levels of nested stacks below the root."),
    cfg.IntOpt("max_snapshots_per_stack", default=32, min=-1, help="Snapshots that a stack may have; -1: no limit."),
    cfg.BoolOpt("enable_stack_abandon", default=False, help="Whether stacks can be abandoned and exported."),
    cfg.BoolOpt("enable_stack_adopt", default=False, help="Whether stacks can be created from abandoned stacks' data."),
    cfg.IntOpt("max_stacks_per_tenant", default=512, min=-1, help="Stacks that a project may have; -1: no limit."),
    cfg.IntOpt(
        "max_software_configs_per_tenant", default=4096, min=-1, help="Software configs of a project; -1: no limit."
    ),
    cfg.IntOpt(
        "max_software_deployments_per_tenant",
        default=4096,
        min=-1,
        help="Software deployments of a project; -1: no limit.",
    ),
    cfg.IntOpt("max_events_per_stack", default=1000, min=0, help="Events kept for a stack; 0: all."),
    cfg.IntOpt("event_purge_batch_size", default=200, min=1, help="Events are removed in multiples of this."),
    cfg.IntOpt("max_server_name_length", default=53, min=12, max=53, help="Longest name given to a server."),
)

TIMING = (
    cfg.IntOpt("stack_action_timeout", default=3600, min=1, help="Default timeout of a stack action, in seconds."),
    cfg.IntOpt("action_retry_limit", default=5, min=0, help="Times an action is tried on a resource that fails."),
    cfg.IntOpt("client_retry_limit", default=2, min=0, help="Retries of a failed service call."),
    cfg.IntOpt(
        "max_concurrent_calls",
        default=512,
        min=2,
        help="Concurrent calls of a process to the services of the operator's cloud, and as many to clouds that users "
        "name; one project has at most half of them.",
    ),
    cfg.IntOpt(
        "max_concurrent_calls_per_service",
        default=256,
        min=1,
        help="Of these, for one project and one service; fewer after the service has refused calls because it is busy.",
    ),
    cfg.IntOpt("max_interface_check_attempts", default=10, min=1, help="Times a port's attachment is checked."),
    cfg.FloatOpt(
        "template_fetch_timeout",
        default=60,
        min=0,
        help="Seconds that fetching a template may take, from resolving its host up to the last byte.",
    ),
    cfg.IntOpt(
        "template_fetches_per_project",
        default=4,
        min=1,
        help="Templates that a process fetches concurrently for one project; for all projects, eight times as many.",
    ),
    cfg.ListOpt(
        "template_fetch_networks",
        default=[],
        item_type=_Network(),
        help="Networks with non-public addresses that templates may be fetched from by URL.",
    ),
    cfg.IntOpt(
        "cloud_answer_size",
        default=16 * 2**20,
        min=2**20,
        help="Bytes that an answer of a service of the operator's cloud may have.",
    ),
    cfg.ListOpt(
        "remote_cloud_networks",
        default=[],
        item_type=_Network(),
        help="Networks in which the credential of an OS::Heat::Stack may name a cloud although their addresses are not "
        "public.",
    ),
    cfg.ListOpt(
        "remote_cloud_auth_types",
        default=["password", "v3password", "token", "v3token", "v3applicationcredential"],
        help="Plug-ins of keystoneauth that the credential of an OS::Heat::Stack may log in with.",
    ),
    cfg.FloatOpt(
        "remote_cloud_timeout",
        default=60,
        min=0.1,
        help="Seconds that a login at a cloud that the credential of an OS::Heat::Stack names may take, redirects and "
        "retries included, and that each call of this cloud may take, up to the last byte.",
    ),
    cfg.IntOpt(
        "remote_cloud_answer_size",
        default=16 * 2**20,
        min=2**10,
        help="Bytes that an answer of a cloud that the credential of an OS::Heat::Stack names may have.",
    ),
)

IDENTITY = (
    cfg.StrOpt(
        "auth_encryption_key",
        default=PUBLIC_KEY,
        secret=True,
        help="Key that encrypts secrets in the database: 16 characters or more, the same for all engines; the default "
        "is refused. In a comma-separated list the first key encrypts and all decrypt, which allows rotation.",
    ),
    cfg.StrOpt(
        "deferred_auth_method",
        default="trusts",
        choices=["password", "trusts"],
        help="How to act later on a user's behalf; password is refused at start, since passwords are not stored.",
    ),
    cfg.ListOpt("trusts_delegated_roles", default=[], help="Roles that a trust delegates; empty: all of the user's."),
    cfg.BoolOpt(
        "allow_trusts_redelegation",
        default=False,
        help="Whether other services may create trusts with the trusts of stacks, as Zaqar does for triggers.",
    ),
    cfg.StrOpt("heat_stack_user_role", default="heat_stack_user", help="Role of the users that stacks create."),
    cfg.StrOpt("stack_user_domain_id", help="Domain of the users that stacks create, by id."),
    cfg.StrOpt("stack_user_domain_name", help="Domain of the users that stacks create, by name."),
    cfg.StrOpt("stack_domain_admin", help="User who may create users and projects in that domain."),
    cfg.StrOpt("stack_domain_admin_password", secret=True, help="Password of that user."),
    cfg.StrOpt("region_name_for_services", help="Region whose endpoints are used."),
    cfg.StrOpt("region_name_for_shared_services", help="Region of the services shared between regions."),
    cfg.ListOpt("shared_services_types", default=["image", "volumev3"], help="Types of the shared services."),
    cfg.StrOpt(
        "server_keystone_endpoint_type",
        default="",
        choices=["", "public", "internal", "admin"],
        help="Interface of the identity endpoint that is passed to servers.",
    ),
)

BEHAVIOUR = (
    cfg.StrOpt("host", default=socket.gethostname(), sample_default="<host name>", help="Name of this engine's host."),
    cfg.BoolOpt("observe_on_update", default=False, help="Compare with the cloud before every update of a stack."),
    cfg.BoolOpt(
        "preflight",
        default=True,
        help="Check the plan of every creation and update with the services' quotas and objects before the first "
        "change, and refuse what is known to fail.",
    ),
    cfg.ListOpt("preflight_skipped", default=[], help="Codes of the checks before the first change that are not made."),
    cfg.StrOpt(
        "plan_policies_dir",
        help="Directory with policies on plans, which every operation of every project must satisfy: the files in it "
        "whose names end with .yaml or .yml.",
    ),
    cfg.StrOpt(
        "price_list",
        help="File with the prices that plans tell their costs with: YAML, or CSV if the name ends with .csv.",
    ),
    cfg.StrOpt(
        "change_control_file",
        help="YAML file with what changes of all stacks need: approvals, windows, freezes.",
    ),
    cfg.IntOpt(
        "healing_interval",
        default=60,
        min=0,
        help="Seconds between the health checks of stacks with the tag stoker:heal that names no interval; 0 disables "
        "health checks and healing.",
    ),
    cfg.BoolOpt(
        "maintenance",
        default=False,
        help="Whether the cloud is under maintenance: then engines begin no repair of drift and no healing, whatever "
        "stacks have chosen. Looks for drift and what users request are not affected.",
    ),
    cfg.StrOpt(
        "drift_mode",
        default="off",
        choices=["off", "detect", "repair"],
        help="What engines do about drift by themselves, of stacks that have chosen nothing: compare them with the "
        "cloud regularly (detect), and also bring them back (repair).",
    ),
    cfg.IntOpt(
        "drift_interval",
        default=600,
        min=0,
        help="Seconds between two comparisons of a stack with the cloud; 0 disables them, whatever stacks have chosen.",
    ),
    cfg.IntOpt(
        "drift_calls_per_minute",
        default=300,
        min=1,
        help="Most calls of each service per minute for these comparisons.",
    ),
    cfg.IntOpt(
        "drift_replacements",
        default=5,
        min=0,
        help="Most objects that one repair may replace or make again; a repair of more does not begin.",
    ),
    cfg.BoolOpt(
        "restart_on_signal",
        default=True,
        help="Whether OS::Heat::HARestarter replaces the resource InstanceId when it is signalled; if not, it is a "
        "placeholder, as in Heat.",
    ),
    cfg.StrOpt(
        "default_publisher_id",
        sample_default="orchestration.<host name>",
        help="Publisher ID of notifications on the message bus.",
    ),
    cfg.StrOpt(
        "default_notification_level",
        default="INFO",
        ignore_case=True,
        choices=["DEBUG", "INFO", "WARN", "AUDIT", "SAMPLE", "ERROR", "CRITICAL"],
        help="Level of notifications that are not about failures; those are of level ERROR.",
    ),
    cfg.BoolOpt("stack_scheduler_hints", default=False, help="Pass a server's stack to the scheduler as hints."),
    cfg.ListOpt("hidden_stack_tags", default=[], help="Stacks with one of these tags are left out of lists."),
    cfg.StrOpt(
        "environment_dir",
        default="/etc/heat/environment.d",
        help="Directory whose *.yaml files are the operator's environment.",
    ),
    cfg.StrOpt(
        "template_dir",
        default="/etc/heat/templates",
        help="Directory of templates that the environment refers to without a path.",
    ),
    cfg.ListOpt(
        "plugin_dirs",
        default=["/usr/lib64/heat", "/usr/lib/heat"],
        help="Directories of modules that were written against Heat's plug-in interface. The package "
        "stoker-heat-plugins loads them.",
    ),
    cfg.URIOpt("heat_metadata_server_url", help="Base URL at which servers poll their metadata."),
    cfg.URIOpt("heat_waitcondition_server_url", help="URL at which servers signal wait conditions."),
    cfg.StrOpt("instance_connection_is_secure", default="0", help="1: agents in servers use HTTPS."),
    cfg.StrOpt(
        "instance_connection_https_validate_certificates",
        default="1",
        help="0: agents in servers accept any certificate.",
    ),
    cfg.StrOpt(
        "default_software_config_transport",
        default="POLL_SERVER_CFN",
        help="Default of how servers get their metadata: the name of a transport that an installed package offers.",
    ),
    cfg.StrOpt(
        "default_deployment_signal_transport",
        default="CFN_SIGNAL",
        help="Default of how servers signal the results of software deployments.",
    ),
    cfg.StrOpt(
        "default_user_data_format",
        default="HEAT_CFNTOOLS",
        choices=["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"],
        help="Default format of a server's user data.",
    ),
    cfg.StrOpt(
        "loadbalancer_template",
        help="File with the template of AWS::ElasticLoadBalancing::LoadBalancer, instead of the built-in one.",
    ),
    cfg.Opt("max_cinder_api_microversion", types.String(regex=r"^3\.\d+$"), help="Highest volume microversion used."),
    cfg.Opt("max_ironic_api_microversion", types.String(regex=r"^1\.\d+$"), help="Highest bare metal microversion."),
    cfg.Opt("max_nova_api_microversion", types.String(regex=r"^2\.\d+$"), help="Highest compute microversion used."),
)
