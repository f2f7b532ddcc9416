package tracker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
)

// even returns the trail of an attempt that has completed the given number of parts of its work. Each part took ten
// seconds. If the attempt stalls, the third part took a hundred seconds.
func even(parts int, stalls bool) (t survival.Trail) {
	age := time.Duration(0)
	t.Report(age, 0)
	for k := range parts {
		if age += 10 * time.Second; stalls && k == 2 {
			age += 90 * time.Second
		}
		t.Report(age, (float64(k)+1+1e-5)/survival.Parts)
	}
	return t
}

// The tracker believes the progress of an even attempt if at least three attempts have ended, and three in four of
// them progressed evenly, with one uneven attempt added to them. It does not believe the progress of an attempt that
// stalls.
func TestEvenProgressIsBelieved(t *testing.T) {
	var m evenness
	steady, stalled, young := even(8, false), even(8, true), even(judgedParts-1, false)
	assert.False(t, m.believes(&steady), "no attempt has ended")
	for range 10 {
		m.count(&young)
	}
	assert.False(t, m.believes(&steady), "an attempt of few parts does not show how it moves")
	m.count(&steady)
	m.count(&steady)
	assert.False(t, m.believes(&steady), "only two attempts have ended")
	m.count(&steady)
	assert.True(t, m.believes(&steady))
	assert.False(t, m.believes(&stalled))
	m.count(&stalled)
	assert.False(t, m.believes(&steady), "three of four, and one uneven attempt added, are too few")
	for range 3 {
		m.count(&steady)
	}
	assert.True(t, m.believes(&steady), "six of seven, and one uneven attempt added, are enough")
	late := even(judgedParts, false)
	late.Report(500*time.Second, (judgedParts+1.1)/survival.Parts)
	m = evenness{}
	for range 3 {
		m.count(&late)
	}
	assert.True(t, m.believes(&steady), "an ended attempt counts by the first parts of its work")
	assert.False(t, m.believes(&late))
}

// Copies that were killed because their tasks were long are no evidence that their machine is slow. Old attempts that
// were killed because a copy was faster are such evidence.
func TestCopiesKilledInVainMakeNoMachineSlow(t *testing.T) {
	const tasks, long, machine = 30, 4, 35
	for _, inVain := range []bool{true, false} {
		know := new(Knowledge)
		tr, err := New(Config{Tasks: tasks, Slots: 40, Machines: 40, Interval: time.Second, Knowledge: know})
		require.NoError(t, err)
		now := time.Unix(0, 0)
		for task := range tasks {
			on := task
			if !inVain && task < long {
				on = machine
			}
			tr.Start(now, task, on)
		}
		now = now.Add(10 * time.Second)
		for task := long; task < tasks; task++ {
			now = now.Add(10 * time.Millisecond)
			tr.Finish(now, task, 0)
		}
		for task := range long {
			killed := 0
			if copied := tr.Start(now, task, machine+1); inVain {
				tr.Kill(now, task, copied)
				killed = tr.Start(now, task, machine)
			}
			now = now.Add(200 * time.Second)
			tr.Kill(now, task, killed)
		}
		assert.Equal(t, inVain, know.Machines().Factor(machine) < 2, "%v", know.Machines().Factor(machine))
	}
}

// A copy ran until the old attempt finished first. So on its machine the copy would have taken at least as long as it
// ran, which is evidence that the machine is slow. Three such copies of different tasks are enough.
func TestOvertakenCopiesMakeTheirMachineSlow(t *testing.T) {
	const tasks, slow, machine = 30, 4, 35
	know := new(Knowledge)
	tr, err := New(Config{Tasks: tasks, Slots: 40, Machines: 40, Interval: time.Second, Knowledge: know})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for task := range tasks {
		tr.Start(now, task, task)
	}
	now = now.Add(10 * time.Second)
	for task := slow; task < tasks; task++ {
		now = now.Add(10 * time.Millisecond)
		tr.Finish(now, task, 0)
	}
	for task := range slow {
		copied := tr.Start(now, task, machine)
		now = now.Add(50 * time.Second) // other attempts took ten seconds, and the copy would have taken ten elsewhere
		assert.Equal(t, []int{copied}, tr.Finish(now, task, 0))
	}
	assert.Greater(t, know.Machines().Factor(machine), 2.)
}

// A Knowledge does not contain the run times of tasks that lost trials. So a phase that reads the lost trials of
// other phases takes them as evidence about tasks of every length.
func TestAKindWithLostTrialsHasNoLongest(t *testing.T) {
	know := kindsOnly(0)
	tr, err := New(Config{Tasks: 20, Slots: 20, Interval: 10 * time.Second, Knowledge: know, Kind: daily})
	require.NoError(t, err)
	tr.phase.trials.Longest = 100 * time.Second
	assert.Equal(t, 100*time.Second, tr.Phase().Trials.Longest)
	know.kind(daily).lost = 1
	assert.Zero(t, tr.Phase().Trials.Longest)
}

// The first attempts that end show that progress runs fast at first. So the earlier reports of a running attempt are
// converted again. Otherwise the attempt would seem to make no progress until its converted progress exceeds the old
// value.
func TestProgressIsReadAgain(t *testing.T) {
	tr, err := New(Config{Work: make([]float64, 4), Slots: 4, Interval: 10 * time.Second, Machines: 4})
	require.NoError(t, err)
	begin := time.Unix(0, 0)
	for i := range 4 {
		tr.Start(begin, i, i)
	}
	fast := func(u float64) float64 { return min(5*u, .5+float64((u-.1)/1.8)) } // half of the work in a tenth of the time
	left := time.Duration(0)
	for at := 10; at <= 1100; at += 10 {
		now := begin.Add(time.Duration(at) * time.Second)
		for i := range 3 {
			if at < 1000 {
				tr.Report(now, i, 0, Report{Score: fast(float64(at) / 1000)})
			} else if at == 1000 {
				tr.Finish(now, i, 0)
			}
		}
		left = tr.Report(now, 3, 0, Report{Score: fast(float64(at) / 2000)}).Remaining
	}
	assert.InDelta(t, 900, left.Seconds(), 250)
}

// A growing phase halves its counts from 64 ended attempts on, so that as many new attempts outweigh them.
func TestManyShownAttemptsAreHalved(t *testing.T) {
	few, many := evenness{shown: 63, even: 40}, evenness{shown: 64, even: 40}
	few.halve()
	many.halve()
	assert.Equal(t, evenness{shown: 63, even: 40}, few)
	assert.Equal(t, evenness{shown: 32, even: 20}, many)
}
