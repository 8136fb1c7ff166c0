#!/usr/bin/env bash
# The whole chain on real GPUs: NCCL loads the plugin in a job of 8 ranks, one of which falls asleep for a while;
# nccl-exporter and Prometheus collect, `sentinel baseline build` learns, `sentinel backtest` has to name that rank.
#
# Needs two GPUs or more, the CUDA driver, torchrun with a PyTorch whose NCCL is 2.27 or newer, and sentinel,
# nccl-exporter and prometheus on PATH. Takes about 2.5 minutes. Exits 0 only when the right rank, and no other, is named.
#   RANKS=8 LATE_RANK=3 SLEEP_MS=1 tests/gpu/late-rank.sh [RESULT_FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ranks=${RANKS:-8} late_rank=${LATE_RANK:-3} sleep_ms=${SLEEP_MS:-1}
python=${PYTHON:-python3}
result=${1:-$(mktemp -d)}
work=$(mktemp -d)
mkdir -p "$result" "$work/source" "$work/mps" "$work/log"
pids=()
stop() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  echo quit | CUDA_MPS_PIPE_DIRECTORY=$work/mps nvidia-cuda-mps-control >/dev/null 2>&1 || true
  wait || true
  rm -rf "$work"
}
trap stop EXIT

free_port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
exporter=127.0.0.1:$(free_port)
prometheus=127.0.0.1:$(free_port)

nccl-exporter --source-dir "$work/source" --web.listen-address "$exporter" 2>"$result/exporter.log" &
pids+=($!)
cat >"$work/prometheus.yml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs: [{job_name: nccl, static_configs: [{targets: ["$exporter"]}]}]
YAML
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$result/tsdb" \
  --web.listen-address="$prometheus" 2>"$result/prometheus.log" &
pids+=($!)
cat >"$work/sentinel.toml" <<TOML
[prometheus]
url = "http://$prometheus"
[schedule]
tick = "2s"
[state]
directory = "$work/state"
TOML

# Several ranks share a GPU.
export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/log
nvidia-cuda-mps-control -d

NCCL_PROFILER_PLUGIN=${NCCL_PROFILER_PLUGIN:-$(sentinel plugin-path)} NCCL_SENTINEL_DIR=$work/source NCCL_SENTINEL_JOB=gpu-test \
  NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,PROFILE NCCL_DEBUG_FILE="$result/nccl.%p.log" \
  "$python" -m torch.distributed.run --nproc-per-node "$ranks" --master-port "$(free_port)" "$here/job.py" \
  --late-rank "$late_rank" --sleep-ms "$sleep_ms" --phases "$result/phases.json" >"$result/job.log" 2>&1 &
job=$!
pids+=("$job")

# One scrape while the job runs, to look at.
sleep 45
curl -sf "http://$exporter/metrics" >"$result/metrics.txt" || "$python" -c "
import sys, urllib.request
sys.stdout.write(urllib.request.urlopen('http://$exporter/metrics').read().decode())" >"$result/metrics.txt"
wait "$job" || { tail -n 40 "$result/job.log" >&2; exit 1; }

phase() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$result/phases.json" "$1"; }
export SENTINEL_DETECTION__BASELINE__WARM_UP=10s
sentinel baseline build --config "$work/sentinel.toml" --from "$(phase healthy)" --to "$(phase late)" | tee "$result/baseline.txt"
sentinel baseline show --config "$work/sentinel.toml" >>"$result/baseline.txt"
sentinel backtest --config "$work/sentinel.toml" --from "$(phase late)" --to "$(phase end)" --json >"$result/incidents.json" || true
cat "$result/incidents.json"
"$python" - "$result/incidents.json" "$late_rank" <<'PY'
import json
import sys

incidents = json.load(open(sys.argv[1]))["incidents"]
named = {rank for incident in incidents for rank in incident["ranks"]}
if named != {int(sys.argv[2])}:
    sys.exit(f"named {sorted(named)}, and rank {sys.argv[2]} was late")
print(f"rank {sys.argv[2]} named, and nobody else")
PY
