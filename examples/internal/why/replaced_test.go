package why_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// Three phases have one task on each of four machines. The tasks take 10 s, and 25 s on the slow machine; in the last phase
// another machine is as slow, so that phase saves nothing.
func TestReplacedMachines(t *testing.T) {
	var b strings.Builder
	for phase := range 3 {
		for host := range 4 {
			end := 10000
			if host == 2 || host == 3 && phase == 2 {
				end = 25000
			}
			fmt.Fprintf(&b, `{"phase":"p%d","task":%d,"start":0,"finish":%d,"host":"n%d"}`+"\n", phase, host, end, host)
		}
	}
	log, err := trace.Read(strings.NewReader(b.String()), "log")
	require.NoError(t, err)
	phases, _ := workload.FromLog(log)
	saved, err := why.Replaced(phases, func(m string) bool { return m == "n2" })
	require.NoError(t, err)
	assert.InDelta(t, 30, saved, 1e-9)
	saved, err = why.Replaced(phases, func(m string) bool { return m == "n2" || m == "n3" })
	require.NoError(t, err)
	assert.InDelta(t, 45, saved, 1e-9)
	for _, slow := range []bool{false, true} {
		saved, err = why.Replaced(phases, func(string) bool { return slow })
		require.NoError(t, err)
		assert.Zero(t, saved, "without other machines nothing is compared")
	}
}

// Six phases have ten tasks of 10 s on five machines. On machine m9, two tasks take 80 s and 78 s, and an attempt of another
// task fails after 60 s. Elsewhere no task is slow, so the phase takes 20 s without the faults of m9.
func TestReplacedMachineSavesItsFailures(t *testing.T) {
	var b strings.Builder
	line := func(phase, task, attempt, start, took int, host, state string) {
		fmt.Fprintf(&b, `{"phase":"p%d","task":%d,"attempt":%d,"start":%d,"finish":%d,"host":%q,"state":%q}`+"\n",
			phase, task, attempt, 1000*start, 1000*(start+took), host, state)
	}
	for phase := range 6 {
		at := 1000 * phase
		for task := range 10 {
			line(phase, task, 0, at+task/5*10, 10, fmt.Sprintf("m%d", task%5), "succeeded")
		}
		line(phase, 10, 0, at, 80, "m9", "succeeded")
		line(phase, 11, 0, at, 78, "m9", "succeeded")
		line(phase, 12, 0, at, 60, "m9", "failed")
		line(phase, 12, 1, at+60, 10, "m1", "succeeded")
	}
	log, err := trace.Read(strings.NewReader(b.String()), "log")
	require.NoError(t, err)
	phases, _ := workload.FromLog(log)
	saved, err := why.Replaced(phases, func(m string) bool { return m == "m9" })
	require.NoError(t, err)
	assert.InDelta(t, 6*(80-20), saved, 1e-9)
}
