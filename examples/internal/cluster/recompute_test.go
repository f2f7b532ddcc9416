package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/replicate"
)

// twoReaders is a machine that loses its outputs 12 s after two jobs have come. The first job reads, and notices at
// once. The second reads nothing until its longest map ends; by then the other map's output is gone. A third job,
// which comes a second before them, keeps the other machine busy until 11 s.
func twoReaders(seed uint64, longest float64, guard *Replication) Config {
	reads := func(bytes, rate float64) Phase {
		return Phase{Kind: Reduce, After: []int{0}, Fetch: rate, Tasks: []Task{{Seconds: 5, Bytes: bytes}}}
	}
	return Config{
		Seed: seed, Record: true, LateNotice: true, Replicate: guard,
		Machines: []Machine{
			{Slots: [kinds]int{3, 2}, Loses: []time.Duration{seconds(13)}}, {Slots: [kinds]int{1, 0}},
		},
		Jobs: []Job{
			{At: seconds(1), Phases: []Phase{{Tasks: sleep(10)}, reads(100, 5)}},
			{At: seconds(1), Phases: []Phase{{Tasks: sleep(10, longest)}, reads(100, 0)}},
			{Phases: []Phase{{Tasks: sleep(12)}}},
		},
	}
}

// twoReadersApart runs twoReaders with the first seed under which the third job gets the other machine.
func twoReadersApart(t *testing.T, longest float64, guard *Replication) (Result, time.Duration) {
	t.Helper()
	for seed := range uint64(100) {
		r := run(t, twoReaders(seed, longest, guard))
		for _, a := range r.Runs {
			if a.Job == 2 && a.Machine == 1 {
				return r, r.Jobs[1].Took()
			}
		}
	}
	require.Fail(t, "no seed puts the third job on the second machine")
	return Result{}, 0
}

func TestOutputsAreComputedAgainAheadOfNeed(t *testing.T) {
	const slow = 1e-3 // bytes a second: no copy is worth its time
	for _, c := range []struct {
		name                string
		longest             float64
		ahead               *Ahead
		runs, saved, late   int
		recomputed, seconds int // outputs of all jobs; how long the second job takes
	}{
		{"never: noticed at 60 s, computed again until 70 s", 60, nil, 0, 0, 0, 2, 75},
		// The loss at 60 or 15 s has the other map run again, too, until its reader has read.
		{"from 12 to 22 s, and read at 60 s", 60, &Ahead{Share: replicate.Off}, 2, 1, 0, 1, 65},
		{"never: noticed at 15 s, computed again until 25 s", 15, nil, 0, 0, 0, 2, 30},
		{"from 12 to 22 s, noticed at 15 s", 15, &Ahead{Share: replicate.Off}, 2, 0, 1, 2, 27},
		{"a twentieth of 31 s is not enough for 10 s", 60, new(Ahead), 0, 0, 0, 2, 75},
		{"half of 31 s is", 60, &Ahead{Share: 0.5}, 1, 1, 0, 1, 65},
		{"the second loss begins a burst, at 60 s", 60,
			&Ahead{Share: replicate.Off, Bursts: replicate.LossBurstsConfig{Losses: 2}}, 1, 0, 0, 2, 75},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, took := twoReadersApart(t, c.longest, &Replication{Bandwidth: slow, Ahead: c.ahead})
			assert.Zero(t, r.Replicas)
			assert.Equal(t, []int{c.runs, c.saved, c.late, c.recomputed},
				[]int{r.Ahead, r.AheadSaved, r.AheadLate, r.Recomputed}, "runs ahead, read, late; computed again")
			assert.Equal(t, seconds(float64(c.seconds)), took)
		})
	}
}
