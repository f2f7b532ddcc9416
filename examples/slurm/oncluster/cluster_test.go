package oncluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
	"github.com/straggler-go/straggler/restart/journal"
)

// These tests run on a real Slurm: a cluster of four nodes on this host, if there is what it needs.

var testCluster = sync.OnceValues(func() (*cluster.Cluster, error) {
	dir, err := os.MkdirTemp("", "straggler-slurm-test-")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	started = true
	return cluster.Start(ctx, cluster.Config{Dir: dir, Nodes: 4, CPUs: 4, NodeTimeout: 10 * time.Second})
})

var started bool // whether testCluster was called

// program builds the command.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "straggler-slurm-")
	if err != nil {
		return "", err
	}
	built = dir
	build := exec.Command("go", "build", "-o", dir, "github.com/straggler-go/straggler/restart/engine/slurm/straggler-slurm")
	build.Dir = home
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "straggler-slurm"), nil
})

var (
	home, _ = os.Getwd() // in the workspace
	built   string       // what program has made
)

// command runs straggler-slurm, interrupts it when the context ends, and returns its exit code.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	path, err := program()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return -1
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	c.Stdout, c.Stderr = stdout, stderr
	_ = c.Run() // the code says it
	return c.ProcessState.ExitCode()
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(built)
	if started {
		if c, err := testCluster(); err == nil {
			c.Stop()
			_ = os.RemoveAll(filepath.Dir(c.Conf()))
		}
	}
	os.Exit(code)
}

// onCluster makes the cluster the one that Slurm's commands talk to, and a new directory the working directory.
func onCluster(t *testing.T) *cluster.Cluster {
	if err := cluster.Available(); err != nil {
		t.Skipf("needs a Slurm of its own; as root, apt-get install slurm-wlm munge: %v", err)
	}
	c, err := testCluster()
	require.NoError(t, err)
	t.Setenv("SLURM_CONF", c.Conf())
	t.Chdir(t.TempDir())
	t.Cleanup(func() { idle(t, c) })
	return c
}

// idle waits until all nodes are, and finds the queue empty.
func idle(t *testing.T, c *cluster.Cluster) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	require.NoError(t, c.Idle(ctx))
	left, err := exec.Command("squeue", "--noheader").Output()
	require.NoError(t, err)
	assert.Empty(t, string(left))
}

func write(t *testing.T, name, text string) {
	require.NoError(t, os.WriteFile(name, []byte(text), 0o755))
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// stepping is a script that takes 2 s, or 20 s on the node n3.
const stepping = `#!/bin/bash
#SBATCH --array=2-32:2
#SBATCH --output=said-%3a
#SBATCH --error=complained-%a
step=0.2
[ "$SLURMD_NODENAME" = "$1" ] && step=2
for name in JOB_ID TASK_ID TASK_COUNT TASK_MIN TASK_MAX TASK_STEP; do
	printenv SLURM_ARRAY_$name
done | xargs
echo "$2" >&2
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep $step
	echo $i/10 >"$STRAGGLER_PROGRESS"
done
echo "$((SLURM_ARRAY_TASK_ID * SLURM_ARRAY_TASK_ID))" >"$STRAGGLER_OUT/square-$SLURM_ARRAY_TASK_ID"
`

// stepped checks what the 16 tasks of stepping leave.
func stepped(t *testing.T, complaint string) {
	job := strings.Fields(read(t, "said-002"))[0]
	for task := 2; task <= 32; task += 2 {
		assert.Equal(t, fmt.Sprintf("%s %d 16 2 32 2\n", job, task), read(t, fmt.Sprintf("said-%03d", task)))
		assert.Equal(t, complaint+"\n", read(t, fmt.Sprintf("complained-%d", task)))
		assert.Equal(t, fmt.Sprintln(task*task), read(t, fmt.Sprintf("square-%d", task)))
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, entries, 3*16+2, "and the script, and the journal")
}

func TestSlowNode(t *testing.T) {
	onCluster(t)
	write(t, "step.sh", stepping)
	var stdout, stderr bytes.Buffer
	code := command(context.Background(), []string{"run", "-interval", "500ms", "-lag", "500ms", "-journal", "journal.txt",
		"step.sh", "n3", "a  b"}, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	stepped(t, "a  b")
	assert.Regexp(t, `^Submitted batch job \d+\n$`, stdout.String())
	assert.Contains(t, stderr.String(), "16 of 16 tasks done")
	assert.Contains(t, stderr.String(), "not on n3")
	record := read(t, "journal.txt")
	replayed, err := journal.Replay([]byte(record), journal.Options{})
	require.NoError(t, err)
	assert.Equal(t, record, string(replayed))
	assert.Contains(t, record, "submit")
}

func TestNodeDies(t *testing.T) {
	c := onCluster(t)
	write(t, "step.sh", stepping)
	write(t, "journal.txt", "")
	death := c.KillNodeWhen(t.Context(), "n2", func() bool {
		outputs, _ := filepath.Glob("said-*")
		return len(outputs) == 16 && !slices.ContainsFunc(outputs, func(name string) bool {
			said, err := os.ReadFile(name)
			return err != nil || len(said) == 0
		})
	})
	var stdout, stderr bytes.Buffer
	code := command(context.Background(), []string{"run", "-interval", "500ms", "-lag", "500ms",
		"step.sh", "none", "x"}, &stdout, &stderr)
	require.NoError(t, <-death)
	require.NoError(t, c.StartNode("n2"))
	require.Zero(t, code, stderr.String())
	stepped(t, "x")
	assert.Contains(t, stderr.String(), "not on n2")
}

// The same script under sbatch --wait gives the same files, the same exit code.
func TestAsSbatchWait(t *testing.T) {
	onCluster(t)
	script := "#!/bin/bash\necho \"$1 $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_JOB_NAME\"\n" +
		"exit $SLURM_ARRAY_TASK_ID\n"
	found := map[string]map[string]string{}
	for _, way := range []string{"sbatch", "straggler-slurm"} {
		t.Chdir(t.TempDir())
		write(t, "fails.sh", script)
		code := 0
		if way == "sbatch" {
			err := exec.Command("sbatch", "--wait", "--array=0,3,7-9%2", "fails.sh", "x").Run()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			code = exit.ExitCode()
		} else {
			var out bytes.Buffer
			code = command(context.Background(), []string{"run", "-interval", "200ms", "-array", "0,3,7-9%2",
				"fails.sh", "x"}, &out, &out)
		}
		assert.Equal(t, 9, code, way)
		found[way] = map[string]string{}
		names, err := filepath.Glob("*")
		require.NoError(t, err)
		for _, name := range names {
			said := read(t, name)
			if _, task, is := strings.Cut(name, "_"); is {
				name = "slurm-N_" + task
			}
			found[way][name] = said
		}
	}
	assert.Len(t, found["sbatch"], 6)
	assert.Equal(t, found["sbatch"], found["straggler-slurm"])
}

func TestInterrupt(t *testing.T) {
	onCluster(t)
	write(t, "sleep.sh", "#!/bin/bash\nsleep 600\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var out bytes.Buffer
	code := command(ctx, []string{"run", "-interval", "200ms", "-array", "0-19", "sleep.sh"}, &out, &out)
	assert.Equal(t, 130, code, out.String())
}

func TestTroubles(t *testing.T) {
	onCluster(t)
	write(t, "ok.sh", "#!/bin/bash\ntrue\n")
	write(t, "sizes", "1\ntwo\n")
	for want, args := range map[string][]string{
		"Invalid job array specification": {"run", "-array", "x", "ok.sh"},
		"is not a job array":              {"run", "ok.sh"},
		"no such file":                    {"run", "missing.sh"},
		"no script":                       {"run", "-array", "0-3"},
		"policy \"best\"":                 {"run", "-policy", "best", "ok.sh"},
		"sizes:2: the size is \"two\"":    {"run", "-work", "sizes", "ok.sh"},
		"usage":                           {"walk"},
		"Options.Interval is -1s":         {"run", "-interval", "-1s", "ok.sh"},
		"Requested node configuration":    {"run", "-array", "0-3", "-sbatch", "--mem=9999G", "ok.sh"},
		"put %a into":                     {"run", "-array", "0-3", "-output", "all", "ok.sh"},
		"flag provided but not defined":   {"run", "-x", "ok.sh"},
	} {
		var out bytes.Buffer
		assert.NotZero(t, command(context.Background(), args, &out, &out), args)
		assert.Contains(t, out.String(), want)
	}
}
