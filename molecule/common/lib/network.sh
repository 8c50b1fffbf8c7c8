# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One bridge for all droplets, and masquerading so that they reach the package registries. Droplets may answer this
# machine but not open connections to it.

BRIDGE=droplets0
NETWORK=10.77.0

network_up() {
    exec {lock}>"$RUN/.network.lock"
    flock "$lock"
    if ! ip link show "$BRIDGE" >/dev/null 2>&1; then
        [[ -z $(ip -4 route show "$NETWORK.0/24") ]] || die "this machine uses $NETWORK.0/24 already"
        ip link add "$BRIDGE" type bridge
        ip addr add "$NETWORK.1/24" dev "$BRIDGE"
        ip link set "$BRIDGE" up
    fi
    set_sysctl net/ipv4/ip_forward 1
    # A droplet takes about ten inotify instances; the kernel's default of 128 is gone at the fourteenth.
    set_sysctl fs/inotify/max_user_instances 2048
    nft list table inet droplets >/dev/null 2>&1 || firewall "$(ip -4 route show default | awk '{print $5; exit}')"
    exec {lock}>&-
}

firewall() { # UPLINK
    nft -f - <<I
table inet droplets {
    chain nat { type nat hook postrouting priority srcnat; ip saddr $NETWORK.0/24 oifname "$1" masquerade; }
    chain forward {
        type filter hook forward priority filter; policy accept;
        iifname "$BRIDGE" oifname "$1" accept
        oifname "$BRIDGE" ct state established,related accept
        oifname "$BRIDGE" iifname != "$BRIDGE" drop
    }
    chain input {
        type filter hook input priority filter; policy accept;
        iifname "$BRIDGE" ct state established,related accept
        iifname "$BRIDGE" ip protocol icmp accept
        iifname "$BRIDGE" drop
    }
}
I
}

network_down() { # when the last droplet is gone
    exec {lock}>"$RUN/.network.lock"
    flock "$lock"
    if ! ls -d "$RUN"/*/ >/dev/null 2>&1; then
        nft delete table inet droplets 2>/dev/null || true
        ip link del "$BRIDGE" 2>/dev/null || true
        restore_sysctl net/ipv4/ip_forward
        restore_sysctl fs/inotify/max_user_instances
    fi
    exec {lock}>&-
}

set_sysctl() { # NAME VALUE: and remember what it was
    local was=$RUN/.was-${1//\//.}
    [[ -f $was ]] || cat "/proc/sys/$1" >"$was"
    echo "$2" >"/proc/sys/$1"
}

restore_sysctl() { # NAME
    local was=$RUN/.was-${1//\//.}
    [[ -f $was ]] || return 0
    cat "$was" >"/proc/sys/$1"
    rm -f "$was"
}

take_address() { # NAME: the same again while its folder is there
    local name=$1 number
    [[ ! -s $RUN/$name/address ]] || return 0
    exec {lock}>"$RUN/.address.lock"
    flock "$lock"
    for number in $(seq 11 250); do
        grep -qsx "$NETWORK.$number" "$RUN"/*/address || break
    done
    echo "$NETWORK.$number" >"$RUN/$name/address"
    exec {lock}>&-
}

namespace_up() { # NAME: a network namespace with one interface, eth0, on the bridge
    local name=$1 address
    address=$(address "$name")
    namespace_down "$name"
    ip netns add "$name"
    ip link add "v-$name" type veth peer name eth0 netns "$name"
    ip link set "v-$name" master "$BRIDGE" up
    ip -n "$name" link set lo up
    ip -n "$name" addr add "$address/24" dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" route add default via "$NETWORK.1"
}

namespace_down() { # NAME
    ip netns del "$1" 2>/dev/null || true
    ip link del "v-$1" 2>/dev/null || true
}
