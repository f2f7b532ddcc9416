# Runs the user's script as one attempt of a task, and says in a file that it has run to its end, and how.
# The names are long so that they are none of the user's own variables, which the script is to see as they are.
straggler_run={{.Run}}
straggler_attempt={{.Attempt}}
{{- range .Env}}
export {{.}}
{{- end}}
straggler_files=$straggler_run/$straggler_attempt
export STRAGGLER_ATTEMPT=$straggler_attempt STRAGGLER_PROGRESS=$straggler_files.progress STRAGGLER_OUT=$straggler_files.out
if ! true >"$straggler_files.begun" || ! mkdir -p "$STRAGGLER_OUT"; then
	echo "straggler-slurm: $straggler_run cannot be written on $(hostname): it must be on a file system that all nodes share" >&2
	exit 1
fi
# In the background, bash would have it ignore the two.
(trap - INT QUIT && exec "$straggler_run/slurm_script" "$@") <&0 &
child=$!
# Slurm sends some signals to the batch script alone (sbatch --signal=B:...), and this is what it takes for it.
for signal in TERM HUP INT QUIT ALRM USR1 USR2 XCPU; do trap "signalled=yes; kill -s $signal $child 2>/dev/null" "$signal"; done
code=127 signalled=yes
while [ "$signalled" ]; do # a signal ends the wait, but not always the script
	signalled=
	wait "$child" 2>/dev/null
	status=$?
	[ "$status" = 127 ] || code=$status # a second wait for the same end knows of no such child
done
# Written aside and renamed: it is there with all that it says, or not at all.
{ echo "$code" >"$straggler_files.exit.new" && mv "$straggler_files.exit.new" "$straggler_files.exit"; } 2>/dev/null
exit "$code"
