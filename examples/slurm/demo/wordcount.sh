#!/bin/bash
# Counts the words of one chunk of text, a hundred lines at a time, and says after each how far it has come.
#SBATCH --output=wordcount-%a.out
#SBATCH --time=10
chunk=$1/chunk-$SLURM_ARRAY_TASK_ID
lines=$(wc -l <"$chunk")
if rm "$1/hang-$SLURM_ARRAY_TASK_ID" 2>/dev/null; then exec sleep infinity; fi # the first attempt of such a task
while mapfile -t -n 100 slice && ((${#slice[@]})); do
	printf '%s\n' "${slice[@]}"
	read -r pace <"$1/pace-$SLURMD_NODENAME" # seconds: by this one node is slow, and the 64 tasks share two processors
	sleep "$pace"
	echo "$((done += ${#slice[@]}))/$lines" >"$STRAGGLER_PROGRESS"
done <"$chunk" | tr -cs '[:alpha:]' '\n' | sort | uniq -c >"$STRAGGLER_OUT/count-$SLURM_ARRAY_TASK_ID"
echo "task $SLURM_ARRAY_TASK_ID: $lines lines"
