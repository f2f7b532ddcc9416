package causes_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
)

// In the tests of this file there is too little evidence to find a cause.

func TestTwoTasksMakeNoSlowMachine(t *testing.T) {
	tasks := even(60)
	for i := range tasks {
		tasks[i].Machine = i / 4
	}
	tasks[20].Machine, tasks[21].Machine = 99, 99
	tasks[20].Took, tasks[21].Took = 30*s, 30*s
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 2, count(r, causes.Unknown))
	assert.Empty(t, r.Machines)
	tasks[22].Machine, tasks[22].Took = 99, 30*s // three slow tasks are enough
	r = causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 3, count(r, causes.Machine))
}

// A machine that joins late begins all its tasks at one moment: the machine is slow, and not the moment.
func TestMomentOfOneMachineIsTheMachine(t *testing.T) {
	tasks := even(80)
	for i := range tasks {
		tasks[i].Machine, tasks[i].Start = i%9, time.Duration(i%7)*s
	}
	for i := 60; i < 70; i++ {
		tasks[i].Machine, tasks[i].Start, tasks[i].Took = 50, 100*s, 30*s
	}
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 10, count(r, causes.Machine))
	assert.Empty(t, r.Moments)
	for i := 60; i < 70; i++ { // if ten machines join late, their start is a moment
		tasks[i].Machine = i
	}
	r = causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 10, count(r, causes.Contention))
	assert.Len(t, r.Moments, 1)
}

// A single task that read from another rack does not show that such reads are slow.
func TestOneRemoteTaskExplainsNothing(t *testing.T) {
	tasks := even(40)
	tasks[7].Remote, tasks[7].Took = 100, 40*s
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 1, count(r, causes.Unknown))
	assert.Zero(t, r.Model.PerRemote)
}

// Bytes and path explain a task together, although each is less than the rest.
func TestCauseOfAnExplainedTaskIsKnown(t *testing.T) {
	tasks := even(60)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range tasks { // 4 s, .03 s a byte, and .03 s more for a byte from another rack
		tasks[i].Bytes = float64(80 + r.IntN(40))
		tasks[i].Remote = float64(r.IntN(41))
		tasks[i].Took = time.Duration((4 + .03*tasks[i].Bytes + .03*tasks[i].Remote) * 1e9)
	}
	o := &tasks[11]
	o.Bytes, o.Remote, o.Took = 134, 54, 11500*time.Millisecond // 1.19 times the expected time, and 1.51 medians
	for _, o := range causes.Explain(causes.Phase{Tasks: tasks}).Outliers {
		require.Equal(t, 11, o.Task)
		assert.True(t, o.Explained)
		assert.Greater(t, o.Parts.Unknown, max(o.Parts.Data, o.Parts.Path))
		assert.Contains(t, []causes.Cause{causes.Data, causes.Path}, o.Cause)
		return
	}
	t.Error("no outlier")
}

// A task with unknown bytes is treated as having the median bytes, and the model is not fitted to it.
func TestUnknownBytesCountAsTheMedianTask(t *testing.T) {
	tasks := even(60)
	for i := range tasks {
		tasks[i].Bytes = float64(50 + 5*(i%20))
		tasks[i].Took = time.Duration((2 + tasks[i].Bytes/10) * 1e9)
		if i%4 == 3 {
			tasks[i].Bytes = []float64{math.NaN(), -1, math.Inf(1)}[i%3]
		}
	}
	tasks[15].Took = 50 * s
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.InDelta(t, .1, r.Model.PerByte, .001)
	require.Equal(t, 15, r.Outliers[len(r.Outliers)-1].Task)
	assert.Equal(t, causes.Unknown, r.Outliers[len(r.Outliers)-1].Cause)
}

// Bytes differ a thousandfold, and a fifth of the largest tasks are slow for another reason. The median time and
// plain least squares are far from the true model.
func TestModelOfBytesThatDifferWidely(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		tasks := even(200)
		for i := range tasks {
			tasks[i].Bytes = math.Exp(7 * r.Float64())
			seconds := .5 * tasks[i].Bytes * math.Exp(.05*r.NormFloat64())
			if tasks[i].Bytes > 400 && i%5 < 2 || i%9 == 0 {
				seconds *= 6 + 10*r.Float64()
			}
			tasks[i].Took = time.Duration(seconds * 1e9)
		}
		m := causes.Explain(causes.Phase{Tasks: tasks}).Model
		assert.InDelta(t, .5, m.PerByte, .05)
		assert.Less(t, m.Base.Seconds(), 1.)
	}
}
