package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A host that reports only scores gets the same decisions of every policy, the same estimates, and the same rates as
// a host that reports the work.
func TestAScoreAloneIsEnough(t *testing.T) {
	for name, policy := range policytest.Policies() {
		acted := 0
		for seed := range cases(6, 20) {
			rng := rand.New(rand.NewPCG(seed, 8))
			c := tracker.Config{
				Work: make([]float64, 12), Slots: 10 + rng.IntN(8), Machines: 10, Interval: 5 * time.Second,
				Policy: policy, Limits: published,
			}
			for i := range c.Work {
				c.Work[i] = []float64{4, 8, 16}[rng.IntN(3)] // a score times one of these works is exact
			}
			one, two := newTracker(t, c), newTracker(t, c)
			both := func(e tracker.Event) tracker.Answer {
				other := e
				other.Report = tracker.Report{Done: e.Report.Score * c.Work[max(e.Task, 0)]}
				a, b := one.Apply(e), two.Apply(other)
				if !equal(a, b) {
					require.Equal(t, a.String(), b.String(), "%s, seed %d, %+v", name, seed, e)
					require.Equal(t, a.Task, b.Task)
				}
				return a
			}
			began, live := map[[2]int]float64{}, [][2]int{}
			for s := 0.; s < 400 && one.Phase().Finished < 12; s++ {
				for range 10 {
					a := both(tracker.Event{Kind: tracker.Offered, Time: at(s), Machine: rng.IntN(10)})
					if a.Action != restart.Start && a.Action != restart.Copy {
						break
					}
					if a.Action == restart.Copy {
						acted++
					}
					n := both(tracker.Event{Kind: tracker.Started, Time: at(s), Task: a.Task, Machine: rng.IntN(10)}).Attempt
					began[[2]int{a.Task, n}] = s
					live = append(live, [2]int{a.Task, n})
				}
				next := live[:0]
				for _, k := range live {
					score := (s - began[k]) / (c.Work[k[0]] * float64(2+(k[0]*7+k[1]*3)%5*(k[0]%3+1)))
					if _, runs := began[k]; !runs {
						continue
					}
					if score >= 1 {
						overtaken := both(tracker.Event{Kind: tracker.Finished, Time: at(s), Task: k[0], Attempt: k[1]}).Overtaken
						for _, n := range overtaken {
							delete(began, [2]int{k[0], n})
						}
						delete(began, k)
						continue
					}
					a := both(tracker.Event{Kind: tracker.Reported, Time: at(s), Task: k[0], Attempt: k[1], Report: tracker.Report{Score: score}})
					if a.Action == restart.Copy {
						acted++
					}
					if a.Action == restart.Restart || a.Action == restart.Kill {
						acted++
						kind := map[restart.Action]tracker.EventKind{restart.Restart: tracker.Restarted, restart.Kill: tracker.Killed}[a.Action]
						both(tracker.Event{Kind: kind, Time: at(s), Task: a.Task, Attempt: a.Attempt})
						delete(began, [2]int{a.Task, a.Attempt})
					}
					next = append(next, k)
				}
				live = next
			}
			require.Equal(t, one.UnitTimes().Samples(), two.UnitTimes().Samples())
			require.Equal(t, one.Ledger(), two.Ledger())
		}
		if name != "never" {
			assert.Greater(t, acted, 10, name)
		}
	}
}
