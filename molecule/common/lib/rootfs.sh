# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Root file systems: what a provider installs before the key holder sees the server. Made once for each release.

# A minimal server. Not here, as on many rented ones: python3-venv, python3-packaging, libnuma1, a compiler, apt's lists.
ROOTFS_PACKAGES=systemd,systemd-sysv,dbus,libpam-systemd,openssh-server,sudo,python3,python3-apt,apt-utils,ca-certificates
ROOTFS_PACKAGES+=,iproute2,iputils-ping,procps,netbase,curl,less

# A server with a kernel of its own.
VM_PACKAGES=linux-image-cloud-amd64,initramfs-tools,udev,kmod,e2fsprogs,pciutils
declare -A MORE_PACKAGES=(
    [container]=""
    [vm]=",$VM_PACKAGES,grub-pc"
    [secureboot]=",$VM_PACKAGES,grub-efi-amd64-signed,shim-signed,mokutil,efibootmgr,dosfstools"
)

rootfs() { # RELEASE KIND: print the path of its root file system; make it when it is not there
    local release=$1 kind=$2 root=$CACHE/$1-$2
    [[ $release == bookworm || $release == trixie ]] || die "the release is bookworm or trixie, not '$release'"
    exec {rootlock}>"$CACHE/.$release-$kind.lock"
    flock "$rootlock"
    [[ -d $root ]] || make_rootfs "$release" "$root" "${MORE_PACKAGES[$kind]}"
    exec {rootlock}>&-
    echo "$root"
}

make_rootfs() { # RELEASE ROOT PACKAGES
    local release=$1 root=$2 part=$2.part log=$2.log
    command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"
    say "making the root file system $(basename "$root") (a minute, once)"
    rm -rf "$part"
    apt_sources "$release" | mmdebstrap --quiet --format=directory --variant=minbase --include="$ROOTFS_PACKAGES$3" \
        --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "5"' "$release" "$part" - >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; die "mmdebstrap failed; its output is in $log"; }
    rm -f "$part/etc/apt/sources.list"
    rm -rf "$part/etc/apt/sources.list.d" "$part"/etc/ssh/ssh_host_*
    mkdir -p "$part/etc/apt/sources.list.d"
    apt_sources "$release" >"$part/etc/apt/sources.list.d/debian.sources"
    : >"$part/etc/machine-id"
    add_user "$part"
    copy_way_to_registries "$part"
    mv "$part" "$root"
}

apt_sources() { # RELEASE: the archives that this machine uses, for that release
    local release=$1 main security
    main=$(host_archive main) security=$(host_archive security)
    cat <<I
Types: deb
URIs: ${main:-https://deb.debian.org/debian}
Suites: $release $release-updates
Components: main contrib non-free non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: ${security:-https://deb.debian.org/debian-security}
Suites: $release-security
Components: main contrib non-free non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
I
}

host_archive() { # main|security: the address from which this machine gets Debian packages; nothing when it has none
    # shellcheck disable=SC2016  # apt-get's own variables
    apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 2>/dev/null |
        awk -v security="$1" '($2 ~ /-security$/) == (security == "security") {print $1; exit}'
}

add_user() { # ROOT: the user that a provider makes for the key
    local root=$1
    [[ -f $KEY ]] || ssh-keygen -q -t ed25519 -N '' -C droplet -f "$KEY"
    [[ -z ${SUDO_UID:-} ]] || chown "$SUDO_UID" "$KEY" "$KEY.pub" "$CACHE"
    chroot "$root" useradd --create-home --shell /bin/bash admin
    echo 'admin ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/admin"
    chmod 440 "$root/etc/sudoers.d/admin"
    install -d -m 700 "$root/home/admin/.ssh"
    install -m 600 "$KEY.pub" "$root/home/admin/.ssh/authorized_keys"
    chroot "$root" chown -R admin:admin /home/admin/.ssh
}

copy_way_to_registries() { # ROOT: how this machine reaches Debian and PyPI: certificates, name servers, settings
    local root=$1 file
    mkdir -p "$root/usr/local/share/ca-certificates"
    for file in /usr/local/share/ca-certificates/*.crt /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf.d/99* /etc/pip.conf; do
        if [[ -f $file ]]; then install -D -m 644 "$file" "$root$file"; fi
    done
    chroot "$root" update-ca-certificates >/dev/null 2>&1
    rm -f "$root/etc/resolv.conf"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
}
