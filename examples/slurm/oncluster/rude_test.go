package oncluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
)

// rude is a script that takes SIGTERM for a request to stop, and ends with 0 and half of its work done; that leaves
// links, one of them to nothing, and a pipe; and whose copies fail one time in three, if its argument says so. It
// takes 2 s, or 20 s on the node n0.
const rude = `#!/bin/bash
#SBATCH --array=0-15%8
#SBATCH --output=said-%a
n=$SLURM_ARRAY_TASK_ID step=0.2
[ "$SLURMD_NODENAME" = n0 ] && step=2
cd "$STRAGGLER_OUT" || exit 9
trap 'exit 0' TERM
echo begin >"result-$n"
ln -s "result-$n" "latest-$n"
ln -s "$STRAGGLER_OUT/result-$n" "whole-$n"
ln -s /nowhere "lost-$n"
mkfifo "pipe-$n"
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep "$step" &
	wait $!
	echo "$i" >>"result-$n"
	echo "$i/10" >"$STRAGGLER_PROGRESS"
	case $1:$i:$STRAGGLER_ATTEMPT in fail:5:*.*) ((RANDOM % 3)) || exit 3 ;; esac
done
`

const wholeResult = "begin\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

// No result is a part, whatever the scripts do, and however they are told to stop. STRAGGLER_RUNS=50 go test -run Rude
// -timeout 1h ./examples/slurm/oncluster does it fifty times.
func TestRudeScripts(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("STRAGGLER_RUNS"))
	said := map[string]int{}
	for run := range max(runs, 2) {
		t.Run(strconv.Itoa(run), func(t *testing.T) { rudely(t, run%2 == 1, said) })
	}
	t.Logf("%v", said)
}

// rudely runs the script once, in one of two ways: the policy copies, and copies may fail; or it kills and restarts,
// and somebody else tells attempts to stop.
func rudely(t *testing.T, killed bool, said map[string]int) {
	c := onCluster(t)
	write(t, "rude.sh", rude)
	args := []string{"run", "-interval", "300ms", "-lag", "300ms", "-policy", "mantri,max-restarts=off", "rude.sh", "fail"}
	if killed {
		args = []string{"run", "-interval", "300ms", "-lag", "300ms", "rude.sh", "none"}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	if killed {
		go tellToStop(ctx, c)
	}
	require.Zero(t, command(ctx, args, &stdout, &stderr), stderr.String())
	for n := range 16 {
		assert.Equal(t, wholeResult, read(t, fmt.Sprintf("result-%d", n)), stderr.String())
		assert.Equal(t, wholeResult, read(t, fmt.Sprintf("latest-%d", n)))
		for name, leads := range map[string]string{"latest": fmt.Sprintf("result-%d", n), "lost": "/nowhere"} {
			got, err := os.Readlink(fmt.Sprintf("%s-%d", name, n))
			require.NoError(t, err)
			assert.Equal(t, leads, got)
		}
		assert.Equal(t, wholeResult, read(t, fmt.Sprintf("whole-%d", n)), "a link by its whole path leads to the new place")
	}
	left, err := filepath.Glob("*")
	require.NoError(t, err)
	assert.Len(t, left, 1+5*16, "results, outputs and links, and no pipe")
	hidden, err := filepath.Glob(".straggler-*")
	require.NoError(t, err)
	assert.Empty(t, hidden)
	said["runs"]++
	for _, found := range account.FindAllStringSubmatch(stderr.String(), -1) {
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		said[found[2]] += n
	}
}

// account are the numbers in the last line that straggler-slurm prints.
var account = regexp.MustCompile(`(\d+) (copies|restarts|reruns after a loss|won|attempts cancelled)`)

// tellToStop sends SIGTERM to three tasks that run, as a preemption with a grace does.
func tellToStop(ctx context.Context, c *cluster.Cluster) {
	time.Sleep(1200 * time.Millisecond)
	out, err := c.Command(ctx, "squeue", "--noheader", "--states=RUNNING", "--format=%i").Output()
	if err != nil {
		return
	}
	ids := strings.Fields(string(out))
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, id := range ids[:min(3, len(ids))] {
		_ = exec.CommandContext(ctx, "scancel", "--signal=TERM", "--full", id).Run()
	}
}
