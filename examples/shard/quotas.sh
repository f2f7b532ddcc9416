#!/usr/bin/env bash
# Runs the tests of this repository's library on four "machines": processes whose processor time is limited by cgroups. The
# third machine is half as fast, and the fourth starts late. First by a plan for four equal machines, then by a queue:
#
#	sudo bash examples/shard/quotas.sh [LATE [QUOTA [package ...]]]
#
# LATE is in seconds (30), QUOTA in percent of a processor (40). It prints when each machine ends, its processor time, and the
# load of the host before each run.
set -euo pipefail
cd "$(dirname "$0")/../.."
late=${1:-30} quota=${2:-40}
shift $(($# < 2 ? $# : 2))
packages=("${@:-./...}")
dir=$(mktemp -d)
group=/sys/fs/cgroup/cpu
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then group=/sys/fs/cgroup; fi
trap 'kill "${server:-}" 2>/dev/null || true; for m in 1 2 3 4; do rmdir "$group/shard-$$-$m" 2>/dev/null || true; done; rm -rf "$dir"' EXIT
export GOMAXPROCS=1
flags='-short -count=1 -p=1'
go build -o "$dir/shard" ./examples/shard
go vet "${packages[@]}" # the packages are compiled before

for m in 1 2 3 4; do
  share=$((m == 3 ? quota / 2 : quota))
  mkdir "$group/shard-$$-$m"
  if [ -f "$group/shard-$$-$m/cpu.max" ]; then
    echo "$((share * 1000)) 100000" >"$group/shard-$$-$m/cpu.max"
    echo 1000 >"$group/shard-$$-$m/cpu.weight"
  else
    echo 100000 >"$group/shard-$$-$m/cpu.cfs_period_us"
    echo "$((share * 1000))" >"$group/shard-$$-$m/cpu.cfs_quota_us"
    echo 8192 >"$group/shard-$$-$m/cpu.shares"
  fi
done

# The large weights keep other processes from taking the machines' time.

# machine M COMMAND runs a command on a machine.
machine() {
  echo "$BASHPID" >"$group/shard-$$-$1/cgroup.procs"
  if [ "$1" = 4 ]; then sleep "$late"; fi
  TIMEFORMAT='%U %S'
  { time bash -c "$2" >"$dir/out-$1" 2>&1 || true; } 2>"$dir/time-$1"
  echo "machine $1 ends after $((SECONDS - begun)) s, with $(awk '{ print $1 + $2 }' "$dir/time-$1") s of processor time"
}

# round NAME runs the commands in the file of this name, a line for each machine.
round() {
  echo "$1 (load $(cut -d' ' -f1 /proc/loadavg))"
  begun=$SECONDS
  for m in 1 2 3 4; do machine "$m" "$(sed -n "${m}p" "$dir/$1")" & done >"$dir/ends"
  wait $(jobs -p | grep -vx "${server:-0}")
  sort "$dir/ends"
  echo "all end after $((SECONDS - begun)) s"
}

echo "history"
(echo "$BASHPID" >"$group/shard-$$-1/cgroup.procs"
  "$dir/shard" run -history "$dir/history" -jobs 1 -machine m -flags "$flags" "${packages[@]}" >"$dir/out" || true)
grep -E '^(run |--- FAIL)' "$dir/out"
"$dir/shard" plan -history "$dir/history" -n 4 -format sh -flags "$flags" "${packages[@]}" >"$dir/plan"
"$dir/shard" serve -listen 127.0.0.1:7177 -state "$dir/queues" >/dev/null &
server=$!
for m in 1 2 3 4; do
  cp "$dir/history" "$dir/history-$m"
  echo "'$dir/shard' work -queue http://127.0.0.1:7177/run -history '$dir/history-$m' -name $m -n 4 -jobs 1 -machine m -flags '$flags' ${packages[*]}"
done >"$dir/queue"
round plan
round queue
"$dir/shard" status -queue http://127.0.0.1:7177/run
