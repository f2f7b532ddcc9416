package array

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

func TestHeaderKeepsTheOptionsExceptWait(t *testing.T) {
	got, err := header([]byte("#!/usr/bin/env python3\n#SBATCH --array=0-9\n\n  # a comment\n#SBATCH --wait\n#SBATCH -W\n" +
		"#SBATCH --time=5\n  #SBATCH --mem=9G\n#SBATCH --wait -n 2 -W\nprint()\n#SBATCH --late\n"))
	require.NoError(t, err)
	assert.Equal(t, "#SBATCH --array=0-9\n  # a comment\n#SBATCH \n#SBATCH \n#SBATCH --time=5\n  #SBATCH --mem=9G\n#SBATCH  -n 2 \n", got)
	_, err = header([]byte("echo hello\n"))
	require.ErrorContains(t, err, "does not begin with #!")
}

func TestOptionsThatDoNotWorkAreErrors(t *testing.T) {
	assert.Equal(t, "#SBATCH  -n 2\n# --hold\n#SBATCH --comment=--hold\n", withoutHold("#SBATCH --hold -n 2\n# --hold\n#SBATCH --comment=--hold\n"))
	assert.Equal(t, []string{"--mem=4G", "-vO", "-JH", "-s"}, copied([]string{"-H", "--mem=4G", "--hold", "-vHOH", "-JH", "--hol", "-sH"}))
	line := `#SBATCH -J "my --hold job" --comment='-H' -C a\ -H "-QH" --ho`
	assert.Equal(t, `#SBATCH -J "my --hold job" --comment='-H' -C a\ -H -Q `+"\n", withoutHold(line+"\n"))
	for _, bad := range []string{
		"--wait", "-W", "--wai", "-vW", "--clusters=all", "--clus=x", "-M", "-Mx", "-QMx", "--test-only", "--te", "--wrap=true",
	} {
		o := Options{Sbatch: []string{"--array=0-3", bad}}
		require.ErrorContains(t, o.Check(), "array: Options.Sbatch has "+bad+", want", bad)
	}
	for _, good := range []string{"--wait-all-nodes=1", "-wM", "--wckey=W", "-nW", "-v", "--mem=M", "W", "-", "--", "--cpus-per-task=4"} {
		require.NoError(t, checkOptions([]string{good}), good)
	}
	nobody := Options{Policy: (*restart.Mantri)(nil)}
	require.ErrorContains(t, nobody.Check(), "array: Options.Policy: restart: Policy is \"a nil *restart.Mantri\"")
	_, err := header([]byte("#!/bin/sh\n#SBATCH --mem=4G -Mx\n"))
	require.ErrorContains(t, err, "array: Options.Sbatch has -Mx, want")
	_, err = header([]byte("#!/bin/sh\n#SBATCH --comment='-Mx' --job-name=\"-- -M\"\n# -M\n"))
	require.NoError(t, err)
}

// wrapped is a user's script with its wrapper, in a run directory. bash runs it as Slurm would.
type wrapped struct {
	t   *testing.T
	dir *runDir
	cmd *exec.Cmd
	out strings.Builder
}

func wrap(t *testing.T, script string, env []string, args ...string) *wrapped {
	parent := filepath.Join(t.TempDir(), "it's here") // a name to quote
	require.NoError(t, os.Mkdir(parent, 0o755))
	dir, err := newRunDir(parent, []byte(script))
	require.NoError(t, err)
	top, err := header([]byte(script))
	require.NoError(t, err)
	content, err := batchScript(top, dir.path, "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID", env)
	require.NoError(t, err)
	batch, err := dir.writeScript("array", "user script.sh", content)
	require.NoError(t, err)
	w := &wrapped{t: t, dir: dir, cmd: exec.Command(batch, args...)}
	w.cmd.Env = append(os.Environ(), "SLURM_ARRAY_JOB_ID=71", "SLURM_ARRAY_TASK_ID=9")
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.out
	return w
}

// exit waits for the end of the script and returns its exit code. The exit file must have the same code.
func (w *wrapped) exit() int {
	_ = w.cmd.Wait()
	require.NoError(w.t, w.dir.list())
	l := w.dir.fileState("71_9")
	require.False(w.t, l.begun.IsZero())
	require.False(w.t, l.end.Before(l.begun))
	assert.Equal(w.t, w.cmd.ProcessState.ExitCode(), l.code)
	return l.code
}

func TestWrapperIsTransparent(t *testing.T) {
	w := wrap(t, "#!/bin/bash\nread line\necho \"$line|$1|$2|$SLURM_ARRAY_TASK_COUNT|$STRAGGLER_ATTEMPT|$run|$attempt\"\n"+
		"echo 3/4 >\"$STRAGGLER_PROGRESS\"\necho r >\"$STRAGGLER_OUT/r\"\nexit 5\n",
		[]string{"SLURM_ARRAY_TASK_COUNT=64"}, "a b", "*")
	w.cmd.Stdin = strings.NewReader("from stdin\n")
	w.cmd.Env = append(w.cmd.Env, "run=mine", "attempt=too")
	require.NoError(t, w.cmd.Start())
	assert.Equal(t, 5, w.exit())
	assert.Equal(t, "from stdin|a b|*|64|71_9|mine|too\n", w.out.String())
	share, at, err := w.dir.progress("71_9")
	require.NoError(t, err)
	assert.InDelta(t, 0.75, share, 0)
	assert.WithinDuration(t, time.Now(), at, time.Minute)
	to := t.TempDir()
	_, err = w.dir.moveResults("71_9", to)
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(to, "r"))
}

func TestWrapperRunsOtherInterpreters(t *testing.T) {
	w := wrap(t, "#!/usr/bin/awk -f\nBEGIN { print 6 * 7; exit 0 }\n", nil)
	require.NoError(t, w.cmd.Start())
	assert.Zero(t, w.exit())
	assert.Equal(t, "42\n", w.out.String())
}

// A signal to the batch script alone reaches the user's script, which may go on after the signal.
func TestWrapperForwardsSignals(t *testing.T) {
	w := wrap(t, "#!/bin/bash\ntrap 'echo warned' USR1\ntrap 'echo interrupted' INT\ntrap 'echo saved; exit 9' TERM\necho ready\n"+
		": >\"$STRAGGLER_OUT/ready\"\nwhile :; do sleep 0.05 & wait $!; done\n", nil)
	require.NoError(t, w.cmd.Start())
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(w.dir.file("71_9", "out"), "ready"))
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGUSR1))
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGINT))
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 9, w.exit())
	assert.Equal(t, "ready\nwarned\ninterrupted\nsaved\n", w.out.String())
}

func TestKilledWrapperWritesNoExitFile(t *testing.T) {
	w := wrap(t, "#!/bin/bash\nkill -9 $PPID\n", nil)
	require.NoError(t, w.cmd.Start())
	_ = w.cmd.Wait()
	require.NoError(t, w.dir.list())
	assert.Zero(t, w.dir.fileState("71_9").end)
}

func TestWrapperNeedsASharedFileSystem(t *testing.T) {
	w := wrap(t, "#!/bin/bash\necho never\n", nil)
	batch, err := os.ReadFile(w.cmd.Path)
	require.NoError(t, err)
	elsewhere := filepath.Join(t.TempDir(), "batch")
	require.NoError(t, os.WriteFile(elsewhere, batch, 0o755))
	w.cmd.Path = elsewhere
	require.NoError(t, os.RemoveAll(w.dir.path))
	require.NoError(t, w.cmd.Start())
	_ = w.cmd.Wait()
	assert.Equal(t, 1, w.cmd.ProcessState.ExitCode())
	assert.Contains(t, w.out.String(), "must be on a file system that all nodes share")
	assert.NotContains(t, w.out.String(), "never\n")
}
