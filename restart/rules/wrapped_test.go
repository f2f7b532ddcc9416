package rules_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// logged wraps a policy to see each decision. The wrapper has no description.
type logged struct{ p restart.Policy }

func (l logged) Decide(t restart.Task, p restart.Phase) restart.Decision { return l.p.Decide(t, p) }

// saying wraps a policy and returns the description of the wrapped policy.
type saying struct{ logged }

func (s saying) Describe() rules.Description { return rules.Describe(s.p) }

// A wrapped policy decides like the bare policy, with progress and without, because a tracker keeps all facts
// for a policy without a description. LATE is an exception: the tracker does not know which machines LATE
// avoids.
func TestWrappedPolicyDecidesAsTheBareOne(t *testing.T) {
	for name, policy := range policytest.Policies() {
		for _, silent := range []bool{false, true} {
			want, acted := phaseOf(t, policy, silent)
			require.Equal(t, name != "never", acted, "%s, silent %v", name, silent)
			got, _ := phaseOf(t, saying{logged{policy}}, silent)
			require.Equal(t, want, got, "%s, silent %v", name, silent)
			if p, ok := policy.(restart.Mantri); ok && p.MaxRestarts != 0 { // the tracker's own limits hold for the wrapper
				continue
			}
			got, _ = phaseOf(t, logged{policy}, silent)
			for i := range want {
				if _, late := policy.(rules.LATE); late {
					want[i].Avoid, got[i].Avoid = restart.MachineSet{}, restart.MachineSet{}
				}
				require.Equal(t, want[i], got[i], "%s, silent %v", name, silent)
			}
		}
	}
}

// phaseOf runs twelve tasks, one of them long, and returns all decisions.
func phaseOf(t *testing.T, policy restart.Policy, silent bool) (decisions []restart.Decision, acted bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	tr, err := tracker.New(tracker.Config{Tasks: 12, Slots: 14, Machines: 14, Interval: 5 * time.Second, Policy: policy})
	require.NoError(t, err)
	took := make([]float64, 12)
	for i := range took {
		took[i] = 100 + 20*rng.Float64()
		tr.Start(start, i, i)
	}
	took[11] = 1000
	keep := func(a tracker.Answer) {
		decisions = append(decisions, a.Decision)
		acted = acted || a.Action != restart.Keep
	}
	for s := 10.; s < 400; s += 10 {
		now := start.Add(seconds(s))
		for i := range took {
			switch {
			case s-10 > took[i]:
			case s > took[i]:
				tr.Finish(now, i, 0)
			case silent:
				keep(tr.Decide(now, i))
			default:
				keep(tr.Report(now, i, 0, tracker.Report{Done: s / took[i], Score: s / took[i]}))
			}
		}
		keep(tr.Next(now, 13))
	}
	return decisions, acted
}
