package tracker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
)

// even returns the trail of a copy that has passed so many parts of its work, each in ten seconds; one that stalls takes
// a hundred for the third.
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

// The tracker believes the progress of an even copy once three copies have ended, if three in four moved evenly, with one
// uneven copy added. It does not believe that of a copy that stalls.
func TestEvenProgressIsBelieved(t *testing.T) {
	m := ages{even: true}
	steady, stalled, young := even(8, false), even(8, true), even(plainParts-1, false)
	assert.False(t, m.evenly(&steady), "before any has ended")
	for range 10 {
		m.moved(&young)
	}
	assert.False(t, m.evenly(&steady), "who had no time to show how it moves says nothing")
	m.moved(&steady)
	m.moved(&steady)
	assert.False(t, m.evenly(&steady), "two have ended")
	m.moved(&steady)
	assert.True(t, m.evenly(&steady))
	assert.False(t, m.evenly(&stalled))
	m.moved(&stalled)
	assert.False(t, m.evenly(&steady), "three of four, and the doubt of one more")
	for range 3 {
		m.moved(&steady)
	}
	assert.True(t, m.evenly(&steady), "six of seven")
	late := even(firstParts, false)
	late.Report(500*time.Second, (firstParts+1.1)/survival.Parts)
	m = ages{even: true}
	for range 3 {
		m.moved(&late)
	}
	assert.True(t, m.evenly(&steady), "one that has ended counts by the first half of its work")
	assert.False(t, m.evenly(&late))
}

// Before any copy has ended, the tracker believes the progress of an even one once nearly all that run have shown that they
// move evenly. The fast ones show it first; it does not go by them alone.
func TestEvenProgressIsBelievedBeforeTheFirstEnd(t *testing.T) {
	for name, c := range map[string]struct {
		plain, stalled, young int
		believed              bool
	}{
		"all but four are plain, and even": {16, 0, 4, true},
		"few are plain yet":                {8, 0, 12, false},
		"one in nine stalls":               {16, 2, 2, false},
		"two are too few":                  {2, 0, 2, false},
	} {
		tr, err := New(Config{Tasks: 20, Slots: 20, Interval: 10 * time.Second})
		require.NoError(t, err)
		start := time.Unix(0, 0)
		f := &tr.phase.forecast
		for task := range c.plain + c.stalled + c.young {
			tr.Start(start, task, task)
			one := &tr.phase.book.copies.all[task]
			switch {
			case task < c.plain:
				one.trail = even(plainParts, false)
			case task < c.plain+c.stalled:
				one.trail = even(plainParts, true)
			default:
				one.trail = even(1, false)
			}
		}
		assert.Equal(t, c.believed, f.allEven(), name)
		tr.phase.book.now = 40 * time.Second
		f.refresh()
		slow := even(1, false)
		assert.Equal(t, c.believed, f.ages.evenly(&slow), name)

		data, err := tr.MarshalBinary()
		require.NoError(t, err)
		restored, err := Restore(Config{Tasks: 20, Slots: 20, Interval: 10 * time.Second}, data)
		require.NoError(t, err)
		assert.Equal(t, c.believed, restored.phase.forecast.ages.evenly(&slow), name)
	}
}

// Copies that are killed since their tasks are long say nothing about the machine on which they ran; old attempts that are
// killed for copies do.
func TestCopiesInVainMakeNoMachineSlow(t *testing.T) {
	const tasks, long, machine = 30, 4, 35
	for _, inVain := range []bool{true, false} {
		record, err := machines.New(machines.Config{})
		require.NoError(t, err)
		tr, err := New(Config{Tasks: tasks, Slots: 40, Machines: 40, Interval: time.Second, Record: record})
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
		assert.Equal(t, inVain, record.Factor(machine) < 2, "%v", record.Factor(machine))
	}
}

// A copy that loses to the old attempt has run on: it would have taken at least so long on its machine, and counts against
// that. Three such copies make the machine slow, whoever ran there.
func TestCopiesThatAreOvertakenCountAgainstTheirMachine(t *testing.T) {
	const tasks, slow, machine = 30, 4, 35
	record, err := machines.New(machines.Config{})
	require.NoError(t, err)
	tr, err := New(Config{Tasks: tasks, Slots: 40, Machines: 40, Interval: time.Second, Record: record})
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
		now = now.Add(50 * time.Second) // others took ten, and so would the copy have on another machine
		assert.Equal(t, []int{copied}, tr.Finish(now, task, 0))
	}
	assert.Greater(t, record.Factor(machine), 2.)
}

// How long the tasks take that lost trials of a kind is not passed on. So once the kind knows of lost trials, they say the
// same about all tasks.
func TestLongestOfAKindIsUnknown(t *testing.T) {
	kind := new(Experience)
	tr, err := New(Config{Tasks: 20, Slots: 20, Interval: 10 * time.Second, Experience: kind})
	require.NoError(t, err)
	tr.judge.trials.Longest = 100 * time.Second
	assert.Equal(t, 100*time.Second, tr.Phase().Trials.Longest)
	kind.lost = 1
	assert.Zero(t, tr.Phase().Trials.Longest)
}

// The first ends show that progress runs fast at first. What a copy had reported by then is read again: otherwise it would seem
// to stand still until it has done more by the new reading than it had by the old.
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
