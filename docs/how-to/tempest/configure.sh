#!/bin/sh
# Prints a tempest.conf for the emulated cloud whose openrc-admin has been sourced.
set -eu

id() { openstack "$@" -f value -c id; }

openstack volume type show multiattach >/dev/null 2>&1 ||
    openstack volume type create multiattach --property multiattach="<is> True" >/dev/null
image=$(id image show cirros)
other_image=$(id image show cirros-0.6.2-x86_64-disk)
public=$(id network show public)

cat <<CONF
[DEFAULT]
log_file = tempest.log

[oslo_concurrency]
lock_path = locks

[auth]
use_dynamic_credentials = true
admin_username = $OS_USERNAME
admin_password = $OS_PASSWORD
admin_project_name = $OS_PROJECT_NAME
admin_domain_name = $OS_USER_DOMAIN_NAME
admin_system = all

[identity]
uri_v3 = $OS_AUTH_URL
auth_version = v3
v3_endpoint_type = public

[compute]
image_ref = $image
image_ref_alt = $other_image
flavor_ref = 42
flavor_ref_alt = 84
min_compute_nodes = 4
min_microversion = 2.1
max_microversion = 2.100
endpoint_type = public

[compute-feature-enabled]
change_password = true
resize = true
shelve_migrate = true
live_migrate_back_and_forth = true
block_migration_for_live_migration = true
volume_backed_live_migration = true
volume_multiattach = true
stable_rescue = true
swap_volume = true
personality = true
hostname_fqdn_sanitization = true
scheduler_enabled_filters = DifferentHostFilter,SameHostFilter,ServerGroupAffinityFilter,ServerGroupAntiAffinityFilter

[image-feature-enabled]
image_format_enforcement = false

[network]
public_network_id = $public
floating_network_name = public

[network-feature-enabled]
ipv6_subnet_attributes = true
port_security = true

[volume]
min_microversion = 3.0
max_microversion = latest
volume_type_multiattach = multiattach

[volume-feature-enabled]
manage_volume = true
manage_snapshot = true
extend_attached_volume = true
extend_attached_encrypted_volume = true

[validation]
run_validation = false

[service_available]
horizon = false

[enforce_scope]
keystone = true
nova = true
glance = true
neutron = true
cinder = true
CONF
