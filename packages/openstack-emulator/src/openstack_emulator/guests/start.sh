# Boots a virtual machine, and shuts it down when its power button is pressed. Run by the first process of the image
# (boot.sh), from the config drive.

drive=/var/lib/cloud/seed/config_drive
stoker=$drive/stoker

mount -o remount,rw /
cat "$stoker/hostname" >/proc/sys/kernel/hostname
cp -r "$stoker/files/." /
modprobe -a virtio_net button evdev pvpanic-pci

# The addresses of an interface are those that the DHCP server of its network gives.
connect() {
    ip link set "$1" up
    connect_6 "$1" &
    dhclient -1 -q -cf "$stoker/dhclient.conf" -pf "/run/dhclient.$1.pid" -lf "/run/dhclient.$1.leases" "$1" ||
        echo "The interface $1 got no address by DHCP."
    ip route replace 169.254.169.253/32 dev "$1" 2>/dev/null
}

# IPv6 addresses are those of router advertisements, which the kernel follows, and of a DHCPv6 server if there is one. A
# client needs the address that the interface makes itself.
connect_6() {
    tries=0
    while [ -z "$(ip -6 addr show dev "$1" scope link -tentative)" ] && [ "$tries" -lt 50 ]; do
        sleep 0.2
        tries=$((tries + 1))
    done
    dhclient -6 -1 -q -cf "$stoker/dhclient.conf" -pf "/run/dhclient6.$1.pid" -lf "/run/dhclient6.$1.leases" "$1" \
        >/dev/null 2>&1
}

connect_new() {
    for place in /sys/class/net/eth*; do
        name=${place##*/}
        [ ! -e "$place" ] || [ -e "/run/stoker.$name" ] || {
            : >"/run/stoker.$name"
            connect "$name" &
        }
    done
    for place in /run/stoker.eth*; do
        name=${place##*.}
        [ ! -e "$place" ] || [ -e "/sys/class/net/$name" ] || {
            rm -f "$place"
            kill $(cat "/run/dhclient.$name.pid" "/run/dhclient6.$name.pid") 2>/dev/null
        }
    done
}

watch_interfaces() {
    while sleep 1; do
        connect_new
    done
}

await_power_button() {
    for place in /sys/class/input/event*; do
        [ "$(cat "$place/device/name")" = "Power Button" ] || continue
        dd if="/dev/input/${place##*/}" bs=24 count=1 >/dev/null 2>&1 && kill -TERM "$1"
        return
    done
    echo "The guest has no power button: it cannot be shut down from outside."
}

ip link set lo up
connect_new
wait
watch_interfaces &

# The addresses of the cloud's catalog are loopback addresses of the cloud's machine.
echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet
nft -f "$stoker/cloud.nft"

/bin/sh "$stoker/init.sh" &
system=$!
await_power_button "$system" &
wait "$system"
sync
mount -o remount,ro /
echo o >/proc/sysrq-trigger
sleep 60
