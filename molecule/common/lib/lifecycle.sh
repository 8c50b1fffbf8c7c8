# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What can be done with a droplet, whatever it is made of.

SSH_OPTIONS=(-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes)

address() { cat "$RUN/$1/address"; }

port() { cat "$RUN/$1/port" 2>/dev/null || echo 22; } # NAME

running() { # NAME: whether its nspawn or QEMU is alive
    local pid
    pid=$(cat "$RUN/$1/nspawn" 2>/dev/null || cat "$RUN/$1/vm.pid" 2>/dev/null) && [[ -d /proc/$pid ]]
}

droplet_up() { # NAME [OPTION]...
    local name=$1 release=bookworm kind=container folder=$RUN/$1
    local -a binds=()
    shift
    while (($#)); do
        case $1 in
            --release) release=$2 ;;
            --kind) kind=$2 ;;
            --bind) binds+=("--bind-ro=$2") ;;
            *) die "unknown option $1" ;;
        esac
        shift 2
    done
    [[ $kind =~ ^(container|vm|secureboot)$ ]] || die "the kind is container, vm or secureboot, not '$kind'"
    lock_droplet "$name"
    mkdir -p "$folder"
    if running "$name"; then return 0; fi
    droplet_stop "$name"                                       # what an interrupted run may have left
    printf '%s\n' "$release" >"$folder/release"
    if [[ $kind == container ]]; then
        container_up "$name" "$release" "${binds[@]}"
    else
        ((${#binds[@]} == 0)) || die "--bind is for containers"
        vm_up "$name" "$release" "$kind"
    fi
    say "$name ($release, $kind) runs at $(address "$name"), port $(port "$name")"
}

droplet_stop() { # NAME
    vm_stop "$1"
    container_stop "$1"
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
    exec ssh -i "$KEY" "${SSH_OPTIONS[@]}" -p "$(port "$name")" "admin@$(address "$name")" "$@"
}

wait_for_ssh() { # ADDRESS PORT
    local deadline=$((SECONDS + 600))
    until ssh -i "$KEY" "${SSH_OPTIONS[@]}" -o BatchMode=yes -o ConnectTimeout=2 -p "$2" "admin@$1" true 2>/dev/null; do
        ((SECONDS < deadline)) || return 1
        sleep 0.2
    done
}
