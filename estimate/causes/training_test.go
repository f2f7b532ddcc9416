package causes_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
)

// The test reads steps of three training jobs of 16, 64 and 8 workers. In the first job a worker was slowed on
// purpose. The data come from a public artefact and are not part of the project: they are in a folder of the
// directory that STRAGGLER_TRACES names.
const trainingDir = "bytedance-training"

// trainingSteps reads a job: a phase for each step, a task for each worker, a cohort for each stage of the
// pipeline.
func trainingSteps(t *testing.T, job string) []causes.Phase {
	t.Helper()
	dir := os.Getenv("STRAGGLER_TRACES")
	if dir == "" {
		t.Skip("no real logs: STRAGGLER_TRACES does not name their directory")
	}
	file, err := os.Open(filepath.Join(dir, trainingDir, "compute-"+job+".csv"))
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"step", "rank", "stage", "dp_rank", "forward_s", "backward_s", "microbatches"}, lines[0])
	var phases []causes.Phase
	for i, line := range lines[1:] {
		if i == 0 || line[0] != lines[i][0] {
			phases = append(phases, causes.Phase{})
		}
		number := func(column int) float64 {
			x, err := strconv.ParseFloat(line[column], 64)
			require.NoError(t, err)
			return x
		}
		p := &phases[len(phases)-1]
		p.Tasks = append(p.Tasks, causes.Task{
			Took:    time.Duration((number(4) + number(5)) * 1e9),
			Machine: int(number(1)), Cohort: int(number(2)),
		})
	}
	return phases
}

func TestTrainingNamesTheSlowedWorkerOf88(t *testing.T) {
	slowed, workers := 0, 0
	for _, job := range []string{"AR", "SE", "ST"} {
		phases := trainingSteps(t, job)
		workers += len(phases[0].Tasks)
		bill := causes.Charge(phases)
		t.Logf("%s: %v", job, bill)
		slowed += len(bill.Machines)
		switch job {
		case "AR": // one worker was slowed; by the artefact, it causes 100 % of the slowdown
			require.Len(t, bill.Machines, 1)
			assert.Equal(t, 0, bill.Machines[0].Index)
			assert.Equal(t, causes.Machine, bill.Fault())
			assert.Greater(t, bill.Parts().Machine, .9)
		case "SE": // sequences of different lengths, and a long last stage: 69 % of the slowdown
			assert.Empty(t, bill.Machines)
			assert.Zero(t, bill.Machine)
		case "ST": // a long last stage
			assert.Empty(t, bill.Machines)
			require.Len(t, bill.Cohorts, 1)
			assert.Equal(t, 3, bill.Cohorts[0].Index)
			assert.Equal(t, causes.Split, bill.Fault())
			assert.Greater(t, bill.Parts().Split, .9)
		}
	}
	assert.Equal(t, 88, workers)
	assert.Equal(t, 1, slowed)
}

// lockstepOf adds the phases as steps. The position of a task in its cohort is its replica.
func lockstepOf(phases []causes.Phase) causes.Waiting {
	var l causes.Lockstep
	for _, p := range phases {
		var step []causes.Member
		next := map[int]int{}
		for _, task := range p.Tasks {
			step = append(step, causes.Member{Machine: task.Machine, Stage: task.Cohort, Replica: next[task.Cohort], Took: task.Took})
			next[task.Cohort]++
		}
		l.Add(step)
	}
	return l.Waiting()
}

// The publisher says what is wrong with each job: a worker that was slowed, sequences of different lengths and a long
// last stage, and a long last stage.
func TestTrainingWaits(t *testing.T) {
	ar := lockstepOf(trainingSteps(t, "AR"))
	require.Len(t, ar.Findings, 1)
	assert.Equal(t, causes.SlowWorker, ar.Findings[0].Reason)
	assert.Equal(t, 0, ar.Findings[0].Machine)
	assert.Equal(t, 44, ar.Lags[0].Last)
	assert.InDelta(t, .554, ar.Findings[0].Share, .005)
	assert.InDelta(t, .575, ar.Wait, .001)
	se := lockstepOf(trainingSteps(t, "SE"))
	require.Len(t, se.Findings, 2)
	assert.Equal(t, causes.UnevenWork, se.Findings[0].Reason)
	assert.Equal(t, causes.SlowPlace, se.Findings[1].Reason)
	assert.Equal(t, 1, se.Findings[1].Stage)
	st := lockstepOf(trainingSteps(t, "ST"))
	require.Len(t, st.Findings, 1)
	assert.Equal(t, causes.SlowPlace, st.Findings[0].Reason)
	assert.Equal(t, 3, st.Findings[0].Stage)
	for _, w := range []causes.Waiting{se, st} {
		for _, f := range w.Findings {
			assert.Negative(t, f.Machine, "no machine is blamed")
		}
	}
}
