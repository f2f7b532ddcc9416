package delay

import (
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Locality is the delay scheduling of one job: the level that it may launch at, and how long it has waited there. It is
// made by [Policy.Start]; the zero Locality has no task for any slot. Not safe for concurrent use; one per job.
//
// Whatever the offers, and whatever nodes come and go, a job that launches nothing may launch anywhere once it has
// waited for the sum of the policy's waits.
type Locality struct {
	policy     *Policy
	candidates uint64 // levels at which the job has tasks that could be launched; always the last one, too
	level      int    // the allowed one
	clock      clock.Clock
	waited     time.Duration // at this level, in the policy's unit
	left       time.Duration // of all waits, as it was when the job came to this level; Forever is never used up
	counting   bool          // whether time goes into waited
	declined   bool          // whether an offer was, because of the delay, since the wait started

	// For NoRejection.
	rejected bool // in this round of offers, because of the delay
	tainted  bool // since, and including, the last round that offered all free slots
	launched int  // the most local level of this round's launches; -1 if there is none
}

// Start returns a Locality at level 0 that has not waited yet and has candidates at every level.
func (p *Policy) Start(now time.Time) Locality {
	l := Locality{policy: p, candidates: p.all(), left: p.total, counting: p.reset != OnLaunch, launched: -1}
	l.clock.At(now)
	return l
}

func (p *Policy) all() uint64 { return 1<<p.Levels() - 1 }

// Offer answers whether to launch a task of the job on a slot for which the most local task that the job has is of the
// given level; a level that does not exist says that it has none. The answer counts as carried out: the job waits on
// from a rejection, and starts its wait again after a launch, as the policy's [Reset] says.
//
// The level rises once the job has waited at least the policy's wait, not only when it has waited longer; what it has
// waited beyond that counts at the next level, so that several levels can be crossed at once. A clock that steps back
// adds nothing to the wait, which goes on from there. O(1), and O(levels) where levels are crossed; no allocation.
func (l *Locality) Offer(now time.Time, level int) Decision {
	if l.policy == nil {
		return Decision{Reason: NoTask, Level: level}
	}
	l.advance(now)
	d := Decision{Level: level, Allowed: l.level}
	switch {
	case level < 0 || level >= l.policy.Levels():
		d.Reason = NoTask
	case level <= l.level:
		d.Action, d.Reason = Launch, LocalEnough
		l.launch(level)
	default:
		d.Reason = Delayed
		l.reject()
	}
	d.NextLevelIn, d.Misses = l.remaining()
	return d
}

// Allowed returns the least local level that the job may launch at now, and in how long that rises, as
// [Decision.NextLevelIn] has it. O(1), and O(levels) where levels are crossed; no allocation.
func (l *Locality) Allowed(now time.Time) (level int, rise time.Duration) {
	if l.policy == nil {
		return 0, 0
	}
	l.advance(now)
	rise, _ = l.remaining()
	return l.level, rise
}

// SetCandidates says at which levels the job has tasks that could be launched: bit i of levels is set if some pending
// task prefers, at level i, a node that is there. Call it when that changes: when the last task with a preference is
// launched, or nodes join or leave. The last level, where any node will do, always counts as set, and bits beyond the
// policy's levels mean nothing.
//
// A level without candidates is skipped at once, and its wait is not waited (SPARK-4939). If a more local level than
// the present one gets candidates that it did not have, the job goes back to it and waits there again (SPARK-31837),
// but no longer than is left of the sum of its waits: nodes that come and go do not hold it back for ever. O(1), and
// O(levels) where levels are crossed; no allocation.
func (l *Locality) SetCandidates(now time.Time, levels uint64) {
	if l.policy == nil {
		return
	}
	l.advance(now)
	last := uint64(1) << (l.policy.Levels() - 1)
	levels = levels&l.policy.all() | last
	added := levels &^ l.candidates & (1<<l.level - 1)
	l.candidates = levels
	if added != 0 {
		l.move(bits.TrailingZeros64(added), l.waited)
	}
	l.rise()
}

// EndRound closes a round of offers; all says that the round offered every slot of the cluster that was free. Under
// [NoRejection] this is where the wait starts again; the other rules do not need it. A host that offers slots one by
// one, as they become free, closes a round after each, and one of all free slots now and then. O(1), and O(levels)
// where levels are crossed; no allocation.
func (l *Locality) EndRound(now time.Time, all bool) {
	if l.policy == nil || l.policy.reset != NoRejection {
		return
	}
	l.advance(now)
	switch {
	case l.rejected:
		l.tainted = true
	case all || !l.tainted:
		l.tainted = false
		if l.launched >= 0 {
			l.restart(l.launched)
		} else if !l.declined {
			l.restart(l.level)
		}
	}
	l.rejected, l.launched = false, -1
}

// advance takes the time since the last call into the wait.
func (l *Locality) advance(now time.Time) {
	before := l.clock.Since
	if after := l.clock.At(now); l.counting && !l.policy.inOffers {
		l.waited = num.Add(l.waited, after-before)
	}
	l.rise()
}

// rise goes on to less local levels as the wait allows.
func (l *Locality) rise() {
	for l.level < l.policy.Levels()-1 {
		wait := l.waited // at a level without candidates there is no more to wait for
		if l.candidates>>l.level&1 != 0 {
			if wait = l.wait(); l.waited < wait || wait == Forever {
				return
			}
		}
		next := l.candidates &^ (1<<(l.level+1) - 1)
		l.move(bits.TrailingZeros64(next), wait)
	}
	l.waited = 0 // time at the last level is no wait
}

// move goes to another level after part of the wait at this one; the rest counts at the other.
func (l *Locality) move(level int, wait time.Duration) {
	l.level = level
	l.waited -= wait
	if l.left != Forever {
		l.left -= wait
	}
}

// wait returns how long the job has to wait at this level, which is not the last one.
func (l *Locality) wait() time.Duration { return min(l.policy.waits[l.level], l.left) }

// remaining returns what remains of the wait at this level, in time or in offers.
func (l *Locality) remaining() (rise time.Duration, misses int) {
	if l.level == l.policy.Levels()-1 {
		return 0, 0
	}
	wait := l.wait()
	switch {
	case l.policy.inOffers:
		return 0, int(wait - l.waited)
	case !l.counting || wait == Forever:
		return 0, 0
	}
	return wait - l.waited, 0
}

func (l *Locality) launch(level int) {
	switch {
	case l.policy.reset != NoRejection:
		l.restart(level)
		l.counting = l.policy.reset == ToLaunched
	case l.launched < 0 || level < l.launched:
		l.launched = level
	}
}

func (l *Locality) reject() {
	if l.policy.inOffers {
		l.waited++
	}
	l.rejected, l.declined, l.counting = true, true, true
}

// restart begins the wait at a level, or at the first after it that there is something to wait for.
func (l *Locality) restart(level int) {
	l.level, l.waited, l.left, l.declined = level, 0, l.policy.total, false
	l.rise()
}
