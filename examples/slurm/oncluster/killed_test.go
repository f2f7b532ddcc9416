package oncluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hasty is a script of 16 tasks that take 2 s, or 15 s on the node n3. The fifth fails.
const hasty = `#!/bin/bash
step=0.2
[ "$SLURMD_NODENAME" = n3 ] && step=1.5
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep $step
	echo $i/10 >"$STRAGGLER_PROGRESS"
done
[ "$SLURM_ARRAY_TASK_ID" = 4 ] && exit 3
echo "said by ${STRAGGLER_ATTEMPT}"
echo "$SLURM_ARRAY_TASK_ID" >"$STRAGGLER_OUT/result-$SLURM_ARRAY_TASK_ID"
`

// The README's lines save the results of a run of which straggler-slurm was killed with -9, copies' among them.
func TestTheReadmeSavesTheResultsOfAKilledRun(t *testing.T) {
	page := read(t, filepath.Join(home, "..", "README.md"))
	lines := regexp.MustCompile("(?s)```bash\n(.*?)```").FindStringSubmatch(page)
	require.NotNil(t, lines)
	onCluster(t)
	path, err := program()
	require.NoError(t, err)
	write(t, "hasty.sh", hasty)
	require.NoError(t, os.Mkdir("saved", 0o755))
	var stdout, stderr bytes.Buffer
	run := exec.Command(path, "run", "-interval", "300ms", "-lag", "300ms", "-policy", "mantri,max-restarts=off",
		"-array", "0-15", "-results", "saved", "hasty.sh")
	run.Stdout, run.Stderr = &stdout, &stderr
	require.NoError(t, run.Start())
	require.Eventually(t, func() bool {
		copies, err := filepath.Glob(".straggler-*/*.[0-9]*.begun")
		return err == nil && len(copies) > 1
	}, time.Minute, 50*time.Millisecond, "no copy began")
	require.NoError(t, run.Process.Kill())
	_ = run.Wait() // it was killed
	job := strings.TrimSpace(strings.TrimPrefix(stdout.String(), "Submitted batch job "))

	// The copies end, and all tasks that have none. What is left of the array is cancelled then, as the README allows.
	require.Eventually(t, func() bool {
		left, err := exec.Command("squeue", "--noheader", "--me", "--array", "--format=%F %K").Output()
		for line := range strings.Lines(string(left)) {
			var id, task string
			if n, _ := fmt.Sscan(line, &id, &task); n != 2 || id != job {
				return false
			}
			if copies, err := filepath.Glob(".straggler-*/" + task + ".[0-9]*.begun"); err != nil || len(copies) == 0 {
				return false
			}
		}
		return err == nil
	}, 2*time.Minute, 200*time.Millisecond)
	require.NoError(t, exec.Command("scancel", job).Run())
	save := exec.Command("bash", "-euc", "job="+job+" tasks=$(seq 0 15) results=saved\n"+lines[1])
	said, err := save.CombinedOutput()
	require.NoError(t, err, string(said))
	assert.Equal(t, "missing: 4\n", string(said))
	copies := 0
	for task := range 16 {
		if task == 4 {
			assert.NoFileExists(t, "saved/result-4")
			continue
		}
		assert.Equal(t, fmt.Sprintln(task), read(t, fmt.Sprintf("saved/result-%d", task)))
		output := read(t, fmt.Sprintf("slurm-%s_%d.out", job, task))
		copied := strings.Contains(output, fmt.Sprintf("said by %d.", task))
		assert.NotEqual(t, copied, strings.Contains(output, fmt.Sprintf("said by %s_%d", job, task)), output)
		if copied {
			copies++
		}
	}
	assert.Positive(t, copies, "copies have won, and are saved")
}
