package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// A phase is compared with that of its own job if the other run has the job. The phases of other jobs are compared by their names:
// the names of many engines' jobs differ from run to run.
func TestPhasesAreComparedByJobIfTheyCan(t *testing.T) {
	phase := func(job string, seconds int) *sim.Phase {
		return &sim.Phase{Job: job, Name: "map", Recorded: time.Duration(seconds) * time.Second, Tasks: []sim.Task{{Attempts: make([]sim.Attempt, 1)}}}
	}
	var r Report
	r.Compare("last week", []*sim.Phase{phase("etl", 10), phase("load", 5), phase("job_8", 4)},
		[]*sim.Phase{phase("etl", 2), phase("load", 9), phase("job_1", 7), phase("job_2", 7)})
	var names []string
	var seconds [][2]float64
	for _, c := range r.Against.Phases {
		names, seconds = append(names, c.Phase), append(seconds, c.Seconds)
	}
	assert.Equal(t, []string{"map", "etl map", "load map"}, names)
	long := strings.Repeat("customers-", 9)
	both := []*sim.Phase{phase(long+"emea"+long, 1), phase(long+"apac"+long, 2), phase("ma", 3), phase("m", 4)}
	r.Compare("last week", both, both)
	assert.Len(t, r.Against.Phases, 4, "names that look alike when they are printed")
	assert.Equal(t, [][2]float64{{14, 4}, {2, 10}, {9, 5}}, seconds)
}
