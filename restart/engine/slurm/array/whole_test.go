package array

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// These tests are about results: Run uses only the result of a script that has ended by itself.

// moving restarts, once for each task, an attempt that has run for 4 s on the second node.
type moving struct{}

func (moving) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) == 1 && t.Restarts == 0 && t.Attempts[0].Elapsed > 4*time.Second && t.Attempts[0].Machine == 1 {
		return restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner}
	}
	return restart.Decision{Reason: restart.NotSlow}
}

// A script that is cancelled may clean up and end with 0, and the exit file may be written before the wrapper notices the
// signal. Its result is incomplete, and never becomes the task's result.
func TestCancelledScriptHasNoResult(t *testing.T) {
	for _, exit := range []string{"0\n", "0 TERM\n"} {
		for _, policy := range []restart.Policy{moving{}, restart.Mantri{}} {
			f := newFake(t, 1, 0.1)
			f.graceful = exit
			res, log, err := simulate(t, f, Options{Policy: policy})
			require.NoError(t, err)
			assert.Zero(t, res.Code)
			assert.Positive(t, res.Cancelled, "%T", policy)
			for task := range 16 {
				result, err := os.ReadFile(filepath.Join(f.dir, fmt.Sprintf("result-%d", task)))
				require.NoError(t, err)
				assert.True(t, strings.HasPrefix(string(result), "by "), "%T: task %d: %s\n%s", policy, task, result, log)
			}
		}
	}
}

// The state of an attempt follows from squeue and the exit file, over several polls.
func TestAResultCountsIfSlurmAgrees(t *testing.T) {
	at := time.Unix(1000, 0)
	by, told := fileState{begun: at, end: at}, fileState{begun: at, end: at, stopped: true}
	lost := fileState{begun: at, end: at, stopped: true, code: 143}
	for _, c := range []struct {
		name      string
		cancelled bool // by us
		polls     []string
		files     fileState
		want      engine.State
	}{
		{"ended", false, []string{"COMPLETED"}, by, engine.Succeeded},
		{"ended before scancel", true, []string{"COMPLETED"}, by, engine.Succeeded},
		{"ended, and Slurm still shows it as running", false, []string{"RUNNING"}, by, engine.Running},
		{"shown as running a poll later, too: its node may be dead", false, []string{"RUNNING", "RUNNING"}, by, engine.Succeeded},
		{"shown as running a poll later, too, but cancelled here", true, []string{"RUNNING", "RUNNING"}, by, engine.Running},
		{"about to be cancelled, or done", false, []string{"RUNNING", "COMPLETING"}, by, engine.Running},
		{"done", false, []string{"RUNNING", "COMPLETING", "COMPLETED"}, by, engine.Succeeded},
		{"once it counts, it counts", false, []string{"COMPLETED", ""}, by, engine.Succeeded},
		{"forgotten", false, []string{""}, by, engine.Succeeded},
		{"cancelled and forgotten", true, []string{""}, by, engine.Cancelled},
		{"cancelled", true, []string{"CANCELLED"}, by, engine.Cancelled},
		{"cancelled by somebody", false, []string{"RUNNING", "CANCELLED"}, by, engine.Failed},
		{"out of time", false, []string{"RUNNING", "TIMEOUT"}, by, engine.Failed},
		{"out of memory", false, []string{"OUT_OF_MEMORY"}, by, engine.Failed},
		{"preempted", false, []string{"RUNNING", "PREEMPTED"}, by, engine.Lost},
		{"its node is taken away", false, []string{"NODE_FAIL"}, by, engine.Lost},
		{"told to stop, with a grace", false, []string{"RUNNING", "RUNNING", "COMPLETED"}, told, engine.Lost},
		{"told to stop, and forgotten", false, []string{"RUNNING", ""}, told, engine.Lost},
		{"told to stop, and bash does not know how it ended", false, []string{"RUNNING", "FAILED"}, lost, engine.Lost},
		{"told to stop at its limit", false, []string{"TIMEOUT"}, told, engine.Failed},
		{"told to stop by scancel", false, []string{"CANCELLED"}, told, engine.Failed},
	} {
		a := &attempt{cancelled: c.cancelled, begun: at, task: &task{}}
		a.task.attempts = []*attempt{a}
		for _, state := range c.polls {
			a.observe(at, Job{ID: "71_3", State: state}, state != "", c.files)
		}
		assert.Equal(t, c.want, a.state, c.name)
	}
}

// signal sends a signal to the wrapper until it ends. bash drops INT if it arrives as bash begins to wait.
func (w *wrapped) signal(sent syscall.Signal) {
	require.NoError(w.t, w.cmd.Process.Signal(sent))
	ticker := time.NewTicker(2 * time.Second)
	w.t.Cleanup(ticker.Stop)
	go func() {
		for range 10 {
			select {
			case <-ticker.C:
				_ = w.cmd.Process.Signal(sent) // it may have ended
			case <-w.t.Context().Done():
				return
			}
		}
	}()
}

// The wrapper records whether a signal has told the script to stop. The script waits for its child by wait: bash can send
// INT to itself for ever, if INT arrives as bash begins to wait for a command in the foreground.
func TestWrapperNotesWhatStopsTheScript(t *testing.T) {
	for sent, stops := range map[syscall.Signal]bool{
		syscall.SIGTERM: true, syscall.SIGINT: true, syscall.SIGQUIT: true, syscall.SIGXCPU: true,
		syscall.SIGUSR1: false, syscall.SIGUSR2: false, syscall.SIGHUP: false, syscall.SIGALRM: false,
	} {
		if signal.Ignored(sent) {
			continue // as under nohup: a shell can't trap a signal that was ignored when the shell began
		}
		w := wrap(t, "#!/bin/bash\ntrap 'echo half >\"$STRAGGLER_OUT/result\"; exit 0' TERM INT QUIT XCPU USR1 USR2 HUP ALRM\n"+
			": >\"$STRAGGLER_OUT/ready\"\nwhile :; do sleep 0.05 & wait $!; done\n", nil)
		require.NoError(t, w.cmd.Start())
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(w.dir.file("71_9", "out"), "ready"))
			return err == nil
		}, 20*time.Second, 10*time.Millisecond)
		w.signal(sent)
		assert.Zero(t, w.exit())
		l := w.dir.fileState("71_9")
		assert.Equal(t, stops, l.stopped, sent)
		assert.Equal(t, !stops, l.whole(), sent)
	}
}

// A signal to all processes of a job may reach the script first. If the script ends while bash handles the signal, bash
// does not know how the script has ended. The test sends 5 signals, or 20 with STRAGGLER_LIVES.
func TestWrapperNotesASignalThatTheScriptGetsFirst(t *testing.T) {
	signals := 5
	if os.Getenv("STRAGGLER_LIVES") != "" {
		signals = 20
	}
	for range signals {
		w := wrap(t, "#!/bin/bash\ntrap 'exit 0' TERM\ntouch \"$STRAGGLER_OUT/ready\"\nfor i in {1..200}; do sleep 0.1 & wait $!; done\n", nil)
		w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, w.cmd.Start())
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(w.dir.file("71_9", "out"), "ready"))
			return err == nil
		}, 20*time.Second, 10*time.Millisecond)
		require.NoError(t, syscall.Kill(-w.cmd.Process.Pid, syscall.SIGTERM))
		assert.Contains(t, []int{0, 143}, w.exit())
		assert.True(t, w.dir.fileState("71_9").stopped)
	}
}

// A signal may come before the script has begun. The wrapper passes it on, and knows that the script was told to stop. A child
// of bash loses a signal that arrives right after the fork, some 2 in 1,000 times: the test starts 3 wrappers, or 1,000 with
// STRAGGLER_LIVES.
func TestWrapperPassesOnAnEarlySignal(t *testing.T) {
	wrappers := 3
	if os.Getenv("STRAGGLER_LIVES") != "" {
		wrappers = 1000
	}
	programs := t.TempDir()
	mkdir := "#!/bin/bash\n/bin/mkdir \"$@\"\nkill -TERM $PPID\n"
	require.NoError(t, os.WriteFile(filepath.Join(programs, "mkdir"), []byte(mkdir), 0o700))
	for range wrappers {
		w := wrap(t, "#!/bin/bash\nsleep 40\n", nil)
		w.cmd.Env = append(w.cmd.Env, "PATH="+programs+":"+os.Getenv("PATH"))
		begun := time.Now()
		require.NoError(t, w.cmd.Start())
		require.Equal(t, 128+int(syscall.SIGTERM), w.exit())
		require.True(t, w.dir.fileState("71_9").stopped)
		require.Less(t, time.Since(begun), 30*time.Second)
	}
}

// A signal to all processes of a job may come after the script has ended. The wrapper still writes how the script ended.
func TestWrapperNotesTheEndInSpiteOfALateSignal(t *testing.T) {
	programs := t.TempDir()
	mv := "#!/bin/bash\nkill -TERM $$ $PPID\nexec /bin/mv \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(programs, "mv"), []byte(mv), 0o700))
	w := wrap(t, "#!/bin/bash\nexit 0\n", nil)
	w.cmd.Env = append(w.cmd.Env, "PATH="+programs+":"+os.Getenv("PATH"))
	require.NoError(t, w.cmd.Start())
	assert.Zero(t, w.exit())
	assert.True(t, w.dir.fileState("71_9").whole())
}

// The wrapper removes the exit file of an earlier start of the same job.
func TestWrapperRemovesAnOldExitFile(t *testing.T) {
	w := wrap(t, "#!/bin/bash\nls \"${STRAGGLER_PROGRESS%.progress}.exit\"\nexit 4\n", nil)
	require.NoError(t, os.WriteFile(w.dir.file("71_9", "exit"), []byte("0\n"), 0o600))
	require.NoError(t, w.cmd.Start())
	assert.Equal(t, 4, w.exit())
	assert.Contains(t, w.out.String(), "No such file")
}
