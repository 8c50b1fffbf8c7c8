#!/bin/bash
# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The steps of site.yml as someone would type them on the server: the floor for "bare server to checked answer".
set -euo pipefail
model=/srv/models/smollm2-135m-instruct
sudo apt-get update -qq
sudo DEBIAN_FRONTEND=noninteractive apt-get install -qq python3-venv python3-packaging libnuma1 ca-certificates >/dev/null
sudo mkdir -p /opt/by-hand
cd /opt/by-hand
sudo python3 -m venv tools
sudo tools/bin/pip install --quiet --require-hashes --requirement /tmp/uv.txt
export UV_SYSTEM_CERTS=1
sudo -E tools/bin/uv venv --quiet --python 3.11 env
sudo -E tools/bin/uv pip sync --quiet --require-hashes --compile-bytecode --find-links /srv/wheelhouse \
    --python env/bin/python /tmp/vllm-0.32.0-cpu.txt
sudo cp -r "$model" model
(cd model && sha256sum -- * | sudo tee SHA256SUMS >/dev/null && sha256sum --quiet --check SHA256SUMS)
sudo useradd --system --home-dir /var/lib/by-hand --create-home by-hand
sudo tee /etc/systemd/system/by-hand.service >/dev/null <<'U'
[Service]
User=by-hand
Environment=VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1
ExecStart=/opt/by-hand/env/bin/python -m vllm.entrypoints.openai.api_server --model /opt/by-hand/model \
    --served-model-name model --host 127.0.0.1 --port 8000 --enforce-eager --max-model-len 2048
U
sudo systemctl daemon-reload
sudo systemctl start by-hand
until curl --silent --fail http://127.0.0.1:8000/health; do sleep 1; done
curl --silent --fail http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' -d '{
  "model": "model", "temperature": 0, "max_tokens": 32,
  "messages": [{"role": "user", "content": "What is the capital of Germany?"}]}' | grep --quiet Berlin
