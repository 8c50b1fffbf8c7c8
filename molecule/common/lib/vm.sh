# shellcheck shell=bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One droplet that is a virtual machine: its own kernel, boot loader and firmware, and reboots that are real. By software
# emulation, so that it runs wherever the tests do; a start takes half a minute.

VM_MIB=2048

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

firmware() { # VARIABLES: arguments for firmware that enforces Secure Boot, one on each line
    printf '%s\n' -machine q35,smm=on -global driver=cfi.pflash01,property=secure,value=on \
        -drive if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd \
        -drive "if=pflash,format=raw,unit=1,file=$1"
}

qemu() { # DISK FORMAT PORT NAME [ARGUMENT]...: start it in the background; files beside NAME have its state
    local disk=$1 format=$2 port=$3 name=$4
    shift 4
    (
        # Locks end with their holders; this process lives on.
        [[ -z ${own:-} ]] || exec {own}>&-
        [[ -z ${lock:-} ]] || exec {lock}>&-
        exec setsid qemu-system-x86_64 -accel tcg,thread=multi,tb-size=512 -cpu max -smp 2 -m "$VM_MIB" \
            -drive "file=$disk,format=$format,if=virtio,cache=unsafe,discard=unmap" \
            -netdev "user,id=n0,hostfwd=tcp:127.0.0.1:$port-:22" -device virtio-net-pci,netdev=n0,romfile= \
            -device virtio-rng-pci -display none -vga none \
            -chardev "socket,id=ser,path=$name.console,server=on,wait=off,logfile=$name.serial,logappend=off" \
            -serial chardev:ser -monitor "unix:$name.monitor,server=on,wait=off" -pidfile "$name.pid" "$@"
    ) >"$name.qemu.log" 2>&1 </dev/null &
}

vm_up() { # NAME RELEASE KIND
    local name=$1 release=$2 kind=$3 base folder=$RUN/$1 state=$DISKS/$1
    local -a how=()
    command -v qemu-system-x86_64 >/dev/null || die "qemu-system-x86_64 is missing: apt-get install qemu-system-x86 qemu-utils"
    base=$(disk "$release" "$kind")
    mkdir -p "$state"
    [[ -f $state/disk.qcow2 ]] || qemu-img create -q -f qcow2 -b "$base" -F raw "$state/disk.qcow2"
    [[ -s $folder/port ]] || free_port >"$folder/port"
    echo 127.0.0.1 >"$folder/address"
    if [[ $kind == secureboot ]]; then
        command -v mcopy >/dev/null && [[ -d /usr/share/OVMF ]] || die "OVMF is missing: apt-get install ovmf mtools dosfstools"
        [[ -f $state/vars.fd ]] || cp "${base%.raw}.vars" "$state/vars.fd"
        mapfile -t how < <(firmware "$state/vars.fd")
    fi
    qemu "$state/disk.qcow2" qcow2 "$(<"$folder/port")" "$folder/vm" "${how[@]}"
    wait_for_ssh 127.0.0.1 "$(<"$folder/port")" ||
        { tail -n 20 "$folder/vm.serial" "$folder/vm.qemu.log" >&2; die "$name does not answer on SSH after ten minutes"; }
    ssh -i "$KEY" "${SSH_OPTIONS[@]}" -p "$(<"$folder/port")" admin@127.0.0.1 \
        "sudo sh -c 'sed -i s/^127.0.1.1.*/127.0.1.1\ $name/ /etc/hosts && hostnamectl set-hostname $name'"
}

vm_stop() { # NAME: as a power cut does
    local pid
    pid=$(cat "$RUN/$1/vm.pid" 2>/dev/null) || return 0
    rm -f "$RUN/$1/vm.pid"
    kill -KILL "$pid" 2>/dev/null || true
    while [[ -d /proc/$pid ]]; do sleep 0.1; done
}
