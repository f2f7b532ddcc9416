# Runs the user's script as one attempt of a task, and writes to a file that the script has ended, and how.
# The long names avoid the user's own variables, which the script must see unchanged.
straggler_run={{.Run}}
straggler_attempt={{.Attempt}}
{{- range .Env}}
export {{.}}
{{- end}}
straggler_files=$straggler_run/$straggler_attempt
export STRAGGLER_ATTEMPT=$straggler_attempt STRAGGLER_PROGRESS=$straggler_files.progress STRAGGLER_OUT=$straggler_files.out
rm -f "$straggler_files.exit" "$straggler_files.signal" # left by an earlier start, if Slurm has put the job into the queue again
# Slurm sends some signals only to the batch script (sbatch --signal=B:...), and this wrapper is the batch script. Four of the
# signals ask for an end. After one of these four the result may be incomplete, whatever the exit code is. A signal that comes
# before straggler_child is known waits for it in straggler_early.
straggler_child= straggler_early= straggler_stopped=
straggler_pass() {
	straggler_signalled=yes
	echo "$1" >"$straggler_files.signal"
	kill -s "$1" $straggler_child || straggler_early=$1
} 2>/dev/null
for straggler_signal in HUP ALRM USR1 USR2; do trap "straggler_pass $straggler_signal" "$straggler_signal"; done
for straggler_signal in TERM INT QUIT XCPU; do trap "straggler_stopped=$straggler_signal; straggler_pass $straggler_signal" "$straggler_signal"; done
if ! true >"$straggler_files.begun" || ! mkdir -p "$STRAGGLER_OUT"; then
	echo "straggler-slurm: $straggler_run cannot be written on $(hostname): it must be on a file system that all nodes share" >&2
	exit 1
fi
# In the background, bash makes the script ignore INT and QUIT. Right after its fork the child still has the traps above, and
# loses a signal that arrives then: so the child looks into the file, too.
(trap - INT QUIT
read -r straggler_signal 2>/dev/null <"$straggler_files.signal" && kill -s "$straggler_signal" "$BASHPID"
exec "$straggler_run/slurm_script" "$@") <&0 &
straggler_child=$!
[ -z "$straggler_early" ] || kill -s "$straggler_early" "$straggler_child" 2>/dev/null
code=127 straggler_signalled=yes
while [ "$straggler_signalled" ]; do # a signal ends the wait; the script may go on
	straggler_signalled=
	wait "$straggler_child" 2>/dev/null
	status=$?
	case $status in
	127) ;; # a second wait for the same child fails
	-*) code=143 straggler_stopped=${straggler_stopped:-lost} ;; # the child ended while bash handled the signal: its status is not known
	*) code=$status ;;
	esac
done
# The script has ended, so a signal has nothing to stop any more, and must not stop mv. mv ignores what bash ignores.
trap '' HUP ALRM USR1 USR2 TERM INT QUIT XCPU
# The file is written under another name and renamed, so that a reader finds it complete or not at all.
{ echo "$code" $straggler_stopped >"$straggler_files.exit.new" && mv "$straggler_files.exit.new" "$straggler_files.exit"; } 2>/dev/null
exit "$code"
