# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One droplet: its disk (an overlay on the root file system), its cgroup, its systemd-nspawn.

SSH_OPTIONS=(-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes)

running() { # NAME: whether its nspawn is alive
    local pid
    pid=$(cat "$RUN/$1/nspawn" 2>/dev/null) && [[ -d /proc/$pid ]]
}

droplet_up() { # NAME [OPTION]...
    local name=$1 release=bookworm root folder=$RUN/$1 disk=$DISKS/$1
    local -a binds=()
    shift
    while (($#)); do
        case $1 in
            --release) release=$2 ;;
            --bind) binds+=("--bind-ro=$2") ;;
            *) die "unknown option $1" ;;
        esac
        shift 2
    done
    command -v systemd-nspawn >/dev/null || die "systemd-nspawn is missing: apt-get install systemd-container"
    command -v nft >/dev/null || die "nft is missing: apt-get install nftables"
    lock_droplet "$name"
    mkdir -p "$folder"
    if running "$name"; then return 0; fi
    droplet_stop "$name"                                       # what an interrupted run may have left
    root=$(rootfs "$release")
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
    echo "$release" >"$folder/release"
    printf '%s\n' "${binds[@]}" >"$folder/binds"
    setsid "$HERE/droplet" _supervise "$name" >"$folder/console.log" 2>&1 {own}>&- </dev/null &
    wait_for_ssh "$name" || { tail -n 20 "$folder/console.log" >&2; die "$name does not answer on SSH after a minute"; }
    say "$name ($release) runs at $(address "$name")"
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

droplet_stop() { # NAME: end everything of it, as a power cut does
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

lock_droplet() { # NAME: until this process ends, so that an interrupted run that is still at it is not interfered with
    exec {own}>"$RUN/.$1.lock"
    flock "$own"
}

droplet_kill() { # NAME
    lock_droplet "$1"
    [[ -d $RUN/$1 ]] || die "there is no droplet $1"
    droplet_stop "$1"
}

droplet_down() { # NAME
    lock_droplet "$1"
    droplet_stop "$1"
    rm -rf "${DISKS:?}/$1" "${RUN:?}/$1"
    network_down
}

droplet_ssh() { # NAME [ARGUMENT]...
    local name=$1
    shift
    running "$name" || die "$name does not run"
    exec ssh -i "$KEY" "${SSH_OPTIONS[@]}" "admin@$(address "$name")" "$@"
}

wait_for_ssh() { # NAME
    local deadline=$((SECONDS + 60))
    until ssh -i "$KEY" "${SSH_OPTIONS[@]}" -o BatchMode=yes -o ConnectTimeout=2 "admin@$(address "$1")" true 2>/dev/null; do
        ((SECONDS < deadline)) || return 1
        sleep 0.2
    done
}
