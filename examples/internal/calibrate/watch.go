// Package calibrate holds what a tracker says of the time that tasks still need, and of what new copies are worth,
// against what a simulation knows of both.
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

// Watch stands between a tracker and its policy, which must be one that reads t_rem as a distribution, and between the
// tracker and the simulation, as its witness. It changes nothing. Not safe for concurrent use; one per replay.
type Watch struct {
	restart.Policy
	tally Tally

	copies []restart.Attempt // that the policy saw last; they hold until it is asked again
	phase  restart.Phase     // by then
	asked  []bet             // what it wants to do, since the tracker's last answer
	placed map[int]bet       // by task: what was done, until the new copy starts
	looked [bases]map[int]bool
}

// NewWatch returns a watch of a policy.
func NewWatch(policy restart.Policy) *Watch { return &Watch{Policy: policy} }

// Tally returns what was seen so far.
func (w *Watch) Tally() Tally { return w.tally }

// Describe describes the policy that is watched.
func (w *Watch) Describe() rules.Description { return rules.Describe(w.Policy) }

// Validate validates the policy that is watched.
func (w *Watch) Validate() error { return restart.Validate(w.Policy) }

// Decide gives the policy's answer.
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

// Reported counts where in the distribution of its remaining time the true one of the copy lies.
func (w *Watch) Reported(a tracker.Answer, copies []sim.Running, i int) {
	seen := w.copies
	w.copies, w.asked = nil, w.asked[max(0, len(w.asked)-1):] // the last may be the answer, and yet to be carried out
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

// agrees reports whether what the policy was shown are these copies.
func agrees(seen []restart.Attempt, copies []sim.Running) bool {
	return slices.EqualFunc(seen, copies, func(s restart.Attempt, c sim.Running) bool { return s.Elapsed == c.Age })
}

// bet is a new copy of a task: what it was expected to do, and then what it had to beat.
type bet struct {
	kind     kind
	ages     []time.Duration
	on       int        // the copy that it is against, the one with the least t_rem
	share    float64    // of what is left of that, by which a new copy must take less for the rule to be right; 0: bar
	bar      float64    // what is left, in seconds, must exceed it for the rule to be right
	win      float64    // P(t_rem > t_new)
	medians  [2]float64 // of t_rem and t_new
	value    float64    // what the rule looked at
	expected float64    // E(t_rem) - E(t_new), in seconds
	decision restart.Decision
	left     float64 // of the copy, in truth, in seconds
}

// winPoints is in how many points P(t_rem > t_new) looks at t_rem.
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

// wins returns P(t_rem > t_new), both as independent as the rules take them to be.
func wins(c restart.Attempt, fresh estimate.Fresh) (p float64) {
	if c.Left == nil {
		return fresh.Below(c.Remaining.Seconds())
	}
	for i := range winPoints {
		p += fresh.Below(c.Left.Quantile((float64(i)+0.5)/winPoints)) / winPoints
	}
	return p
}

// Acts notes what a new copy is expected to do, and what it has to beat.
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

// matches reports whether the tracker's answer is this decision of the policy. The tracker may name other machines to
// avoid, and names the attempt by its number.
func (b *bet) matches(d restart.Decision, copies []sim.Running) bool {
	d.Avoid, d.Attempt = b.decision.Avoid, b.decision.Attempt
	return d == b.decision && slices.EqualFunc(b.ages, copies, func(age time.Duration, c sim.Running) bool {
		return age == c.Age
	})
}

// Launched settles what was expected of the new copy.
func (w *Watch) Launched(task int, takes time.Duration) {
	b, ok := w.placed[task]
	if !ok {
		return
	}
	delete(w.placed, task)
	w.tally.Bets[b.kind].settle(b, takes.Seconds())
}
