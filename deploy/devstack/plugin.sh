#!/usr/bin/env bash
# Plug-in for DevStack: `enable_plugin stoker URL` in local.conf. See devstack/README.md.
#
# DevStack sources this file once per phase, with the mode and the phase as arguments. The functions that are not defined
# here (iniset, run_process …) are DevStack's.

STOKER_CONF=$STOKER_CONF_DIR/heat.conf

function install_stoker {
    local driver=mysql
    if is_service_enabled postgresql; then
        driver=postgresql
    fi
    # An environment of its own: nothing depends on the releases that the other services have.
    python3 -I -m venv "$STOKER_VENV"
    "$STOKER_VENV/bin/pip" install --editable "$STOKER_DIR/packages/stoker-foundation" \
        --editable "$STOKER_DIR/packages/stoker[$driver]" "$STOKER_DIR/packages/stoker-heat-commands"
}

function configure_stoker {
    sudo install -d -o "$STACK_USER" -m 750 "$STOKER_CONF_DIR"
    rm -f "$STOKER_CONF"
    (umask 077 && touch "$STOKER_CONF")

    iniset "$STOKER_CONF" DEFAULT debug "${ENABLE_DEBUG_LOG_LEVEL:-True}"
    # In every phase the same key: without it, the secrets in the database cannot be decrypted.
    local key_file=$STOKER_CONF_DIR/encryption-key
    if [[ ! -e $key_file ]]; then
        (umask 077 && generate_hex_string 16 > "$key_file")
    fi
    iniset "$STOKER_CONF" DEFAULT auth_encryption_key "$(< "$key_file")"
    iniset "$STOKER_CONF" DEFAULT region_name_for_services "$REGION_NAME"
    iniset "$STOKER_CONF" DEFAULT heat_metadata_server_url "http://$SERVICE_HOST:$STOKER_CFN_PORT"
    iniset "$STOKER_CONF" DEFAULT heat_waitcondition_server_url "http://$SERVICE_HOST:$STOKER_CFN_PORT/v1/waitcondition"
    iniset "$STOKER_CONF" DEFAULT stack_user_domain_name "$STOKER_DOMAIN"
    iniset "$STOKER_CONF" DEFAULT stack_domain_admin heat_domain_admin
    iniset "$STOKER_CONF" DEFAULT stack_domain_admin_password "$SERVICE_PASSWORD"
    iniset "$STOKER_CONF" database connection "$(database_connection_url heat)"
    iniset "$STOKER_CONF" heat_api bind_port "$STOKER_API_PORT"
    iniset "$STOKER_CONF" heat_api_cfn bind_port "$STOKER_CFN_PORT"
    iniset "$STOKER_CONF" clients_keystone auth_uri "$KEYSTONE_SERVICE_URI"
    iniset_rpc_backend heat "$STOKER_CONF"
    configure_keystone_authtoken_middleware "$STOKER_CONF" heat

    local number
    for (( number = 1; number <= STOKER_ENGINES; number++ )); do
        iniset "$STOKER_CONF_DIR/engine-$number.conf" DEFAULT host "$(hostname)-$number"
    done
}

function init_stoker {
    recreate_database heat
    "$STOKER_VENV/bin/stoker" db sync --config-file "$STOKER_CONF"
    "$STOKER_VENV/bin/stoker" keystone-setup --config-file "$STOKER_CONF" --os-cloud devstack-admin \
        --api-url "http://$SERVICE_HOST:$STOKER_API_PORT" --cfn-url "http://$SERVICE_HOST:$STOKER_CFN_PORT"
}

function start_stoker {
    local number
    for (( number = 1; number <= STOKER_ENGINES; number++ )); do
        run_process "$(stoker_engine_service "$number")" "$STOKER_VENV/bin/stoker engine --config-file $STOKER_CONF \
--config-file $STOKER_CONF_DIR/engine-$number.conf"
    done
    run_process stoker-api "$STOKER_VENV/bin/stoker api --config-file $STOKER_CONF"
    run_process stoker-api-cfn "$STOKER_VENV/bin/stoker api-cfn --config-file $STOKER_CONF"
    if ! wait_for_service "${SERVICE_TIMEOUT:-60}" "http://$SERVICE_HOST:$STOKER_API_PORT/healthcheck"; then
        die $LINENO "stoker-api does not answer"
    fi
}

# The first engine has the name that `enable_service` knows.
function stoker_engine_service {
    if [[ $1 -eq 1 ]]; then
        echo stoker-engine
    else
        echo "stoker-engine-$1"
    fi
}

function stop_stoker {
    local number
    stop_process stoker-api
    stop_process stoker-api-cfn
    for (( number = 1; number <= STOKER_ENGINES; number++ )); do
        stop_process "$(stoker_engine_service "$number")"
    done
}

function clean_stoker {
    sudo rm -rf "$STOKER_CONF_DIR" "$STOKER_VENV"
}

if is_service_enabled stoker-engine; then
    case "$1 ${2:-}" in
        "stack install")
            echo_summary "Installing Stoker"
            install_stoker
            ;;
        "stack post-config")
            echo_summary "Configuring Stoker"
            configure_stoker
            init_stoker
            ;;
        "stack extra")
            echo_summary "Starting Stoker"
            start_stoker
            ;;
    esac
    case "$1" in
        unstack) stop_stoker ;;
        clean) clean_stoker ;;
    esac
fi
