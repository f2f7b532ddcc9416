package workload

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/alike"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// run is a phase of tasks of a second, by their names.
func run(kin alike.Kin, names ...string) *sim.Phase {
	p := &sim.Phase{Job: "j", Name: "tests", Kin: kin, Slots: []sim.Slot{{Machine: -1}}}
	for _, name := range names {
		p.Tasks = append(p.Tasks, sim.Task{Name: name, Attempts: []sim.Attempt{{Duration: time.Second}}})
	}
	return p
}

// The same name in ten runs is the same work. Ten times in one it is only where the log says so.
func TestDivide(t *testing.T) {
	var ten []*sim.Phase
	for range alike.LeastRuns {
		ten = append(ten, run(alike.Named, "a", "b", "b"))
	}
	d := Divide(ten, false)
	require.Len(t, d.Alike, 1, "b has other parameters each time")
	assert.Len(t, d.Unlike, alike.LeastRuns)
	assert.Equal(t, []int{-1}, d.Place)
	runs := d.Alike[0]
	assert.Equal(t, "tests: a", runs.Name)
	assert.True(t, runs.Apart)
	assert.Equal(t, 10*time.Second, runs.Recorded, "the runs' times together")
	assert.Empty(t, Divide(ten[:9], false).Alike)
	assert.Len(t, Divide(ten[:9], true).Alike, 9, "who says that all are alike is believed")

	var names []string
	for range 12 {
		names = append(names, "c")
	}
	assert.Len(t, Divide([]*sim.Phase{run(alike.Rerun, names...)}, false).Alike, 1)
	assert.Empty(t, Divide([]*sim.Phase{run(alike.Named, names...)}, false).Alike)
	assert.Empty(t, Divide([]*sim.Phase{run(alike.Unlike, names...)}, false).Alike)

	mixed := []*sim.Phase{run(alike.Unlike, "x"), run(alike.Alike, "y"), run(alike.Alike, "z")}
	mixed[2].DependsOn = []int{0, 1}
	d = Divide(mixed, false)
	assert.Equal(t, []int{1, 2}, d.Place)
	assert.Equal(t, "[0]", fmt.Sprint(d.Alike[1].DependsOn), "among those that are compared")
}
