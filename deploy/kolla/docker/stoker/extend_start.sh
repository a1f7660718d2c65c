#!/bin/bash
# kolla_start sources this file before it runs the command of config.json.

if [[ ! -d "/var/log/kolla/heat" ]]; then
    mkdir -p /var/log/kolla/heat
fi
if [[ $(stat -c %a /var/log/kolla/heat) != "755" ]]; then
    chmod 755 /var/log/kolla/heat
fi

# The variable is set in the container that prepares the database, whatever its value.
if [[ "${!KOLLA_BOOTSTRAP[*]}" ]]; then
    stoker db sync --config-file /etc/heat/heat.conf
    exit 0
fi
