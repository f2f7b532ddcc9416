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
	running := why.UnendedTask{Job: "j", Phase: "p", Task: "3", Host: "n1", Running: true, Seconds: 80, Times: 8}
	stopped := why.UnendedTask{Job: "j", Phase: "p", Task: "4", Host: "n3", Seconds: 40, Times: 4}
	young := why.UnendedTask{Job: "j", Phase: "p", Task: "7", Running: true, Seconds: 5, Times: 0.5}
	assert.Equal(t, why.Unended{
		Ended: 4, Running: 2, Stopped: 1, Waiting: 1, Untimed: 1, Slow: 2,
		Worst: []why.UnendedTask{running, stopped, young}, LongestRunning: running, LongestStopped: stopped,
	}, u)
	assert.Equal(t, 5, u.Tasks())
}

// A phase that the engine declared complete has no running task after that time. A phase without a success has no median.
func TestUnendedTasksOfOtherPhases(t *testing.T) {
	u := unendedOf(t, threeTasks, `{"job":"j","phase":"q","completed":30000}`, `{"job":"j","phase":"q","task":0,"start":0}`)
	assert.Equal(t, 1, u.Unmeasured)
	assert.Zero(t, u.Slow)
	assert.Equal(t, 30., u.LongestRunning.Seconds)
	assert.Zero(t, u.LongestRunning.Times)
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
	assert.Equal(t, u.LongestRunning, u.Worst[0])
	assert.Equal(t, 90., u.Worst[0].Seconds)
	assert.Equal(t, 60., u.Worst[19].Seconds)
}

// A task that ran for exactly 1.5 times the median is not slow. Times are compared in nanoseconds: in seconds, 0.258 s would be
// over 1.5 times 0.172 s.
func TestUnendedTaskOfExactlyTheLimit(t *testing.T) {
	for finish, slow := range map[int]int{258: 0, 259: 1} {
		var lines []string
		for task := range 3 {
			lines = append(lines, fmt.Sprintf(`{"job":"j","phase":"p","task":%d,"start":0,"finish":172}`, task))
		}
		lines = append(lines, fmt.Sprintf(`{"job":"j","phase":"p","task":3,"start":0,"finish":%d,"state":"killed"}`, finish))
		assert.Equal(t, slow, unendedOf(t, lines...).Slow, "%d ms", finish)
	}
}
