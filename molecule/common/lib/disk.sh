# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Disks of virtual machines: what a provider's image has. Made once for each release and kind, without loop devices or
# mounts; a first boot then lets the system install its own boot loader, as an installer would have.

ROOT_GIB=12
ESP_MIB=64
SECTOR=512
FIRST_SECTOR=2048                                    # where the first partition begins, by tradition

disk() { # RELEASE vm|secureboot: print the path of its disk; make it when it is not there
    local release=$1 kind=$2 disk=$CACHE/$1-$2.raw
    exec {lock}>"$CACHE/.$release-$kind.disk.lock"
    flock "$lock"
    [[ -f $disk ]] || make_disk "$release" "$kind" "$disk"
    exec {lock}>&-
    echo "$disk"
}

make_disk() { # RELEASE KIND DISK
    local release=$1 kind=$2 disk=$3 root uuid part=$3.part
    root=$(rootfs "$release" "$kind")
    say "making the disk of $release, $kind (a minute, once)"
    uuid=$(</proc/sys/kernel/random/uuid)
    furnish "$root" "$kind" "$uuid"
    rm -f "$part"
    truncate -s "${ROOT_GIB}G" "$part"
    "partition_$kind" "$part" "$root" "$uuid"
    first_boot "$kind" "$part" "$root" "$uuid" "${disk%.raw}"
    mv "$part" "$disk"
}

furnish() { # ROOT KIND UUID: what the system on a disk has that one in a container has not
    local root=$1 kind=$2 uuid=$3 kernel
    kernel=$(kernel_of "$root")
    echo "UUID=$uuid / ext4 errors=remount-ro 0 1" >"$root/etc/fstab"
    echo droplet >"$root/etc/hostname"
    printf '127.0.0.1 localhost\n127.0.1.1 droplet\n' >"$root/etc/hosts"
    printf '[Match]\nName=en* eth*\n[Network]\nDHCP=ipv4\n' >"$root/etc/systemd/network/10-wired.network"
    rm -f "$root/etc/resolv.conf"
    echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"                 # QEMU's
    chroot "$root" systemctl --quiet enable systemd-networkd ssh
    chroot "$root" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer systemd-networkd-wait-online.service
    chroot "$root" ssh-keygen -A >/dev/null
    # As in the images of clouds: a drop-in has the command line, and /etc/default/grub is not asked.
    mkdir -p "$root/etc/default/grub.d" "$root/boot/grub"
    cp "$root/usr/share/grub/default/grub" "$root/etc/default/grub"
    cat >"$root/etc/default/grub.d/50-cloudimg-settings.cfg" <<I
# Cloud Image specific Grub settings for Generic Cloud Images
GRUB_TIMEOUT=0
GRUB_CMDLINE_LINUX_DEFAULT=""
GRUB_CMDLINE_LINUX="console=ttyS0"
GRUB_TERMINAL=console
I
    if [[ $kind == secureboot ]]; then
        mkdir -p "$root/boot/efi"
        echo "LABEL=ESP /boot/efi vfat umask=0077 0 1" >>"$root/etc/fstab"
    else
        echo 'grub-pc grub-pc/install_devices multiselect /dev/vda' | chroot "$root" debconf-set-selections
    fi
    # For the first boot alone; update-grub replaces it.
    printf 'linux /boot/vmlinuz-%s root=UUID=%s ro console=ttyS0\ninitrd /boot/initrd.img-%s\nboot\n' \
        "$kernel" "$uuid" "$kernel" >"$root/boot/grub/grub.cfg"
}

kernel_of() { (cd "$1/lib/modules" && ls); } # ROOT

partition_vm() { # DISK ROOT UUID
    printf 'label: dos\nstart=%s,type=83,bootable\n' "$FIRST_SECTOR" | sfdisk --quiet "$1"
    fill "$1" "$2" "$3" "$FIRST_SECTOR"
}

partition_secureboot() { # DISK ROOT UUID
    local disk=$1 root=$2 uuid=$3 esp=$1.esp sectors=$((ESP_MIB * 2048))
    printf 'label: gpt\nstart=%s,size=%s,type=uefi\nstart=%s,type=linux\n' \
        "$FIRST_SECTOR" "$sectors" "$((FIRST_SECTOR + sectors))" | sfdisk --quiet "$disk"
    rm -f "$esp"
    truncate -s "${ESP_MIB}M" "$esp"
    mkfs.vfat -n ESP "$esp" >/dev/null
    mmd -i "$esp" ::EFI ::EFI/BOOT ::EFI/debian
    mcopy -i "$esp" "$root/usr/lib/shim/shimx64.efi.signed" ::EFI/BOOT/BOOTX64.EFI
    mcopy -i "$esp" "$root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" ::EFI/BOOT/grubx64.efi
    # shellcheck disable=SC2016  # GRUB's own variables
    printf 'search.fs_uuid %s root\nset prefix=($root)/boot/grub\nconfigfile $prefix/grub.cfg\n' "$uuid" |
        mcopy -i "$esp" - ::EFI/debian/grub.cfg
    dd if="$esp" of="$disk" bs=$SECTOR seek="$FIRST_SECTOR" conv=notrunc,sparse status=none
    rm -f "$esp"
    fill "$disk" "$root" "$uuid" "$((FIRST_SECTOR + sectors))"
}

fill() { # DISK ROOT UUID SECTOR: a file system with what is in ROOT, from SECTOR on
    local kib=$((ROOT_GIB * 1024 * 1024 - $4 / 2 - 1024))               # the end is left to the second table of GPT
    mke2fs -q -F -t ext4 -U "$3" -d "$2" -E "offset=$(($4 * SECTOR)),lazy_itable_init=1,nodiscard" \
        -O ^metadata_csum_seed,^orphan_file "$1" "${kib}k"
}

first_boot() { # KIND DISK ROOT UUID NAME: install GRUB with the system's own tools
    local kind=$1 disk=$2 root=$3 uuid=$4 name=$5 port kernel pid install='grub-install /dev/vda'
    local -a how=()
    kernel=$(kernel_of "$root")
    port=$(free_port)
    if [[ $kind == secureboot ]]; then
        cp /usr/share/OVMF/OVMF_VARS_4M.ms.fd "$name.vars"
        mapfile -t how < <(firmware "$name.vars")
        install='grub-install --target=x86_64-efi --uefi-secure-boot'
    else
        how=(-kernel "$root/boot/vmlinuz-$kernel" -initrd "$root/boot/initrd.img-$kernel"
            -append "root=UUID=$uuid ro console=ttyS0")
    fi
    qemu "$disk" raw "$port" "$name" "${how[@]}"
    if ! wait_for_ssh 127.0.0.1 "$port"; then
        tail -n 5 "$name.serial" "$name.qemu.log" >&2
        pkill --pidfile "$name.pid" || true
        die "no SSH at the first boot"
    fi
    pid=$(<"$name.pid")                                                 # QEMU takes the file away at its end
    # Ends with the connection.
    ssh -i "$KEY" "${SSH_OPTIONS[@]}" -p "$port" admin@127.0.0.1 \
        "set -e; systemctl is-system-running --wait >/dev/null || true; sudo sh -c '$install && update-grub && sync && poweroff'" \
        >"$name.first-boot.log" 2>&1 || true
    for _ in $(seq 1 600); do
        [[ -d /proc/$pid ]] || break
        sleep 0.1
    done
    [[ ! -d /proc/$pid ]] || { kill "$pid"; die "the first boot did not end; see $name.first-boot.log"; }
    grep -q 'Found linux image' "$name.first-boot.log" || { cat "$name.first-boot.log" >&2; die "GRUB was not installed"; }
    rm -f "$name.monitor" "$name.console"
}
