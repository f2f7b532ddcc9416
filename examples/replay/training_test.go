package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trainingJob returns the path of a table of a real training job. The tables are public, and not a part of the project:
// they are in the directory that STRAGGLER_TRACES names.
func trainingJob(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("STRAGGLER_TRACES")
	if dir == "" {
		t.Skip("no real logs: STRAGGLER_TRACES does not name their directory")
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// The columns of the tables, as docs/replay.md has them.
var (
	byteDance = []string{"-step", "step", "-worker", "rank", "-seconds", "forward_s+backward_s", "-group", "stage", "-position", "dp_rank"}
	alibaba   = []string{"-step", "time", "-worker", "worker", "-seconds", "batch_time_norm"}
)

// The publishers say what is wrong with five jobs. The commands of docs/replay.md find it in the files as they lie.
func TestTrainingJobs(t *testing.T) {
	r := asJSON(t, append(slices.Clone(byteDance), trainingJob(t, "bytedance-training/compute-AR.csv"))...)
	require.Len(t, r.Waits.Findings, 1)
	assert.Equal(t, "worker 0 (stage 0)", r.Waits.Findings[0].Who)
	assert.Equal(t, []int{44, 44}, []int{r.Waits.Last[0].Last, r.Waits.Steps})
	assert.InDelta(t, .554, r.Waits.Findings[0].Share, .005)

	r = asJSON(t, append(slices.Clone(byteDance), trainingJob(t, "bytedance-training/compute-SE.csv"))...)
	require.Len(t, r.Waits.Findings, 2)
	assert.Equal(t, []string{"work", "place", "stage 1"}, []string{r.Waits.Findings[0].Reason, r.Waits.Findings[1].Reason, r.Waits.Findings[1].Who})
	assert.InDelta(t, .207, r.Waits.Findings[0].Share, .005)
	assert.InDelta(t, .083, r.Waits.Findings[1].Share, .005)
	assert.Equal(t, []int{43, 43}, []int{r.Waits.Findings[1].Last, r.Waits.Steps})

	r = asJSON(t, append(slices.Clone(byteDance), trainingJob(t, "bytedance-training/compute-ST.csv"))...)
	require.Len(t, r.Waits.Findings, 1)
	assert.Equal(t, []string{"place", "stage 3"}, []string{r.Waits.Findings[0].Reason, r.Waits.Findings[0].Who})
	assert.InDelta(t, .288, r.Waits.Findings[0].Share, .005)

	r = asJSON(t, append(slices.Clone(alibaba), trainingJob(t, "alibaba-training/job_1_norm.csv.gz"))...)
	w6 := r.Waits.Findings[0]
	assert.Equal(t, []string{"worker 6", "1811", "1941"}, []string{w6.Who, w6.From, w6.To})
	assert.True(t, w6.Ended)
	assert.InDelta(t, .277, w6.While, .005)
	assert.Equal(t, "worker 0", r.Waits.Last[0].Worker)
	assert.Equal(t, []int{131, 12, 300}, []int{r.Waits.Last[0].Last, r.Waits.Tied, r.Waits.Steps})
	assert.InDelta(t, .081, r.Waits.Together, .005)

	r = asJSON(t, append(slices.Clone(alibaba), trainingJob(t, "alibaba-training/job_2_norm.csv.gz"))...)
	require.Len(t, r.Waits.Findings, 1)
	assert.Equal(t, "worker 5", r.Waits.Findings[0].Who)
	assert.InDelta(t, .047, r.Waits.Findings[0].Share, .003)
	assert.InDelta(t, .090, r.Waits.Wait, .001)
	assert.Equal(t, []int{232, 238, 16}, []int{r.Waits.Last[0].Last, r.Waits.Steps, r.Waits.Incomplete})
	assert.NotContains(t, r.Headline, "no stragglers")
}

// The times of real workers stay as they are for several steps, and the workers of job 2 differ for good. Of its workers
// without the slowest and the two fastest nobody is blamed. If any of them takes 1.2 times as long, it is named, and nobody
// else.
func TestNoiseOfATrainingJob(t *testing.T) {
	const usual = "2346789"
	packed, err := os.ReadFile(trainingJob(t, "alibaba-training/job_2_norm.csv.gz"))
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	lines, err := csv.NewReader(z).ReadAll()
	require.NoError(t, err)
	worker, time := slices.Index(lines[0], "worker"), slices.Index(lines[0], "batch_time_norm")
	named := func(slow string) (who []string) {
		text := strings.Join(lines[0], ",") + "\n"
		for _, line := range lines[1:] {
			line = slices.Clone(line)
			if !strings.Contains(usual, line[worker]) {
				continue
			}
			if line[worker] == slow {
				took, err := strconv.ParseFloat(line[time], 64)
				require.NoError(t, err)
				line[time] = fmt.Sprint(1.2 * took)
			}
			text += strings.Join(line, ",") + "\n"
		}
		for _, f := range asJSON(t, append(slices.Clone(alibaba), file(t, text))...).Waits.Findings {
			who = append(who, f.Who)
		}
		return who
	}
	assert.Equal(t, []string{""}, named(""))
	for _, slow := range strings.Split(usual, "") {
		assert.Equal(t, []string{"worker " + slow}, named(slow))
	}
}
