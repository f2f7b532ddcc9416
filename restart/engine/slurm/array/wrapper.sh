# Runs the user's script as one attempt of a task, and says in a file that it has run to its end, and how.
# The names are long so that they are none of the user's own variables, which the script is to see as they are.
straggler_run={{.Run}}
straggler_attempt={{.Attempt}}
{{- range .Env}}
export {{.}}
{{- end}}
straggler_files=$straggler_run/$straggler_attempt
export STRAGGLER_ATTEMPT=$straggler_attempt STRAGGLER_PROGRESS=$straggler_files.progress STRAGGLER_OUT=$straggler_files.out
rm -f "$straggler_files.exit" # of an earlier life, if Slurm has put the job into the queue again
if ! true >"$straggler_files.begun" || ! mkdir -p "$STRAGGLER_OUT"; then
	echo "straggler-slurm: $straggler_run cannot be written on $(hostname): it must be on a file system that all nodes share" >&2
	exit 1
fi
# In the background, bash would have it ignore the two.
(trap - INT QUIT && exec "$straggler_run/slurm_script" "$@") <&0 &
child=$!
# Slurm sends some signals to the batch script alone (sbatch --signal=B:...), and this is what it takes for it. Four of them
# ask for an end: what the script leaves after one of these need not be whole, whatever it exits with.
for signal in HUP ALRM USR1 USR2; do trap "signalled=yes; kill -s $signal $child 2>/dev/null" "$signal"; done
for signal in TERM INT QUIT XCPU; do trap "signalled=yes stopped=$signal; kill -s $signal $child 2>/dev/null" "$signal"; done
code=127 signalled=yes stopped=
while [ "$signalled" ]; do # a signal ends the wait, but not always the script
	signalled=
	wait "$child" 2>/dev/null
	status=$?
	case $status in
	127) ;; # a second wait for the same end knows of no such child
	-*) code=143 stopped=${stopped:-lost} ;; # nor, of a child that ends while bash takes the signal, how it ended
	*) code=$status ;;
	esac
done
# Written aside and renamed: it is there with all that it says, or not at all.
{ echo "$code" $stopped >"$straggler_files.exit.new" && mv "$straggler_files.exit.new" "$straggler_files.exit"; } 2>/dev/null
exit "$code"
