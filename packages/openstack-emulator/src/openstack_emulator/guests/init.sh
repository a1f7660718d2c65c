# The system of a guest: boots it, and shuts it down at SIGTERM. In namespaces, it is the first process, and collects
# processes that have ended.
# Runs in the shell of the guest's image, whatever it is.

seed=/var/lib/cloud/seed/config_drive/openstack/latest
halting=

boot() {
    if command -v cloud-init >/dev/null; then
        cloud-init init --local
        cloud-init init
        start_ssh
        cloud-init modules --mode=config
        cloud-init modules --mode=final
    else
        start_ssh
        run_user_data
    fi
    start_services
    echo "The guest $(cat /proc/sys/kernel/hostname) has booted."
}

start_ssh() {
    [ -x /usr/sbin/sshd ] || return 0
    ls /etc/ssh/ssh_host_*_key >/dev/null 2>&1 || return 0
    mkdir -p /run/sshd && /usr/sbin/sshd
}

# The services of the image run until the guest shuts down: one that ends is started again.
start_services() {
    for service in /usr/share/stoker/services/*; do
        [ -x "$service" ] && keep_running "$service" &
    done
}

keep_running() {
    while :; do
        "$1"
        echo "The service ${1##*/} ended with status $?."
        sleep 2
    done
}

# Without cloud-init, user data that is a script is run once, at the first boot of the server, as CirrOS does. The disk
# may have been that of another server. A script below a line `#cloud-boothook` is run at each boot, as by cloud-init.
run_user_data() {
    done=/var/lib/cloud/user-data-has-run
    [ -e "$seed/user_data" ] || return 0
    if [ "$(head -c 15 "$seed/user_data")" = '#cloud-boothook' ]; then
        tail -n +2 "$seed/user_data" >/run/user-data
        run_script
        return
    fi
    read -r server <"$seed/meta_data.json"
    server=${server#*\"uuid\":\"}
    server=${server%%\"*}
    if [ "$(cat "$done" 2>/dev/null)" = "$server" ]; then
        echo "The user data has run at the first boot of the server, and is not run again. What it has started does not" \
            "run any more: a script below a line #cloud-boothook is run at each boot."
        return 0
    fi
    echo "$server" >"$done"
    case $(head -c 2 "$seed/user_data") in
    '#!')
        cp "$seed/user_data" /run/user-data
        run_script
        ;;
    *) echo "The user data is not a script, and the image has no cloud-init: it is ignored." ;;
    esac
}

run_script() {
    chmod 700 /run/user-data && /run/user-data
    status=$?
    [ "$status" -eq 0 ] || echo "The user data script ended with status $status."
}

# Whether there are processes besides this one and the first one. Threads of the kernel have no command.
others_run() {
    for place in /proc/[0-9]*/cmdline; do
        words=
        case $place in
        /proc/1/* | /proc/$$/*) ;;
        *) read -r words <"$place" || [ -n "$words" ] && return 0 ;;
        esac
    done 2>/dev/null
    return 1
}

shut_down() {
    trap '' TERM
    echo "Shutting down."
    kill -TERM -1 2>/dev/null
    tries=0
    while [ "$tries" -lt 20 ] && others_run; do
        sleep 0.1
        tries=$((tries + 1))
    done
    exit 0
}

trap 'halting=yes' TERM
boot </dev/null &
while [ -z "$halting" ]; do
    sleep 100000 &
    wait
done
shut_down
