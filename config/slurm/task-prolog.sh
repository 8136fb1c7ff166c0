#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TaskProlog= of slurm.conf: runs before each task as the job's user, without a PATH. What it prints as
# `export NAME=value` is set in the task's environment. Who has set NCCL_PROFILER_PLUGIN keeps it; `none` is no plugin.
plugin=/opt/nccl-sentinel/libnccl-profiler-sentinel.so

if [[ -z ${NCCL_PROFILER_PLUGIN:-} && -r $plugin ]]; then
  echo "export NCCL_PROFILER_PLUGIN=$plugin"
fi
