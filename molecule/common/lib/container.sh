# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One droplet that is a container: its disk (an overlay on the root file system), its cgroup, its systemd-nspawn.

container_up() { # NAME RELEASE [BIND]...
    local name=$1 release=$2 root folder=$RUN/$1 disk=$DISKS/$1 shared
    local -a binds=("${@:3}")
    command -v systemd-nspawn >/dev/null || die "systemd-nspawn is missing: apt-get install systemd-container"
    command -v nft >/dev/null || die "nft is missing: apt-get install nftables"
    root=$(rootfs "$release" container)
    network_up
    take_address "$name"
    namespace_up "$name"
    mkdir -p "$disk/upper" "$disk/work" "$disk/root"
    mount -t overlay "$name" -o "lowerdir=$root,upperdir=$disk/upper,workdir=$disk/work" "$disk/root"
    echo "$name" >"$disk/root/etc/hostname"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$name" >"$disk/root/etc/hosts"
    ls "$disk"/root/etc/ssh/ssh_host_* >/dev/null 2>&1 || chroot "$disk/root" ssh-keygen -A >/dev/null
    for shared in models wheelhouse; do
        [[ ! -d $NEMOTRON_TEST_CACHE/$shared ]] || binds+=("--bind-ro=$NEMOTRON_TEST_CACHE/$shared:/srv/$shared")
    done
    printf '%s\n' "${binds[@]}" >"$folder/binds"
    setsid "$HERE/droplet" _supervise "$name" >"$folder/console.log" 2>&1 {own}>&- </dev/null &
    wait_for_ssh "$(address "$name")" 22 ||
        { tail -n 20 "$folder/console.log" >&2; die "$name does not answer on SSH after ten minutes"; }
}

droplet_supervise() { # NAME: run nspawn, and again when the droplet reboots: nspawn ends with 133 then
    local name=$1 status cgroup
    local -a binds
    mapfile -t binds <"$RUN/$name/binds"
    # nspawn keeps its payload in its own cgroup: two droplets started from one would kill each other's services.
    for cgroup in $(cgroups "$name"); do
        mkdir -p "$cgroup"
        echo $BASHPID >"$cgroup/cgroup.procs"
    done
    export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1            # cgroup v2 alone inside, whatever this machine has
    export SYSTEMD_NSPAWN_API_VFS_WRITABLE=network       # its own net.* sysctls
    while :; do
        status=0
        systemd-nspawn --quiet --directory="$DISKS/$name/root" --machine="$name" --register=no --keep-unit --boot \
            --network-namespace-path="/run/netns/$name" --capability=CAP_NET_ADMIN,CAP_BPF,CAP_PERFMON \
            --system-call-filter=bpf --console=read-only --resolv-conf=off --timezone=off --link-journal=no \
            --kill-signal=SIGRTMIN+3 ${binds[0]:+"${binds[@]}"} &
        echo $! >"$RUN/$name/nspawn"
        wait $! || status=$?
        ((status == 133)) || break
        # The power may have been cut meanwhile.
        [[ -e $RUN/$name/nspawn ]] || break
    done
}

cgroups() { # NAME: its folder in each hierarchy that holds processes
    local hierarchy
    for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
        if [[ -f $hierarchy/cgroup.procs ]]; then echo "$hierarchy/droplets/$1"; fi
    done
}

container_stop() { # NAME: end everything of it, as a power cut does
    local name=$1 cgroup
    rm -f "$RUN/$name/nspawn"
    for cgroup in $(cgroups "$name"); do empty_cgroup "$cgroup"; done
    namespace_down "$name"
    while mountpoint --quiet "$DISKS/$name/root"; do umount --lazy "$DISKS/$name/root"; done
}

empty_cgroup() { # FOLDER: kill what runs below it and remove it
    local cgroup=$1
    [[ -d $cgroup ]] || return 0
    for _ in $(seq 1 100); do
        # shellcheck disable=SC2046  # one word a process
        kill -KILL $(find "$cgroup" -name cgroup.procs -exec cat {} + 2>/dev/null) 2>/dev/null || true
        find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
        [[ -d $cgroup ]] || return 0
        sleep 0.1
    done
    die "cannot empty $cgroup"
}
