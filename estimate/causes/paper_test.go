package causes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
)

const s = time.Second

// even makes tasks of ten seconds and a hundred bytes, two tasks on each machine, one after another.
func even(n int) []causes.Task {
	tasks := make([]causes.Task, n)
	for i := range tasks {
		tasks[i] = causes.Task{Took: 10 * s, Bytes: 100, Machine: i % ((n + 3) / 4), Start: time.Duration(i) * s}
	}
	return tasks
}

// count returns how many outliers have the cause.
func count(r causes.Report, c causes.Cause) (n int) {
	for _, o := range r.Outliers {
		if o.Cause == c {
			n++
		}
	}
	return n
}

// "We arbitrarily say that a task has high runtime if its time to finish is longer than 1.5x the median task duration."
func TestMantri41OutlierIsOverOneAndAHalfMedians(t *testing.T) {
	tasks := []causes.Task{{Took: 10 * s}, {Took: 10 * s}, {Took: 10 * s}, {Took: 15 * s}, {Took: 15*s + 1}}
	r := causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 1)
	assert.Equal(t, 4, r.Outliers[0].Task)
	assert.Equal(t, 1, r.Improvable, "a task of 15 s with an expected time of 10 s is improvable")

	tenths := []causes.Task{{Took: 300 * time.Millisecond}, {Took: 300 * time.Millisecond}, {Took: 450 * time.Millisecond}}
	assert.Empty(t, causes.Explain(causes.Phase{Tasks: tenths}).Outliers, "0.45 s is 1.5 times 0.3 s, and not more")

	more := even(40)
	more[7].Took, more[8].Took = 17400*time.Millisecond, 18*s
	r = causes.Config{Residual: .75}.Explain(causes.Phase{Tasks: more})
	require.Len(t, r.Outliers, 2)
	assert.Equal(t, []bool{true, false}, []bool{r.Outliers[0].Explained, r.Outliers[1].Explained}, "the bound is some 17.5 s")
}

// "When its run time is within [.8, 1.2]x of the time predicted by this model, we call it explainable."
func TestMantri42Footnote3ResidualOfAFifth(t *testing.T) {
	tasks := even(40)
	for i := range tasks { // 2 s and a tenth of a second a byte
		tasks[i].Bytes = float64(50 + 5*(i%20))
		tasks[i].Took = time.Duration((2 + tasks[i].Bytes/10) * 1e9)
	}
	tasks[7].Bytes, tasks[7].Took = 400, 42*s
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.InDelta(t, 2, r.Model.Base.Seconds(), .01)
	assert.InDelta(t, .1, r.Model.PerByte, .0002)
	assert.Equal(t, 1.0, r.Model.Explained)
	require.Len(t, r.Outliers, 1)
	assert.True(t, r.Outliers[0].Explained)
	assert.Equal(t, causes.Data, r.Outliers[0].Cause)

	equal := even(6)
	for i := range equal {
		equal[i].Took = 700 * time.Millisecond
	}
	for took, explained := range map[time.Duration]float64{350 * time.Millisecond: 1, 350*time.Millisecond - 1: 5. / 6} {
		equal[3].Took = took
		r := causes.Config{Residual: .5}.Explain(causes.Phase{Tasks: equal})
		assert.Equal(t, explained, r.Model.Explained, "half of 0.7 s is within a residual of a half: %v", took)
	}

	tasks[7].Took = 42 * 12 * s / 10
	r = causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 1)
	assert.True(t, r.Outliers[0].Explained)

	tasks[7].Took = 42 * 127 * s / 100
	r = causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 1)
	assert.False(t, r.Outliers[0].Explained, "the task is off by more than a fifth of its expected time")

	tasks[7].Took = 42 * 13 * s / 10
	r = causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 1)
	assert.False(t, r.Outliers[0].Explained)
	assert.InDelta(t, .975, r.Model.Explained, 1e-9)
	assert.InDelta(t, 42, r.Outliers[0].Expected.Seconds(), .05)
}

// A few very slow tasks distort a model of plain least squares until it explains nothing.
func TestMantri42Footnote3OutliersDoNotBendTheModel(t *testing.T) {
	tasks := even(40)
	for i := range tasks {
		tasks[i].Bytes = float64(50 + 5*(i%20))
		tasks[i].Took = time.Duration((2 + tasks[i].Bytes/10) * 1e9)
	}
	for _, i := range []int{3, 13, 22, 35, 38} {
		tasks[i].Took *= 20
	}
	m := causes.Explain(causes.Phase{Tasks: tasks}).Model
	assert.InDelta(t, 2, m.Base.Seconds(), .01)
	assert.InDelta(t, .1, m.PerByte, .0002)
	assert.InDelta(t, 35./40, m.Explained, 1e-9)

	// One task in four takes 2.5 times as long. A single task has more data: three times as much, and it takes
	// three times as long. The fit has to leave out the slow tasks (beyond 1.5 times the model) to see that data
	// explain the large task.
	tasks = even(12)
	for i := range tasks {
		tasks[i].Bytes, tasks[i].Took = 100, 10*s
		if i%4 == 2 {
			tasks[i].Took = 25 * s
		}
	}
	tasks[3].Bytes, tasks[3].Took = 300, 30*s
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.InDelta(t, .1, r.Model.PerByte, .0002)
	require.Len(t, r.Outliers, 4)
	for _, o := range r.Outliers {
		assert.Equal(t, o.Task == 3, o.Explained, "%v", o)
	}
}

// "Given the size of input and the volume of traffic moved across low bandwidth links."
func TestMantri42BytesFromOtherRacks(t *testing.T) {
	tasks := even(40)
	for i := 0; i < 40; i += 8 { // a byte from another rack takes four times as long
		tasks[i].Remote, tasks[i].Took = 100, 40*s
	}
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Len(t, r.Outliers, 5)
	assert.Equal(t, 5, count(r, causes.Path))
	assert.InDelta(t, .3, r.Model.PerRemote, .001)
	assert.Equal(t, causes.Path, r.Parts.Largest())
}

// "Recomputes: instances where a task output is lost and dependent tasks wait until the output is regenerated."
func TestMantri42WaitForLostInput(t *testing.T) {
	tasks := even(20)
	tasks[3].Waited, tasks[3].Took = 25*s, 35*s
	tasks[8].Took = 35 * s
	r := causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 2)
	assert.Equal(t, causes.LostInput, r.Outliers[0].Cause)
	assert.Equal(t, 1.0, r.Outliers[0].Parts.LostInput)
	assert.Equal(t, causes.Unknown, r.Outliers[1].Cause)
	assert.InDelta(t, .5, r.Parts.LostInput, 1e-9)

	tasks[3].Waited = time.Hour
	r = causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 25*s, r.Outliers[0].Took-10*s)
	assert.InDelta(t, 1, r.Outliers[0].Parts.LostInput, 1e-9, "a task waits no longer than it takes")
}

// "Otherwise, the outlier is likely due to resource contention or problematic machines."
func TestMantri42MachineByItsOtherTasks(t *testing.T) {
	tasks := even(40) // ten machines
	for i := range tasks {
		if tasks[i].Machine == 6 {
			tasks[i].Took = 30 * s
		}
	}
	tasks[1].Took = 30 * s // alone on its machine
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Equal(t, 4, count(r, causes.Machine))
	assert.Equal(t, causes.Unknown, r.Outliers[0].Cause)
	require.Len(t, r.Machines, 1)
	assert.InDelta(t, 3, r.Machines[0].Ratio, 1e-12)
	r.Machines[0].Ratio = 3
	assert.Equal(t, causes.Suspect{Index: 6, Ratio: 3, Tasks: 4, Slow: 4, Phases: 1}, r.Machines[0])

	// Each machine has a slow task, and machine 6 has three of four. Chance explains that, so no machine is named.
	tasks = even(40)
	for i := range tasks {
		wave := i / 10
		if m := tasks[i].Machine; (wave+m)%4 == 0 || m == 6 && wave != 0 {
			tasks[i].Took = 30 * s
		}
	}
	assert.Empty(t, causes.Explain(causes.Phase{Tasks: tasks}).Machines)
}

// "Duplicating these tasks would not make them run faster and will waste resources": on a slow machine, the machine
// explains the slow tasks, but data explain the task with much data.
func TestMantri42DataIsNeverTheMachine(t *testing.T) {
	tasks := even(40)
	for i := range tasks {
		if tasks[i].Machine == 6 {
			tasks[i].Took = 30 * s
		}
	}
	tasks[26].Bytes, tasks[26].Took = 300, 30*s // on machine 6, as long as its bytes would take on another machine
	r := causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 4)
	for _, o := range r.Outliers {
		if o.Task == 26 {
			assert.Equal(t, causes.Data, o.Cause)
			assert.Zero(t, o.Parts.Machine)
			assert.True(t, o.Explained)
		} else {
			assert.Equal(t, causes.Machine, o.Cause)
		}
	}

	// The data of task 7 explains one second more, and most of the rest is within the residual: the cause is the data.
	tasks = even(40)
	for i := range tasks { // 2 s and a tenth of a second a byte
		tasks[i].Bytes = float64(50 + 5*(i%20))
		tasks[i].Took = time.Duration((2 + tasks[i].Bytes/10) * 1e9)
	}
	tasks[7].Bytes, tasks[7].Took = 110, 21*s
	r = causes.Config{Residual: .75}.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 1)
	assert.True(t, r.Outliers[0].Explained)
	assert.Greater(t, r.Outliers[0].Parts.Unknown, r.Outliers[0].Parts.Data)
	assert.Equal(t, causes.Data, r.Outliers[0].Cause)

	// A time of exactly half more than expected is explained with a residual of a half. It is exactly 1.5 times the median, so
	// only a smaller multiple makes the task an outlier.
	for took, explained := range map[time.Duration]bool{1050 * time.Millisecond: true, 1050*time.Millisecond + 1: false} {
		tasks = even(6)
		for i := range tasks {
			tasks[i].Took = 700 * time.Millisecond
		}
		tasks[3].Took = took
		r = causes.Config{Residual: .5, Outlier: 1.4}.Explain(causes.Phase{Tasks: tasks})
		require.Len(t, r.Outliers, 1)
		assert.Equal(t, explained, r.Outliers[0].Explained, "%v", took)
	}
}

// "Runtime outliers cluster by time. ... It appears that jobs contend for resources at some times."
func TestMantri42OutliersClusterByTime(t *testing.T) {
	tasks := even(120) // 30 machines
	for i := 50; i < 70; i++ {
		tasks[i].Took = 25 * s
	}
	r := causes.Explain(causes.Phase{Tasks: tasks})
	require.Len(t, r.Outliers, 20)
	assert.GreaterOrEqual(t, count(r, causes.Contention), 16)
	assert.Zero(t, count(r, causes.Machine))
	require.NotEmpty(t, r.Moments)
	assert.InDelta(t, 50, r.Moments[0].From.Seconds(), 8)
	assert.InDelta(t, 70, r.Moments[len(r.Moments)-1].To.Seconds(), 8)
}

// Tasks "that take longer than they should, as predicted by the model, but do not take over 1.5x the median task in
// their phase ... present an opportunity for improvement".
func TestMantri42Figure3Improvable(t *testing.T) {
	tasks := even(40)
	for i := range tasks {
		tasks[i].Bytes = float64(50 + 5*(i%20))
		tasks[i].Took = time.Duration(tasks[i].Bytes * 1e8)
	}
	for _, i := range []int{0, 1, 2, 20, 21} { // 5 to 6 s: they take 9 to 10.8
		tasks[i].Took = tasks[i].Took * 18 / 10
	}
	r := causes.Explain(causes.Phase{Tasks: tasks})
	assert.Empty(t, r.Outliers)
	assert.Equal(t, 5, r.Improvable)
	for percent, improvable := range map[int]int{118: 0, 128: 1} {
		for i := range tasks {
			tasks[i].Took = time.Duration(tasks[i].Bytes * 1e8)
		}
		tasks[10].Took = tasks[10].Took * time.Duration(percent) / 100
		assert.Equal(t, improvable, causes.Explain(causes.Phase{Tasks: tasks}).Improvable, "%d percent", percent)
	}
}

// "Figure 8: causes and solutions."
func TestMantriFigure8Remedies(t *testing.T) {
	for cause, pkg := range map[causes.Cause]string{
		causes.Data: "largest tasks first", causes.Path: "placement", causes.LostInput: "replicate",
		causes.Machine: "restart", causes.Contention: "restart", causes.Split: "skew", causes.Unknown: "copy",
	} {
		assert.Contains(t, cause.Remedy(), pkg, cause)
	}
}

// "The ratio of the progress rate of the median task to the slowest task", and a progress rate is input by
// duration: a task with more to read is not slower because of its bytes.
func TestDolly211SlowdownRatio(t *testing.T) {
	slowdown := func(tasks []causes.Task) float64 { return causes.Explain(causes.Phase{Tasks: tasks}).Slowdown }
	tasks := even(9)
	tasks[4].Took, tasks[4].Bytes = 80*s, 800
	assert.InDelta(t, 1, slowdown(tasks), 1e-9)
	tasks[5].Took = 80 * s
	assert.InDelta(t, 8, slowdown(tasks), 1e-9)
	for i := range tasks {
		tasks[i].Bytes = 0
	}
	assert.InDelta(t, 8, slowdown(tasks), 1e-9, "without bytes the slowdown is by time alone")
	assert.Zero(t, slowdown(nil))
}
