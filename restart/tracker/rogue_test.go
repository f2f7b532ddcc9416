package tracker_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// rogue is a policy that a host has written, and that answers anything.
type rogue struct{ rng *rand.Rand }

func (r rogue) Decide(t restart.Task, p restart.Phase) restart.Decision {
	odd := []float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), -3}
	basis := []restart.Basis{restart.NoBasis, restart.ByAge, restart.ByEarlyProgress + 1, 255}
	gains := []time.Duration{0, time.Second, -time.Second, math.MaxInt64, math.MinInt64}
	return restart.Decision{
		Action: restart.Action(r.rng.IntN(7)), Reason: restart.Reason(r.rng.IntN(256)), Attempt: r.rng.IntN(7) - 2,
		Comparison: restart.Comparison{
			Measure: restart.Measure(r.rng.IntN(256)), Value: odd[r.rng.IntN(len(odd))], Threshold: odd[r.rng.IntN(len(odd))],
		},
		Basis:     basis[r.rng.IntN(len(basis))],
		Remaining: gains[r.rng.IntN(len(gains))], Gain: gains[r.rng.IntN(len(gains))], Avoid: restart.Avoid(t, p),
	}
}

// A policy answers anything. The attempt that the tracker's answer ends always exists and runs. A Kill is never about
// the only attempt of its task, nor about the attempt that is furthest on. A task that must not be copied is not
// copied, and a task that must not be restarted is not restarted. A journal reads every answer back.
func TestAnyAnswerOfAPolicyIsHarmless(t *testing.T) {
	acted, refused := 0, 0
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := tracker.Config{Tasks: 6, Slots: 12, Machines: 5, Interval: time.Second, Policy: rogue{rng}}
		record := journal.NewRecorder(c)
		c.OnEvent = record.OnEvent
		tr := newTracker(t, c)
		began := map[[2]int]int{} // when each running attempt began
		gaveWay := map[int]int{}  // how often the oldest attempt of a task was killed or restarted
		check := func(now int, a tracker.Answer) {
			runs, oldest := 0, now
			for key, since := range began {
				if key[0] == a.Task {
					runs, oldest = runs+1, min(oldest, since)
				}
			}
			switch a.Action {
			case restart.Keep, restart.Start:
				return
			case restart.Copy:
				require.NotEqual(t, 4, a.Task, "the task must not be copied")
			case restart.Restart, restart.Kill:
				since, ok := began[[2]int{a.Task, a.Attempt}]
				require.True(t, ok, "%v names an attempt that does not run", a)
				require.True(t, runs > 1 || a.Action == restart.Restart && a.Task != 5, "%v names the only attempt", a)
				gives := a.Action == restart.Kill && gaveWay[a.Task] < 3 // the oldest attempt, for a copy that is further on
				require.True(t, runs == 1 || since > oldest || gives, "%v names the oldest attempt", a)
				if runs == 1 || since == oldest {
					gaveWay[a.Task]++
				}
				if a.Action == restart.Restart {
					tr.Restart(at(float64(now)), a.Task, a.Attempt)
				} else {
					tr.Kill(at(float64(now)), a.Task, a.Attempt)
				}
				delete(began, [2]int{a.Task, a.Attempt})
			}
			acted++
		}
		tr.SetEligible(4, false, true)
		tr.SetEligible(5, true, false)
		for now := range 300 {
			task := rng.IntN(6)
			switch rng.IntN(4) {
			case 0:
				if a := tr.Next(at(float64(now)), rng.IntN(5)); a.Action == restart.Start || a.Action == restart.Copy {
					began[[2]int{a.Task, tr.Start(at(float64(now)), a.Task, rng.IntN(5))}] = now
				} else {
					check(now, a)
				}
			case 1:
				tr.Sweep(at(float64(now)), func(a tracker.Answer) { check(now, a) })
			default:
				check(now, tr.Decide(at(float64(now)), task))
			}
		}
		refused += tr.Ledger().BadAnswers
		require.Zero(t, tr.Ledger().Ignored)
		for d := range tr.Decisions() {
			require.NotContains(t, d.Reason.String(), "(")
		}
		_, err := journal.Parse(record.Bytes())
		require.NoError(t, err)
		for line := range strings.Lines(string(record.Bytes())) {
			require.NotContains(t, line, "Basis(")
		}
	}
	assert.Greater(t, acted, 500)
	assert.Greater(t, refused, 500)
}

// Answers with each reason are counted, also with the last reason.
func TestEveryReasonIsCounted(t *testing.T) {
	named := 0
	for ; !strings.HasPrefix(restart.Reason(named).String(), "Reason("); named++ {
		tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Policy: answers{Reason: restart.Reason(named)}})
		tr.Start(at(0), 0, 0)
		tr.Decide(at(1), 0)
		got := 0
		for d, n := range tr.Decisions() {
			assert.Equal(t, restart.Reason(named), d.Reason)
			got += n
		}
		assert.Equal(t, 1, got, "%v", restart.Reason(named))
	}
	assert.Greater(t, named, 30)
}

// An interface that contains a nil pointer gives an error and not a panic. A pointer to a policy is accepted as a
// policy.
func TestATypedNilIsAnError(t *testing.T) {
	for want, c := range map[string]tracker.Config{
		`restart: Policy is "a nil *rules.LATE", want a policy, or nil itself for LeastCost`:    {Policy: (*rules.LATE)(nil)},
		`restart: Policy is "a nil *restart.Mantri", want`:                                      {Policy: (*restart.Mantri)(nil)},
		`restart/tracker: Config.Budget is "a nil *tracker.Budget", want a limiter, or nil its`: {Budget: (*tracker.Budget)(nil)},
	} {
		c.Tasks, c.Slots, c.Interval = 1, 1, time.Second
		_, err := tracker.New(c)
		assert.ErrorContains(t, err, want)
	}
	assert.Empty(t, rules.Text((*rules.LATE)(nil)))
	assert.Equal(t, rules.Description{Facts: rules.AllFacts}, rules.Describe((*rules.LATE)(nil)))
	assert.Equal(t, rules.Describe(restart.Mantri{IdleGain: 2}), rules.Describe(&restart.Mantri{IdleGain: 2}))
}
