package byhand

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

func newHost(tasks int) *Host {
	const interval = 10 * time.Second
	return &Host{
		Phase: restart.Phase{Interval: interval, Tasks: tasks, Slots: 5, FreeSlots: 1, Machines: 5},
		Model: estimate.Linear{Grace: 2 * interval, Window: 6 * interval},
		Tasks: make([]Task, tasks),
	}
}

// Four tasks run on machines 0 to 3, and a slot is free on machine 4. The last one is eight times as slow as the others.
func ExampleHost() {
	h := newHost(4)
	var runs []*Attempt
	for i := range 4 {
		runs = append(runs, h.Start(0, i, i))
	}
	at := 20 * time.Second
	for i, done := range []float64{.2, .21, .19, .025} {
		h.Report(at, runs[i], done)
		d, _, _ := h.Decide(at, i)
		fmt.Println("task", i, d)
	}
	copied := h.Start(at, 3, 4)
	h.FreeSlots--

	at = 40 * time.Second
	h.Report(at, runs[3], .05)
	h.Report(at, copied, .2)
	d, _, of := h.Decide(at, 3)
	fmt.Println("task 3", d, "on machine", of[d.Attempt].Machine)
	h.End(at, of[d.Attempt], d.Action)

	h.Finish(120*time.Second, copied)
	fmt.Println("trials won and lost:", h.Trials.Won, h.Trials.Lost, "risk:", h.Trials.AtRisk)
	// Output:
	// task 0 keep not-slow basis=progress remaining=83.6822s fresh=100s slot-seconds=333.527 threshold=375.78
	// task 1 keep not-slow basis=progress remaining=78.7011s fresh=97.619s slot-seconds=313.674 threshold=354.784
	// task 2 keep not-slow basis=progress remaining=89.1876s fresh=100.167s slot-seconds=355.47 threshold=395.138
	// task 3 copy idle-slot basis=progress remaining=815.902s fresh=275.125s slot-seconds=3251.89 threshold=1212.19 gain=540.776s avoid=3
	// task 3 kill copy-faster attempt=0 basis=progress remaining=83.6822s fresh=240.1s saved-slot-seconds=84.5504 threshold=20 on machine 3
	// trials won and lost: 1 0 risk: 0s
}

// A trial ends once, whatever becomes of the copy: it is won, lost, or says nothing. Nothing is at risk afterwards.
func TestTrials(t *testing.T) {
	for name, c := range map[string]struct {
		end       func(h *Host, old, copied *Attempt)
		won, lost float64
	}{
		"the copy wins": {func(h *Host, _, copied *Attempt) { h.Finish(90e9, copied) }, 1, 0},
		"the old one wins": {func(h *Host, old, copied *Attempt) {
			h.Finish(90e9, old)
			h.End(90e9, copied, restart.Kill)
		}, 0, 1},
		"the copy is killed": {func(h *Host, _, copied *Attempt) { h.End(90e9, copied, restart.Kill) }, 0, 1},
		"the copy fails":     {func(h *Host, _, copied *Attempt) { h.End(90e9, copied, restart.Keep) }, 0, 0},
		"the old one is lost": {func(h *Host, old, copied *Attempt) {
			h.End(50e9, old, restart.Keep)
			h.Finish(90e9, copied)
		}, 1, 0},
	} {
		h := newHost(1)
		old := h.Start(0, 0, 0)
		h.Report(20e9, old, .01)
		copied := h.Start(20e9, 0, 1)
		require.Positive(t, h.Trials.AtRisk, name)
		c.end(h, old, copied)
		assert.Equal(t, c.won, h.Trials.Won, name)
		assert.Equal(t, c.lost, h.Trials.Lost, name)
		assert.Zero(t, h.Trials.AtRisk, name)
	}
}

// The host has 79 lines of code, without the package clause and the imports.
func TestLines(t *testing.T) {
	f, err := os.Open("host.go")
	require.NoError(t, err)
	defer f.Close()
	n, imports := 0, false
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		imports = imports && line != ")" || strings.HasPrefix(line, "import (")
		if line != "" && !imports && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "package") {
			n++
		}
	}
	assert.LessOrEqual(t, n, 79+1, "the bracket behind what it imports is one more")
}
