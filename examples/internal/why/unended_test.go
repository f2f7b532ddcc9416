package why_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// unendedOf returns the tasks without a success in a log of attempt lines.
func unendedOf(t *testing.T, lines ...string) why.Unended {
	t.Helper()
	log, err := trace.Read(strings.NewReader(strings.Join(lines, "\n")), "log")
	require.NoError(t, err)
	phases, _ := workload.FromLog(log)
	replayed := map[int]*sim.Phase{}
	for _, p := range phases {
		replayed[p.Source] = p
	}
	var u why.Unended
	u.Add(log, replayed)
	return u
}

// Three tasks of 10 s end. The log ends at 100 s.
const threeTasks = `{"job":"j","phase":"p","tasks":9}
{"job":"j","phase":"p","task":0,"start":0,"finish":10000}
{"job":"j","phase":"p","task":1,"start":0,"finish":10000}
{"job":"j","phase":"p","task":2,"start":90000,"finish":100000}`

func TestUnendedTasks(t *testing.T) {
	u := unendedOf(t, threeTasks,
		`{"job":"j","phase":"p","task":3,"start":20000,"host":"n1"}`,                                // runs for 80 s
		`{"job":"j","phase":"p","task":4,"start":0,"finish":5000,"state":"failed","host":"n2"}`,     // its longest attempt
		`{"job":"j","phase":"p","task":4,"start":6000,"finish":46000,"state":"killed","host":"n3"}`, // takes 40 s
		`{"job":"j","phase":"p","task":5,"start":1000,"finish":500,"state":"succeeded"}`,            // has no known time
		`{"job":"j","phase":"p","task":6,"start":0,"finish":1000,"state":"failed"}`,                 // ends in another attempt
		`{"job":"j","phase":"p","task":6,"start":1000,"finish":11000,"state":"succeeded","attempt":1}`,
		`{"job":"j","phase":"p","task":7,"start":95000}`, // runs for 5 s
	)
	row := func(task string, running bool, host string, seconds, times float64) why.UnendedTask {
		return why.UnendedTask{Job: "j", Phase: "p", Task: task, Running: running,
			UnendedAttempt: why.UnendedAttempt{Host: host, Seconds: seconds, Times: times}}
	}
	assert.Equal(t, why.Unended{
		Ended: 4, Running: 2, Stopped: 1, Waiting: 1, Untimed: 1, Slow: 2,
		Worst:      []why.UnendedTask{row("3", true, "n1", 80, 8), row("4", false, "n3", 40, 4), row("7", true, "", 5, 0.5)},
		RunningFor: why.Ran{Measured: 2, Times: 8}, StoppedAfter: why.Ran{Measured: 1, Times: 4},
	}, u)
	assert.Equal(t, 5, u.Tasks())
}

// A phase that the engine declared complete has no running task after that time. A phase without a success has no median.
func TestUnendedTasksOfOtherPhases(t *testing.T) {
	u := unendedOf(t, threeTasks, `{"job":"j","phase":"q","completed":30000}`, `{"job":"j","phase":"q","task":0,"start":0}`)
	assert.Equal(t, 1, u.Unmeasured)
	assert.Zero(t, u.Slow)
	assert.Equal(t, why.Ran{Unmeasured: 1, Seconds: 30}, u.RunningFor)
}

// The list of the worst tasks is bounded, and begins with the worst.
func TestListOfUnendedTasksIsBounded(t *testing.T) {
	lines := []string{threeTasks}
	for i := range 5 {
		for k := range 6 {
			lines = append(lines, `{"job":"j`+string(rune('0'+i))+`","phase":"p","task":`+string(rune('0'+k))+
				`,"start":`+string(rune('1'+k))+`0000}`)
		}
	}
	u := unendedOf(t, lines...)
	assert.Equal(t, 30, u.Running)
	require.Len(t, u.Worst, 20)
	assert.Equal(t, 10, u.LeftOut)
	assert.Equal(t, u.RunningFor.Seconds, u.Worst[0].Seconds)
	assert.Equal(t, 90., u.Worst[0].Seconds)
	assert.Equal(t, 60., u.Worst[19].Seconds)
}

// A task that ran for exactly 1.5 times the median is not slow. Times are compared in nanoseconds: in seconds, 0.258 / 0.172
// is over 1.5, and 0.45 is over 1.5 * 0.3.
func TestUnendedTaskOfExactlyTheLimit(t *testing.T) {
	for _, c := range [][3]int{{172, 258, 0}, {172, 259, 1}, {300, 450, 0}, {300, 451, 1}} {
		var lines []string
		for task := range 3 {
			lines = append(lines, fmt.Sprintf(`{"job":"j","phase":"p","task":%d,"start":0,"finish":%d}`, task, c[0]))
		}
		lines = append(lines, fmt.Sprintf(`{"job":"j","phase":"p","task":3,"start":0,"finish":%d,"state":"killed"}`, c[1]))
		assert.Equal(t, c[2], unendedOf(t, lines...).Slow, "%v", c)
	}
}

// The machine of a task is the machine of its longest attempt, also if the log lacks it. A task that still runs has the machine
// and the time of the attempt that runs; its longer attempt that was killed stands beside them, and counts as slow.
func TestMachineOfAnUnendedTask(t *testing.T) {
	u := unendedOf(t, threeTasks,
		`{"job":"j","phase":"p","task":3,"start":0,"finish":48000,"state":"failed"}`,
		`{"job":"j","phase":"p","task":3,"attempt":1,"start":48000,"finish":49000,"state":"failed","host":"m9"}`,
		`{"job":"j","phase":"p","task":4,"start":0,"finish":30000,"state":"killed","host":"m7"}`,
		`{"job":"j","phase":"p","task":4,"attempt":1,"start":99000,"host":"m8"}`,
	)
	require.Len(t, u.Worst, 2)
	assert.Equal(t, why.UnendedAttempt{Seconds: 48, Times: 4.8}, u.Worst[0].UnendedAttempt)
	assert.Equal(t, why.UnendedTask{
		Job: "j", Phase: "p", Task: "4", Running: true, UnendedAttempt: why.UnendedAttempt{Host: "m8", Seconds: 1, Times: 0.1},
		Earlier: &why.UnendedAttempt{Host: "m7", Seconds: 30, Times: 3},
	}, u.Worst[1])
	assert.Equal(t, why.Ran{Measured: 1, Times: 0.1}, u.RunningFor)
	assert.Equal(t, 2, u.Slow)
}

// In a phase that the engine declared complete, a task without an attempt may have succeeded. In another phase it has not
// begun.
func TestTasksWithoutAnAttempt(t *testing.T) {
	for completed, want := range map[string][2]int{`,"completed":10000`: {3, 0}, "": {0, 3}} {
		u := unendedOf(t, threeTasks[strings.Index(threeTasks, "\n")+1:], `{"job":"j","phase":"q","tasks":6`+completed+`}`,
			`{"job":"j","phase":"q","task":0,"start":0,"finish":10000}`, `{"job":"j","phase":"q","task":1,"start":0,"finish":10000}`,
			`{"job":"j","phase":"q","task":2,"start":0,"finish":10000}`)
		assert.Equal(t, want, [2]int{u.Unseen, u.Waiting}, completed)
		assert.Equal(t, want[1], u.Missing())
	}
}

// A job of a Rumen trace with an outcome has ended: a task without an attempt did not begin, and will not.
func TestTasksOfAFailedJob(t *testing.T) {
	for outcome, want := range map[string][2]int{`"FAILED"`: {2, 0}, "null": {0, 2}} {
		u := unendedOf(t, `{"jobID":"job_1","outcome":`+outcome+`,"totalMaps":3,"mapTasks":[{"taskID":"task_1_m_000000","attempts":[`+
			`{"attemptID":"attempt_1_m_000000_0","result":"SUCCESS","startTime":1000000000,"finishTime":1000009000,"hostName":"/r/h"}]}]}`)
		assert.Equal(t, want, [2]int{u.Unseen, u.Waiting}, outcome)
	}
}

// Spark runs a stage again after a fetch failed. The tasks without a success are in the later attempt of the stage.
func TestTasksOfAStageThatRanAgain(t *testing.T) {
	task := func(attempt, id, index int, reason string) string {
		return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":%d,"Task End Reason":{"Reason":%q},`+
			`"Task Info":{"Task ID":%d,"Index":%d,"Launch Time":5,"Finish Time":9,"Executor ID":"1","Host":"h"}}`, attempt, reason,
			id, index)
	}
	lost := []string{task(0, 0, 0, "Success"), task(0, 1, 1, "Success"), task(0, 2, 2, "FetchFailed")}
	assert.Equal(t, 1, unendedOf(t, lost...).Stopped)
	u := unendedOf(t, append(lost, task(1, 3, 0, "Success"))...)
	assert.Zero(t, u.Tasks())
	assert.Equal(t, 3, u.Ended)
	assert.Equal(t, 1, unendedOf(t, append(lost, task(1, 3, 0, "FetchFailed"))...).Stopped, "the last attempt of the stage counts")
}
