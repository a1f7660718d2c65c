# The functions of DevStack that the plug-in calls: each records its call, and does as much as the plug-in depends on.
set -o errexit

record() { (IFS=$'\t'; echo "$*" >> "$CALLS"); }

define_plugin() { record define_plugin "$@"; }
enable_service() { record enable_service "$@"; ENABLED+=" $*"; }
disable_service() { record disable_service "$@"; }
is_service_enabled() { [[ " $ENABLED " == *" $1 "* ]]; }
echo_summary() { record echo_summary "$@"; }
iniset() { record iniset "$@"; }
iniset_rpc_backend() { record iniset "$2" DEFAULT transport_url rabbit://stackrabbit:secret@127.0.0.1:5672/; }
configure_keystone_authtoken_middleware() {
    record iniset "$1" keystone_authtoken username "$2"
    record iniset "$1" keystone_authtoken auth_type password
    record iniset "$1" keystone_authtoken auth_url http://127.0.0.1/identity
    record iniset "$1" keystone_authtoken password secret
}
database_connection_url() { echo "mysql+pymysql://root:secret@127.0.0.1/$1?charset=utf8"; }
recreate_database() { record recreate_database "$@"; }
generate_hex_string() { head -c "$1" /dev/urandom | od -An -tx1 | tr -d ' \n'; }
run_process() { record run_process "$@"; }
stop_process() { record stop_process "$@"; }
wait_for_service() { record wait_for_service "$@"; }
die() { record die "$@"; exit 1; }
sudo() { "$@"; }

python3() { # python3 -I -m venv DIRECTORY
    mkdir -p "$4/bin"
    local name
    for name in pip stoker; do
        printf '#!/bin/bash\n(IFS=$'"'\\\\t'"'; echo "%s"$'"'\\\\t'"'"$*" >> "$CALLS")\n' "$name" > "$4/bin/$name"
        chmod +x "$4/bin/$name"
    done
}
