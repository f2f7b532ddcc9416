package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// spyPolicy keeps every task, and stores whether the phase is stuck.
type spyPolicy struct{ stuck bool }

func (*spyPolicy) Describe() rules.Description { return rules.Describe(restart.LeastCost{}) }

func (p *spyPolicy) Decide(t restart.Task, phase restart.Phase) restart.Decision {
	p.stuck = p.stuck || phase.Stuck(t.Longest)
	return restart.Decision{}
}

// sweep calls Sweep each second, and returns the first second in which a task is stuck.
func (p *spyPolicy) sweep(tr *tracker.Tracker, from int, each func(s int)) int {
	for s := from; s < from+200; s++ {
		each(s)
		tr.Sweep(start.Add(time.Duration(s)*time.Second), func(tracker.Answer) {})
		if p.stuck {
			return s
		}
	}
	return -1
}

// A task is stuck if nothing has begun or ended for four times the longest run time, scaled to the task's work. The
// run times of other phases of the kind are included.
func TestAPhaseIsStuckAfterFourLongestRunTimes(t *testing.T) {
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	for name, of := range map[string]struct {
		work  []float64
		early bool // an attempt begins at 30 s
		want  int
	}{
		"the task takes as long as others":     {nil, false, 10 + 4*10},
		"an attempt begins at 30 s":            {nil, true, 30 + 4*10},
		"the task has 1.6 times the mean work": {[]float64{1, 1, 1, 2}, false, 10 + 4*16},
	} {
		spy := &spyPolicy{}
		tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Interval: time.Second, Policy: spy, Work: of.work})
		for task := range 4 {
			tr.Start(at(0), task, task)
		}
		for task := range 3 {
			tr.Finish(at(8+task), task, 0)
		}
		assert.Equal(t, of.want, spy.sweep(tr, 11, func(s int) {
			if of.early && s == 30 {
				tr.Start(at(s), 3, 0)
			}
		}), name)
	}
	kind := onlyKinds(t)
	first := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Interval: time.Second, Policy: &spyPolicy{}, Knowledge: kind, Kind: "a"})
	for task := range 4 {
		first.Start(at(0), task, task)
		first.Finish(at(5+5*task), task, 0)
	}
	first.Close(at(21))
	for ended, want := range []int{100 + 4*20, 102 + 4*20} { // an attempt that ends soon changes little
		spy := &spyPolicy{}
		second := newTracker(t, tracker.Config{Tasks: 4, Slots: 4, Interval: time.Second, Policy: spy, Knowledge: kind, Kind: "a"})
		for task := range 4 {
			second.Start(at(100), task, task)
		}
		assert.Equal(t, want, spy.sweep(second, 101, func(s int) {
			if ended > 0 && s == 102 {
				second.Finish(at(s), 0, 0)
			}
		}))
	}
}
