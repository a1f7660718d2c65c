#!/bin/sh
# The first process of a virtual machine of Stoker's emulated cloud: finds the config drive, where the cloud has put the
# rest of the boot.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

mounted() { mountpoint -q "$1" || mount -t "$2" -o "$3" "$2" "$1"; }
mounted /proc proc nosuid,nodev,noexec
mounted /sys sysfs nosuid,nodev,noexec
mounted /dev devtmpfs nosuid
mounted /run tmpfs nosuid,nodev,mode=755
mounted /tmp tmpfs nosuid,nodev
mkdir -p /dev/pts /dev/shm
mounted /dev/pts devpts nosuid,noexec,mode=620,ptmxmode=666
mounted /dev/shm tmpfs nosuid,nodev

modprobe -a virtio_scsi sd_mod vfat
drive=/var/lib/cloud/seed/config_drive
mkdir -p "$drive"
tries=0
until device=$(blkid -t LABEL=config-2 -o device) && mount -o ro "$device" "$drive"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "The guest has no config drive."; break; }
    sleep 0.1
done
[ -e "$drive/stoker/start.sh" ] && exec /bin/sh "$drive/stoker/start.sh"
echo "The config drive does not start the system."
echo o >/proc/sysrq-trigger
sleep 60
