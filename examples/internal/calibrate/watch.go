// Package calibrate compares the predictions of a tracker with the truth, which a simulation knows. The predictions
// are the remaining time of tasks, and the gain of new attempts.
package calibrate

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Watch wraps a policy and records its predictions. It is also the witness of the simulation, from which it gets the
// truth. The policy must read the remaining time (t_rem) as a distribution. Watch does not change decisions. Use one
// Watch for each replay; it is not safe for concurrent use.
type Watch struct {
	restart.Policy
	tally Tally

	copies []restart.Attempt // the attempts in the last call of the policy; valid until the next call
	phase  restart.Phase     // the phase in the last call
	asked  []bet             // the launches that the policy asked for since the last answer of the tracker
	placed map[int]bet       // the launch of each task that was decided, until the new attempt starts
	looked [bases]map[int]bool
}

// NewWatch returns a Watch of a policy.
func NewWatch(policy restart.Policy) *Watch { return &Watch{Policy: policy} }

// Tally returns the comparison so far.
func (w *Watch) Tally() Tally { return w.tally }

// Describe returns the description of the wrapped policy.
func (w *Watch) Describe() rules.Description { return rules.Describe(w.Policy) }

// Validate validates the wrapped policy.
func (w *Watch) Validate() error { return restart.Validate(w.Policy) }

// Decide returns the decision of the wrapped policy.
func (w *Watch) Decide(t restart.Task, p restart.Phase) restart.Decision {
	d := w.Policy.Decide(t, p)
	w.copies, w.phase = t.Attempts, p
	if d.Action == restart.Restart || d.Action == restart.Copy {
		w.asked = append(w.asked, newBet(d, t, p))
	}
	return d
}

// Begins forgets the tasks of the phase before.
func (w *Watch) Begins(*sim.Phase) {
	w.copies, w.asked, w.placed = nil, nil, map[int]bet{}
	for i := range w.looked {
		w.looked[i] = map[int]bool{}
	}
}

// Reported compares the true remaining time of the attempt with its predicted distribution.
func (w *Watch) Reported(a tracker.Answer, copies []sim.Running, i int) {
	seen := w.copies
	w.copies, w.asked = nil, w.asked[max(0, len(w.asked)-1):] // the last launch may be the answer that is carried out next
	if !agrees(seen, copies) || seen[i].Left == nil {
		return
	}
	if !copies[i].Succeeds {
		w.tally.Failing++
		return
	}
	basis := basisOf(seen[i].Basis, w.phase)
	first := !w.looked[basis][a.Task]
	w.looked[basis][a.Task] = true
	w.tally.Left[basis].look(seen[i].Left, copies[i], first)
}

// agrees reports whether the attempts that the policy saw are these attempts of the simulation.
func agrees(seen []restart.Attempt, copies []sim.Running) bool {
	return slices.EqualFunc(seen, copies, func(s restart.Attempt, c sim.Running) bool { return s.Elapsed == c.Age })
}

// bet is a launch: the prediction for the new attempt, and then the truth about the old attempt.
type bet struct {
	kind     kind
	ages     []time.Duration
	on       int        // index of the old attempt, with the least t_rem
	share    float64    // the rule is right if the new attempt takes less than this share of the true remaining time; 0: use bar
	bar      float64    // the rule is right if the true remaining time is longer than this, in seconds
	win      float64    // P(t_rem > t_new)
	medians  [2]float64 // medians of t_rem and t_new
	value    float64    // the number that the rule compared
	expected float64    // E(t_rem) - E(t_new), in seconds
	decision restart.Decision
	left     float64 // true remaining time of the old attempt, in seconds
}

// winPoints is the number of points of t_rem from which P(t_rem > t_new) is computed.
const winPoints = 64

func newBet(d restart.Decision, t restart.Task, p restart.Phase) bet {
	b := bet{decision: d, value: d.Value, bar: d.Bar.Seconds(), on: -1}
	for i, c := range t.Attempts {
		b.ages = append(b.ages, c.Elapsed)
		if c.Remaining != estimate.Unknown && (b.on < 0 || c.Remaining < t.Attempts[b.on].Remaining) {
			b.on = i
		}
	}
	switch {
	case d.Action == restart.Restart && early(p):
		b.kind = restartedEarly
	case d.Action == restart.Restart:
		b.kind = restarted
	case d.Reason == restart.SavesResources:
		b.kind = beside
		c := float64(len(t.Attempts))
		b.share = c / (c + 1)
	default:
		b.kind = idle
	}
	b.expected = (d.Remaining - d.Fresh).Seconds()
	if b.on >= 0 {
		c := t.Attempts[b.on]
		b.win = wins(c, t.Fresh)
		b.medians = [2]float64{c.Remaining.Seconds(), t.Fresh.Quantile(0.5)}
		if c.Left != nil {
			b.medians[0] = c.Left.Quantile(0.5)
		}
	}
	return b
}

// wins returns P(t_rem > t_new), with t_rem and t_new independent, as the rules assume.
func wins(c restart.Attempt, fresh estimate.Fresh) (p float64) {
	if c.Left == nil {
		return fresh.Below(c.Remaining.Seconds())
	}
	for i := range winPoints {
		p += fresh.Below(c.Left.Quantile((float64(i)+0.5)/winPoints)) / winPoints
	}
	return p
}

// Acts records the prediction for a new attempt, and the true remaining time of the old attempt.
func (w *Watch) Acts(a tracker.Answer, copies []sim.Running) {
	asked := w.asked
	w.copies, w.asked = nil, nil
	if a.Action == restart.Kill {
		return
	}
	for _, b := range slices.Backward(asked) {
		if !b.matches(a.Decision, copies) {
			continue
		}
		if b.on >= 0 && copies[b.on].Succeeds {
			b.left = copies[b.on].Left.Seconds()
			w.placed[a.Task] = b
		} else {
			w.tally.Failing++
		}
		return
	}
	w.tally.Unmatched++
}

// matches reports whether the answer of the tracker is this decision of the policy. The tracker may add machines to
// avoid, and it uses the number of the attempt instead of the index.
func (b *bet) matches(d restart.Decision, copies []sim.Running) bool {
	d.Avoid, d.Attempt = b.decision.Avoid, b.decision.Attempt
	return d == b.decision && slices.EqualFunc(b.ages, copies, func(age time.Duration, c sim.Running) bool {
		return age == c.Age
	})
}

// Launched compares the prediction with the true time of the new attempt.
func (w *Watch) Launched(task int, takes time.Duration) {
	b, ok := w.placed[task]
	if !ok {
		return
	}
	delete(w.placed, task)
	w.tally.Bets[b.kind].settle(b, takes.Seconds())
}
