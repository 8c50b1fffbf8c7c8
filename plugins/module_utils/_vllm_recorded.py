# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The options of some versions of vLLM as their own parsers told them, for hosts that have no vLLM yet.

Made by C(tools/record_vllm_options.py); 0.6.3, which has no such parser, by reading its C(vllm/engine/arg_utils.py) and
C(vllm/entrypoints/openai/cli_args.py). A line is an option: its names, its kind and type, limits (ge, gt, le, lt), the
names that turn a switch off beside C(no-NAME), and after C(in) the values that it can have.
"""

from __future__ import annotations

RECORDED = {
    "0.6.3": """
allow-credentials flag
allowed-headers value:loads
allowed-methods value:loads
allowed-origins value:loads
api-key value:str
block-size value:int in 8 16 32
chat-template value:str
code-revision value:str
collect-detailed-traces value:str
config-format value:str
cpu-offload-gb value:float
device value:str
disable-async-output-proc flag
disable-custom-all-reduce flag
disable-fastapi-docs flag
disable-frontend-multiprocessing flag
disable-log-requests flag
disable-log-stats flag
disable-logprobs-during-spec-decoding optional:str in true false
disable-sliding-window flag
distributed-executor-backend value:str in ray mp
download-dir value:str
dtype value:str in auto half float16 bfloat16 float float32
enable-auto-tool-choice flag
enable-chunked-prefill optional:str in true false
enable-lora flag
enable-prefix-caching flag
enable-prompt-adapter flag
enforce-eager flag
fully-sharded-loras flag
gpu-memory-utilization value:float
guided-decoding-backend value:str in outlines lm-format-enforcer
host value:str
ignore-patterns append:str
kv-cache-dtype value:str in auto fp8 fp8_e5m2 fp8_e4m3
limit-mm-per-prompt value:str
load-format value:str
long-lora-scaling-factors value:str
lora-dtype value:str in auto float16 bfloat16 float32
lora-extra-vocab-size value:int
lora-modules list:str
max-context-len-to-capture value:int
max-cpu-loras value:int
max-log-len value:int
max-logprobs value:int
max-lora-rank value:int
max-loras value:int
max-model-len value:int
max-num-batched-tokens value:int
max-num-seqs value:int
max-parallel-loading-workers value:int
max-prompt-adapter-token value:int
max-prompt-adapters value:int
max-seq-len-to-capture value:int
middleware append:str
mm-processor-kwargs value:loads
model value:str
model-loader-extra-config value:str
multi-step-stream-outputs optional:str in true false
ngram-prompt-lookup-max value:int
ngram-prompt-lookup-min value:int
num-gpu-blocks-override value:int
num-lookahead-slots value:int
num-scheduler-steps value:int
num-speculative-tokens value:int
otlp-traces-endpoint value:str
override-neuron-config value:loads
pipeline-parallel-size value:int
port value:int
preemption-mode value:str
prompt-adapters list:str
qlora-adapter-name-or-path value:str
quantization value:str
quantization-param-path value:str
ray-workers-use-nsight flag
response-role value:str
return-tokens-as-token-ids flag
revision value:str
root-path value:str
rope-scaling value:loads
rope-theta value:float
scheduler-delay-factor value:float
scheduling-policy value:str in fcfs priority
seed value:int
served-model-name list:str
skip-tokenizer-init flag
spec-decoding-acceptance-method value:str in rejection_sampler typical_acceptance_sampler
speculative-disable-by-batch-size value:int
speculative-disable-mqa-scorer flag
speculative-draft-tensor-parallel-size value:int
speculative-max-model-len value:int
speculative-model value:str
speculative-model-quantization value:str
ssl-ca-certs value:str
ssl-cert-reqs value:int
ssl-certfile value:str
ssl-keyfile value:str
swap-space value:float
tensor-parallel-size value:int
tokenizer value:str
tokenizer-mode value:str in auto slow mistral
tokenizer-pool-extra-config value:str
tokenizer-pool-size value:int
tokenizer-pool-type value:str
tokenizer-revision value:str
tool-call-parser value:str
tool-parser-plugin value:str
trust-remote-code flag
typical-acceptance-sampler-posterior-alpha value:float
typical-acceptance-sampler-posterior-threshold value:float
use-v2-block-manager flag
uvicorn-log-level value:str in debug info warning error critical trace
worker-use-ray flag
""",
    "0.32.0": """
additional-config value:union_dict_and_str
aggregate-engine-logging flag
all2all-backend value:str in allgather_reducescatter deepep_high_throughput deepep_low_latency deepep_v2
    flashinfer_all2allv flashinfer_nvlink_one_sided flashinfer_nvlink_two_sided moonep mori_high_throughput
    mori_low_latency naive nixl_ep pplx
allow-credentials switch
allow-deprecated-quantization switch
allowed-headers value:loads
allowed-local-media-path value:str
allowed-media-domains list:str
allowed-methods value:loads
allowed-origins value:loads
anthropic-disabled-thinking-effort value:str in auto high low max medium none xhigh
api-key list:str
api-server-count value:int
async-scheduling switch
attention-backend value:str
attention-config value:parse_dataclass
aux-output-config value:parse_dataclass
block-size value:int gt=0
chat-template value:str
chat-template-content-format value:str in auto openai string
code-revision value:str
cohere-format value:str
cohere-is-reasoning-model switch
collect-detailed-traces list:str in all model worker
compilation-config value:parse_dataclass
config value:str
config-format value:str
convert value:str in auto classify embed none
cp-kv-cache-interleave-size value:int
cpu-distributed-timeout-seconds value:int
cpu-offload-gb value:float ge=0
cpu-offload-params list:str
cudagraph-capture-sizes list:int
cudagraph-metrics switch
custom-histogram-buckets value:loads
data-parallel-address value:str
data-parallel-backend value:str
data-parallel-external-lb switch
data-parallel-hybrid-lb switch
data-parallel-multi-port-external-lb flag
data-parallel-rank value:int ge=0
data-parallel-rpc-port value:int ge=1 le=65535
data-parallel-size value:int ge=1
data-parallel-size-local value:int ge=0
data-parallel-start-rank value:int
data-parallel-supervisor-port value:int
dbo-decode-token-threshold value:int ge=0
dbo-prefill-token-threshold value:int ge=0
dcp-comm-backend value:str in a2a ag_rs
dcp-kv-cache-interleave-size value:int
dcp-q-replicate switch
decode-context-parallel-size value:int ge=1
default-chat-template-kwargs value:loads
default-mm-loras value:loads
device-ids value:<lambda>
diffusion-config value:loads
disable-access-log-for-endpoints value:str
disable-cascade-attn switch
disable-chunked-mm-input switch
disable-custom-all-reduce switch
disable-fastapi-docs switch
disable-hybrid-kv-cache-manager switch
disable-log-stats flag
disable-nccl-for-dp-synchronization switch
disable-sliding-window switch
disable-uvicorn-access-log switch
distributed-executor-backend value:str
distributed-timeout-seconds value:int
download-dir value:str
dp-supervisor-probe-failure-threshold value:int
dp-supervisor-probe-interval-s value:float
dp-supervisor-probe-timeout-s value:float
dp-sync-interval value:int ge=1
dtype value:str in auto bfloat16 float float16 float32 half
ec-manager-config value:parse_dataclass
ec-transfer-config value:parse_dataclass
elastic-ep-max-dp-size value:int ge=1
enable-auto-tool-choice switch
enable-batch-sharded-sampling switch
enable-chunked-prefill switch
enable-cumem-allocator switch
enable-dbo switch
enable-elastic-ep switch
enable-ep-weight-filter switch
enable-eplb switch
enable-expert-parallel switch
enable-fault-tolerance switch
enable-flash-late-interaction switch
enable-flashinfer-autotune switch
enable-force-include-usage switch
enable-hc-sp switch
enable-layerwise-nvtx-tracing switch
enable-log-deltas switch
enable-log-outputs switch
enable-log-requests switch
enable-logging-iteration-details switch
enable-lora switch
enable-mamba-cache-stochastic-rounding switch
enable-mamba-shared-prefix-checkpoint switch
enable-mfu-metrics switch
enable-mixed-moe-lora-format switch
enable-mm-embeds switch
enable-moe-shared-loras switch
enable-nccl-comm-suspend switch
enable-offline-docs switch
enable-per-request-metrics switch
enable-prefix-caching switch
enable-prompt-embeds switch
enable-prompt-tokens-details switch
enable-request-id-headers switch
enable-return-routed-experts switch
enable-scale-out switch
enable-server-load-tracking switch
enable-shm-tensor-arena switch
enable-sleep-mode switch
enable-ssl-refresh switch
enable-tokenizer-info-endpoint switch
enable-tower-connector-lora switch
enable-trace-replay switch
enforce-eager switch
engram-config value:parse_dataclass
eplb-config value:parse_dataclass
exclude-tools-when-tool-choice-none switch
expert-placement-strategy value:str in linear round_robin
fail-on-environ-validation switch
fault-tolerance-config value:parse_dataclass
fingerprint-mode value:str in custom full hash none
fingerprint-value value:str
fully-sharded-loras switch
gdn-prefill-backend value:str in flashinfer triton cutedsl aiter_flydsl
generation-config value:str
gpu-memory-utilization|device-memory-utilization value:float gt=0 le=1
grpc flag
grpc-port value:int
h11-max-header-count value:int
h11-max-incomplete-event-size value:int
headless flag
hf-config-path value:str
hf-overrides value:union_dict_and_str
hf-token optional:str
host value:str
ignore-patterns list:str
interleave-mm-strings switch
io-processor-plugin value:str
ir-op-priority value:parse_dataclass
jit-monitor-mode value:str in error warn
jit-monitor-verbose switch
kda-decode-backend value:str in auto native flashinfer triton
kda-prefill-backend value:str in auto triton flashkda flashinfer fused
kernel-config value:parse_dataclass
kv-cache-dtype value:str in auto bfloat16 float16 fp8 fp8_ds_mla fp8_e4m3 fp8_e5m2 fp8_inc fp8_per_token_head
    int4_per_token_head int8_per_token_head nvfp4 nvfp4_4over6 nvfp4_ds_mla turboquant_3bit_nc turboquant_4bit_nc
    turboquant_k3v4_nc turboquant_k8v4 ultraquant_4bit
kv-cache-dtype-skip-layers list:str
kv-cache-memory-bytes value:human_readable_int
kv-cache-metrics switch
kv-cache-metrics-sample value:float gt=0 le=1
kv-events-config value:parse_dataclass
kv-offloading-backend value:str in lmcache native
kv-offloading-size value:float
kv-sharing-fast-prefill switch
kv-transfer-config value:parse_dataclass
language-model-only switch
limit-mm-per-prompt value:loads
linear-backend value:<lambda> in aiter auto b12x conch cutlass deep_gemm emulation exllama fbgemm flashinfer_b12x
    flashinfer_cudnn flashinfer_cutedsl flashinfer_cutlass flashinfer_trtllm humming machete marlin torch triton xpu
    xpu_woq
load-format value:str
log-config-file value:str deprecated
log-error-stack switch
log-level value:str in CRITICAL ERROR WARNING INFO DEBUG NOTSET
logging-config value:parse_dataclass
logits-processors list:str
logprobs-mode value:str in processed_logits processed_logprobs raw_logits raw_logprobs
long-prefill-token-threshold value:int ge=0
long-prefill-token-threshold-adaptive switch
lora-dtype value:str in auto bfloat16 float16
lora-modules list:str
lora-target-modules list:str
mamba-backend value:str
mamba-block-size value:int gt=0
mamba-cache-dtype value:str in auto bfloat16 float16 float32
mamba-cache-mode value:str in align none
mamba-cache-philox-rounds value:int
mamba-ssm-cache-dtype value:str in auto bfloat16 float16 float32
mamba-ssu-algorithm value:str in auto horizontal simple vertical
master-addr value:str
master-port value:int
max-cpu-loras value:int
max-cudagraph-capture-size value:int
max-log-len value:int
max-logprobs value:int ge=-1
max-lora-cls-labels value:int ge=1
max-lora-rank value:int in 1 8 16 32 64 128 256 320 512
max-loras value:int ge=1
max-model-len value:human_readable_int_or_auto ge=-1
max-num-active-seqs value:int ge=1
max-num-batched-tokens value:human_readable_int ge=1
max-num-queued-reqs value:int ge=0
max-num-queued-tokens value:human_readable_int ge=0
max-num-scheduled-tokens value:human_readable_int ge=1
max-num-seqs value:int ge=1
max-parallel-loading-workers value:int ge=1
media-io-kwargs value:loads
middleware append:str
mm-device-do-normalize switch
mm-encoder-attn-backend value:str
mm-encoder-attn-dtype value:str in fp8
mm-encoder-fp8-scale-path value:str
mm-encoder-fp8-scale-save-margin value:float gt=0
mm-encoder-fp8-scale-save-path value:str
mm-encoder-only switch
mm-encoder-tp-mode value:str in data weights
mm-hasher-algorithm value:str in blake3 sha256 sha512
mm-ipc-gpu-memory-gb value:float ge=0
mm-processor-cache-gb value:float ge=0
mm-processor-cache-type value:str in lru shm
mm-processor-device value:str in auto cpu
mm-processor-kwargs value:loads
mm-shm-cache-max-object-size-mb value:int ge=0
mm-tensor-ipc value:str in direct_rpc torch_shm
model value:str
model-class-overrides value:loads
model-impl value:str
model-loader-extra-config value:union_dict_and_str
moe-backend value:<lambda> in aiter aiter_mega_moe aiter_triton_mxfp4_bf16 auto b12x batched_triton cutlass deep_gemm
    deep_gemm_mega_moe emulation flashinfer_b12x flashinfer_cutedsl flashinfer_cutlass flashinfer_moe_ep_cutedsl
    flashinfer_moe_ep_mega_deep_gemm flashinfer_trtllm flydsl hpc humming marlin rdna3 triton triton_unfused
nnodes value:int ge=1
node-rank value:int ge=0
num-gpu-blocks-override value:int
numa-bind switch
numa-bind-cpus list:str
numa-bind-nodes list:int
offload-backend value:str in auto prefetch uva
offload-group-size value:int ge=0
offload-num-in-group value:int ge=1
offload-params list:str
offload-prefetch-step value:int ge=0
optimization-level value:str
otlp-traces-endpoint value:str
override-generation-config value:loads
per-request-spec-decode-metrics value:str in detailed none summary
performance-mode value:str in balanced interactivity throughput
pipeline-parallel-size value:int ge=1
pooler-config value:parse_dataclass
port value:int
prefill-context-parallel-size value:int ge=1
prefill-schedule-interval value:int ge=1
prefix-cache-retention-interval value:int ge=0
prefix-caching-hash-algo value:str in sha256 sha256_cbor xxhash xxhash_cbor
prefix-match-unit value:int gt=0
profiler-config value:parse_dataclass
pt-load-map-location value:union_dict_and_str
quantization value:str
quantization-config value:parse_dataclass
ray-workers-use-nsight switch
reasoning-config value:parse_dataclass
reasoning-parser value:str
reasoning-parser-plugin value:str
renderer-num-workers value:int
replayssm-buffer-len value:int gt=0
response-role value:str
return-sampling-mask switch
return-tokens-as-token-ids switch
revision value:str
root-path value:str
runner value:str in auto draft generate pooling
safetensors-load-strategy value:str in eager lazy prefetch torchao
safetensors-prefetch-block-size value:human_readable_int ge=1
safetensors-prefetch-num-threads value:int ge=1
scheduler-cls value:str
scheduler-reserve-full-isl switch
scheduling-policy value:str in fcfs priority
seed value:int
served-model-name list:str
show-hidden-metrics-for-version value:str
shutdown-timeout value:int ge=0
skip-mm-profiling switch
skip-tokenizer-init switch
sleep-mode-offload-cudagraph switch
sleep-preserve-parameter-names list:str
sparse-indexer-topk-backend value:<lambda> in aiter auto cooperative deep_select flashinfer per_row persistent torch
spec-method value:str in bailing_hybrid_mtp bailing_hybrid_v3_mtp custom_class deepseek_mtp dflash dots3_note_mtp
    draft_model dspark eagle eagle3 ernie_mtp exaone4_5_mtp exaone_moe_mtp extract_hidden_states gemma4_mtp
    glm4_moe_lite_mtp glm4_moe_mtp glm5_next_mtp glm_ocr_mtp hy_v3_mtp hy_v4_mtp inkling_mtp kimi_k3_mtp
    longcat_flash_mtp medusa mimo_mtp mimo_v2_mtp minimax_m3_mtp mlp_speculator mtp nemotron_h_mtp ngram ngram_gpu
    pangu_ultra_moe_mtp qwen3_5_mtp qwen3_next_mtp qwen4_exp_mtp step3p5_mtp suffix
spec-model value:str
spec-tokens value:int
specialize-active-lora switch
speculative-config value:loads
sse-keep-alive-interval value:int
ssl-ca-certs value:str
ssl-cert-reqs value:int
ssl-certfile value:str
ssl-ciphers value:str
ssl-keyfile value:str
stream-interval value:int ge=1
structured-outputs-config value:parse_dataclass
swa-bounded-replay switch
tensor-parallel-size value:int ge=1
tokenizer value:str
tokenizer-mode value:str
tokenizer-revision value:str
tokens-only switch
tool-call-parser value:str
tool-parser-plugin value:str
tool-server value:str
tool-strict-level value:str in auto function parameter
trust-remote-code switch
trust-request-chat-template switch
trust-request-mm-kwargs switch
ubatch-size value:int ge=0
uds value:str
use-fp64-gumbel switch
use-replayssm switch
use-tqdm-on-load switch
uvicorn-log-level value:str in critical debug error info trace warning
video-pruning-method value:str in evs vidcom2
video-pruning-rate value:float ge=0 lt=1
watermark value:float ge=0 lt=1
watermark-config value:loads
weight-transfer-config value:parse_dataclass
worker-cls value:str
worker-extension-cls value:str
""",
    "0.33.0": """
additional-config value:union_dict_and_str
aggregate-engine-logging flag
all2all-backend value:str in allgather_reducescatter deepep_high_throughput deepep_low_latency deepep_v2
    flashinfer_all2allv flashinfer_nvlink_one_sided flashinfer_nvlink_two_sided moonep mori_high_throughput
    mori_low_latency naive nixl_ep pplx
allow-credentials switch
allow-deprecated-quantization switch
allowed-headers value:loads
allowed-local-media-path value:str
allowed-media-domains list:str
allowed-methods value:loads
allowed-origins value:loads
anthropic-disabled-thinking-effort value:str in auto high low max medium none xhigh
api-key list:str
api-server-count value:int
async-scheduling switch
attention-backend value:str
attention-config value:parse_dataclass
aux-output-config value:parse_dataclass
block-size value:int gt=0
chat-template value:str
chat-template-content-format value:str in auto openai string
code-revision value:str
cohere-format value:str
cohere-is-reasoning-model switch
collect-detailed-traces list:str in all model worker
compilation-config value:parse_dataclass
config value:str
config-format value:str
convert value:str in auto classify embed none
cp-kv-cache-interleave-size value:int
cpu-distributed-timeout-seconds value:int
cpu-offload-gb value:float ge=0
cpu-offload-params list:str
cudagraph-capture-sizes list:int
cudagraph-metrics switch
custom-histogram-buckets value:loads
data-parallel-address value:str
data-parallel-backend value:str
data-parallel-external-lb switch
data-parallel-hybrid-lb switch
data-parallel-multi-port-external-lb flag
data-parallel-rank value:int ge=0
data-parallel-rpc-port value:int ge=1 le=65535
data-parallel-size value:int ge=1
data-parallel-size-local value:int ge=0
data-parallel-start-rank value:int
data-parallel-supervisor-port value:int
dbo-decode-token-threshold value:int ge=0
dbo-prefill-token-threshold value:int ge=0
dcp-comm-backend value:str in a2a ag_rs
dcp-kv-cache-interleave-size value:int
dcp-q-replicate switch
decode-context-parallel-size value:int ge=1
default-chat-template-kwargs value:loads
default-mm-loras value:loads
device-ids value:<lambda>
diffusion-config value:loads
disable-access-log-for-endpoints value:str
disable-cascade-attn switch off=enable-cascade-attn
disable-chunked-mm-input switch off=enable-chunked-mm-input
disable-custom-all-reduce switch off=enable-custom-all-reduce
disable-fastapi-docs switch off=enable-fastapi-docs
disable-hybrid-kv-cache-manager switch off=enable-hybrid-kv-cache-manager
disable-log-stats flag
disable-nccl-for-dp-synchronization switch off=enable-nccl-for-dp-synchronization
disable-sliding-window switch off=enable-sliding-window
disable-uvicorn-access-log switch off=enable-uvicorn-access-log
distributed-executor-backend value:str
distributed-timeout-seconds value:int
download-dir value:str
dp-supervisor-probe-failure-threshold value:int
dp-supervisor-probe-interval-s value:float
dp-supervisor-probe-timeout-s value:float
dp-sync-interval value:int ge=1
dtype value:str in auto bfloat16 float float16 float32 half
ec-manager-config value:parse_dataclass
ec-transfer-config value:parse_dataclass
elastic-ep-max-dp-size value:int ge=1
enable-auto-tool-choice switch off=disable-auto-tool-choice
enable-batch-sharded-sampling switch off=disable-batch-sharded-sampling
enable-chunked-prefill switch off=disable-chunked-prefill
enable-cumem-allocator switch off=disable-cumem-allocator
enable-dbo switch off=disable-dbo
enable-elastic-ep switch off=disable-elastic-ep
enable-ep-weight-filter switch off=disable-ep-weight-filter
enable-eplb switch off=disable-eplb
enable-expert-parallel switch off=disable-expert-parallel
enable-fault-tolerance switch off=disable-fault-tolerance
enable-flash-late-interaction switch off=disable-flash-late-interaction
enable-flashinfer-autotune switch off=disable-flashinfer-autotune
enable-force-include-usage switch off=disable-force-include-usage
enable-hc-sp switch off=disable-hc-sp
enable-layerwise-nvtx-tracing switch off=disable-layerwise-nvtx-tracing
enable-log-deltas switch off=disable-log-deltas
enable-log-outputs switch off=disable-log-outputs
enable-log-requests switch off=disable-log-requests
enable-logging-iteration-details switch off=disable-logging-iteration-details
enable-lora switch off=disable-lora
enable-mamba-cache-stochastic-rounding switch off=disable-mamba-cache-stochastic-rounding
enable-mamba-shared-prefix-checkpoint switch off=disable-mamba-shared-prefix-checkpoint
enable-mfu-metrics switch off=disable-mfu-metrics
enable-mixed-moe-lora-format switch off=disable-mixed-moe-lora-format
enable-mm-embeds switch off=disable-mm-embeds
enable-moe-shared-loras switch off=disable-moe-shared-loras
enable-nccl-comm-suspend switch off=disable-nccl-comm-suspend
enable-offline-docs switch off=disable-offline-docs
enable-per-request-metrics switch off=disable-per-request-metrics
enable-prefix-caching switch off=disable-prefix-caching
enable-prompt-embeds switch off=disable-prompt-embeds
enable-prompt-tokens-details switch off=disable-prompt-tokens-details
enable-request-id-headers switch off=disable-request-id-headers
enable-return-routed-experts switch off=disable-return-routed-experts
enable-scale-out switch off=disable-scale-out
enable-server-load-tracking switch off=disable-server-load-tracking
enable-shm-tensor-arena switch off=disable-shm-tensor-arena
enable-sleep-mode switch off=disable-sleep-mode
enable-ssl-refresh switch off=disable-ssl-refresh
enable-tokenizer-info-endpoint switch off=disable-tokenizer-info-endpoint
enable-tower-connector-lora switch off=disable-tower-connector-lora
enable-trace-replay switch off=disable-trace-replay
enforce-eager switch
engram-config value:parse_dataclass
eplb-config value:parse_dataclass
exclude-tools-when-tool-choice-none switch
expert-placement-strategy value:str in linear round_robin
fail-on-environ-validation switch
fault-tolerance-config value:parse_dataclass
fingerprint-mode value:str in custom full hash none
fingerprint-value value:str
fully-sharded-loras switch
gdn-prefill-backend value:str in flashinfer triton cutedsl aiter_flydsl sycl
generation-config value:str
gpu-memory-utilization|device-memory-utilization value:float gt=0 le=1
grpc flag
grpc-port value:int
h11-max-header-count value:int
h11-max-incomplete-event-size value:int
headless flag
hf-config-path value:str
hf-overrides value:union_dict_and_str
hf-token optional:str
host value:str
ignore-patterns list:str
interleave-mm-strings switch
io-processor-plugin value:str
ir-op-priority value:parse_dataclass
jit-monitor-mode value:str in error warn
jit-monitor-verbose switch
kda-decode-backend value:str in auto native flashinfer triton
kda-prefill-backend value:str in auto triton flashkda flashinfer fused
kernel-config value:parse_dataclass
kv-cache-dtype value:str
kv-cache-dtype-skip-layers list:str
kv-cache-memory-bytes value:human_readable_int
kv-cache-metrics switch
kv-cache-metrics-sample value:float gt=0 le=1
kv-events-config value:parse_dataclass
kv-offloading-backend value:str in lmcache native
kv-offloading-size value:float
kv-sharing-fast-prefill switch
kv-transfer-config value:parse_dataclass
language-model-only switch
limit-mm-per-prompt value:loads
linear-backend value:<lambda> in aiter auto b12x conch cutlass deep_gemm emulation exllama fbgemm flashinfer_b12x
    flashinfer_cudnn flashinfer_cutedsl flashinfer_cutlass flashinfer_trtllm humming machete marlin torch triton xpu
    xpu_woq
load-format value:str
log-config-file value:str deprecated
log-error-stack switch
log-level value:str in CRITICAL ERROR WARNING INFO DEBUG NOTSET
logging-config value:parse_dataclass
logits-processors list:str
logprobs-mode value:str in processed_logits processed_logprobs raw_logits raw_logprobs
long-prefill-token-threshold value:int ge=0
long-prefill-token-threshold-adaptive switch
lora-dtype value:str in auto bfloat16 float16
lora-modules list:str
lora-target-modules list:str
mamba-backend value:str
mamba-block-size value:int gt=0
mamba-cache-dtype value:str in auto bfloat16 float16 float32
mamba-cache-mode value:str in align none
mamba-cache-philox-rounds value:int
mamba-ssm-cache-dtype value:str in auto bfloat16 float16 float32
mamba-ssu-algorithm value:str in auto horizontal simple vertical
master-addr value:str
master-port value:int
max-cpu-loras value:int
max-cudagraph-capture-size value:int
max-log-len value:int
max-logprobs value:int ge=-1
max-lora-cls-labels value:int ge=1
max-lora-rank value:int in 1 8 16 32 64 128 256 320 512
max-loras value:int ge=1
max-model-len value:human_readable_int_or_auto ge=-1
max-num-active-seqs value:int ge=1
max-num-batched-tokens value:human_readable_int ge=1
max-num-queued-reqs value:int ge=0
max-num-queued-tokens value:human_readable_int ge=0
max-num-scheduled-tokens value:human_readable_int ge=1
max-num-seqs value:int ge=1
max-parallel-loading-workers value:int ge=1
media-io-kwargs value:loads
middleware append:str
mm-device-do-normalize switch
mm-encoder-attn-backend value:str
mm-encoder-attn-dtype value:str in fp8
mm-encoder-fp8-scale-path value:str
mm-encoder-fp8-scale-save-margin value:float gt=0
mm-encoder-fp8-scale-save-path value:str
mm-encoder-only switch
mm-encoder-tp-mode value:str in data weights
mm-hasher-algorithm value:str in blake3 sha256 sha512
mm-ipc-gpu-memory-gb value:float ge=0
mm-processor-cache-gb value:float ge=0
mm-processor-cache-type value:str in lru shm
mm-processor-device value:str in auto cpu
mm-processor-kwargs value:loads
mm-shm-cache-max-object-size-mb value:int ge=0
mm-tensor-ipc value:str in direct_rpc torch_shm
model value:str
model-class-overrides value:loads
model-impl value:str
model-loader-extra-config value:union_dict_and_str
moe-backend value:<lambda> in aiter aiter_mega_moe aiter_triton_mxfp4_bf16 aiter_triton_mxfp4_mxfp4 auto b12x
    batched_triton cutlass deep_gemm deep_gemm_mega_moe emulation flashinfer_b12x flashinfer_cutedsl
    flashinfer_cutlass flashinfer_moe_ep_cutedsl flashinfer_moe_ep_mega_deep_gemm flashinfer_trtllm flydsl hpc humming
    marlin rdna3 triton triton_unfused
monokernel switch
nnodes value:int ge=1
node-rank value:int ge=0
num-gpu-blocks-override value:int
numa-bind switch
numa-bind-cpus list:str
numa-bind-nodes list:int
offload-backend value:str in auto prefetch uva
offload-group-size value:int ge=0
offload-num-in-group value:int ge=1
offload-params list:str
offload-prefetch-step value:int ge=0
optimization-level value:str
otlp-traces-endpoint value:str
override-generation-config value:loads
per-request-spec-decode-metrics value:str in detailed none summary
performance-mode value:str in balanced interactivity throughput
pipeline-parallel-size value:int ge=1
pooler-config value:parse_dataclass
port value:int
prefill-context-parallel-size value:int ge=1
prefill-schedule-interval value:int ge=1
prefix-cache-retention-interval value:int ge=0
prefix-caching-hash-algo value:str in sha256 sha256_cbor xxhash xxhash_cbor
prefix-match-unit value:int gt=0
profiler-config value:parse_dataclass
pt-load-map-location value:union_dict_and_str
quantization value:str
quantization-config value:parse_dataclass
ray-workers-use-nsight switch
reasoning-config value:parse_dataclass
reasoning-effort-map value:loads
reasoning-parser value:parse_reasoning_parser
reasoning-parser-plugin value:str
renderer-num-workers value:int
replayssm-buffer-len value:int gt=0
response-role value:str
return-sampling-mask switch
return-tokens-as-token-ids switch
revision value:str
root-path value:str
runner value:str in auto draft generate pooling
safetensors-load-strategy value:str in eager lazy prefetch torchao
safetensors-prefetch-block-size value:human_readable_int ge=1
safetensors-prefetch-num-threads value:int ge=1
scheduler-cls value:str
scheduler-reserve-full-isl switch
scheduling-policy value:str in fcfs priority
seed value:int
served-model-name list:str
show-hidden-metrics-for-version value:str
shutdown-timeout value:int ge=0
skip-mm-profiling switch
skip-tokenizer-init switch
sleep-mode-backend value:str
sleep-mode-offload-cudagraph switch
sleep-preserve-parameter-names list:str
sparse-indexer-topk-backend value:<lambda> in aiter auto cooperative deep_select flashinfer per_row persistent torch
spec-method value:str in bailing_hybrid_mtp bailing_hybrid_v3_mtp custom_class deepseek_mtp dflash dots3_note_mtp
    draft_model dspark eagle eagle3 ernie_mtp exaone4_5_mtp exaone_moe_mtp extract_hidden_states gemma4_mtp
    glm4_moe_lite_mtp glm4_moe_mtp glm5_next_mtp glm_ocr_mtp hy_v3_mtp hy_v4_mtp inkling_mtp kimi_k3_mtp
    longcat_flash_mtp mimo_mtp mimo_v2_mtp minimax_m3_mtp mtp nemotron_h_mtp ngram ngram_gpu pangu_ultra_moe_mtp
    qwen3_5_mtp qwen3_next_mtp qwen4_exp_mtp step3p5_mtp step5_mtp suffix
spec-model value:str
spec-tokens value:int
specialize-active-lora switch
speculative-config value:loads
sse-keep-alive-interval value:int
ssl-ca-certs value:str
ssl-cert-reqs value:int
ssl-certfile value:str
ssl-ciphers value:str
ssl-keyfile value:str
stream-interval value:int ge=1
structured-outputs-config value:parse_dataclass
swa-bounded-replay switch
tensor-parallel-size value:int ge=1
tokenizer value:str
tokenizer-mode value:str
tokenizer-revision value:str
tokens-only switch
tool-call-parser value:str
tool-parser-plugin value:str
tool-server value:str
tool-strict-level value:str in auto function parameter
trust-remote-code switch
trust-request-chat-template switch
trust-request-mm-kwargs switch
ubatch-size value:int ge=0
uds value:str
use-fp64-gumbel switch
use-replayssm switch
use-tqdm-on-load switch
uvicorn-log-level value:str in critical debug error info trace warning
video-pruning-method value:str in evs vidcom2
video-pruning-rate value:float ge=0 lt=1
watchdog-config value:parse_dataclass
watermark value:float ge=0 lt=1
watermark-config value:loads
weight-transfer-config value:parse_dataclass
worker-cls value:str
worker-extension-cls value:str
""",
}
