# Runs the user's script as one attempt of a task, and says in a file that it has run to its end, and how.
run={{.Run}}
attempt={{.Attempt}}
{{- range .Env}}
export {{.}}
{{- end}}
export STRAGGLER_ATTEMPT=$attempt STRAGGLER_PROGRESS=$run/$attempt.progress STRAGGLER_OUT=$run/$attempt.out
if ! true >"$run/$attempt.begun" || ! mkdir -p "$STRAGGLER_OUT"; then
	echo "straggler-slurm: $run cannot be written on $(hostname): it must be on a file system that all nodes share" >&2
	exit 1
fi
"$run/slurm_script" "$@" <&0 &
child=$!
# Slurm sends some signals to the batch script alone (sbatch --signal=B:...), and this is what it takes for it.
for signal in TERM HUP USR1 USR2; do trap "signalled=yes; kill -s $signal $child 2>/dev/null" "$signal"; done
code=127 signalled=yes
while [ "$signalled" ]; do # a signal ends the wait, but not always the script
	signalled=
	wait "$child" 2>/dev/null
	status=$?
	[ "$status" = 127 ] || code=$status # a second wait for the same end knows of no such child
done
# Written aside and renamed: it is there with all that it says, or not at all.
{ echo "$code" >"$run/$attempt.exit.new" && mv "$run/$attempt.exit.new" "$run/$attempt.exit"; } 2>/dev/null
exit "$code"
