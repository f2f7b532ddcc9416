package delay

import (
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Locality is the delay scheduling of a job: the level at which the job may launch, and its wait at this level. Use
// [Policy.Start] to create a Locality; the zero Locality declines every slot with NoTask. Not safe for concurrent use; each
// job needs its own.
//
// A job that launches no task may launch anywhere once it has waited for the sum of the policy's waits. The bound
// holds for every sequence of offers, and also if machines come and go.
type Locality struct {
	policy     *Policy
	candidates uint64 // bit set of levels at which the job has tasks to launch; the last level is always set
	level      int    // the allowed level
	clock      clock.Clock
	waited     time.Duration // wait at this level so far, in the policy's unit
	bound      time.Duration // longest further wait at all levels, from the arrival at this level; Forever stays Forever
	counting   bool          // time is added to waited
	declined   bool          // an offer was declined because of the delay since the wait started

	// For NoRejection.
	rejected         bool // an offer of this round was declined because of the delay
	rejectedSinceAll bool // an offer was declined because of the delay since the last round of all free slots, or in that round
	launched         int  // most local level of the launches of this round; -1 without a launch
}

// Start returns a Locality at level 0 without a wait so far, and with candidates at every level.

// Start returns a Locality at level 0 that has not waited yet and has candidates at every level.
func (p *Policy) Start(now time.Time) Locality {
	l := Locality{policy: p, candidates: p.all(), bound: p.total, counting: p.reset != OnLaunch, launched: -1}
	l.clock.At(now)
	return l
}

// all returns the bit set of all levels.
func (p *Policy) all() uint64 { return 1<<p.Levels() - 1 }

// Offer answers whether to launch a task of the job on an offered slot. level is the locality of the most local task that
// the job has for this slot. A level that does not exist, such as -1, says that the job has no task for the slot. The
// answer counts as carried out: a rejection begins or continues the wait, and a launch starts the wait again, as the
// policy's [Reset] says.
//
// The level rises once the job has waited for at least the policy's wait. Excess waiting time counts at the next level, so
// the job can cross several levels at once. If the clock steps back, no time passes at the step, and the next time is
// measured from there. O(1), and O(levels) if levels are crossed; no allocation.
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

// Allowed returns the least local level at which the job may launch now, and the time until this level rises, as in
// [Decision.NextLevelIn]. O(1), and O(levels) if levels are crossed; no allocation.
func (l *Locality) Allowed(now time.Time) (level int, rise time.Duration) {
	if l.policy == nil {
		return 0, 0
	}
	l.advance(now)
	rise, _ = l.remaining()
	return l.level, rise
}

// SetCandidates says at which levels the job has tasks to launch. Bit i of levels is set if, at level i, an existing machine
// is local to a pending task. Call SetCandidates if this changes: the last task with a preference was launched, or
// machines joined or left. The last level, at which any machine is local, always counts as set. Bits beyond the policy's
// levels have no meaning.
//
// The job skips a level without candidates at once, without its wait (SPARK-4939). If a more local level than the current
// level gets new candidates, the job returns to that level and waits there again (SPARK-31837). All these waits together
// never exceed the sum of the policy's waits, so machines that come and go do not delay the job for ever. O(1), and
// O(levels) if levels are crossed; no allocation.
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

// EndRound closes a round of offers. all says that the round offered every free slot of the cluster. Under [NoRejection] the
// wait may start again here; the other rules ignore EndRound. A host that offers each slot when it becomes free closes a
// round after each offer, and from time to time a round of all free slots. O(1), and O(levels) if levels are crossed; no
// allocation.
func (l *Locality) EndRound(now time.Time, all bool) {
	if l.policy == nil || l.policy.reset != NoRejection {
		return
	}
	l.advance(now)
	switch {
	case l.rejected:
		l.rejectedSinceAll = true
	case all || !l.rejectedSinceAll:
		l.rejectedSinceAll = false
		if l.launched >= 0 {
			l.restart(l.launched)
		} else if !l.declined {
			l.restart(l.level)
		}
	}
	l.rejected, l.launched = false, -1
}

// advance adds the time since the last call to the wait.
func (l *Locality) advance(now time.Time) {
	before := l.clock.Since
	after := l.clock.At(now)
	if l.counting && !l.policy.inOffers {
		l.waited = num.Add(l.waited, after-before)
	}
	l.rise()
}

// rise moves on to less local levels as far as the wait allows.
func (l *Locality) rise() {
	for l.level < l.policy.Levels()-1 {
		wait := l.waited // a level without candidates needs no further wait
		if l.candidates>>l.level&1 != 0 {
			wait = l.wait()
			if l.waited < wait || wait == Forever {
				return
			}
		}
		next := l.candidates &^ (1<<(l.level+1) - 1)
		l.move(bits.TrailingZeros64(next), wait)
	}
	l.waited = 0 // time at the last level does not count as a wait
}

// move changes the level, and uses up wait of the waiting time. The rest of the waiting time counts at the new level.
func (l *Locality) move(level int, wait time.Duration) {
	l.level = level
	l.waited -= wait
	if l.bound != Forever {
		l.bound -= wait
	}
}

// wait returns the duration of the wait at the current level. The current level must not be the last level.
func (l *Locality) wait() time.Duration { return min(l.policy.waits[l.level], l.bound) }

// remaining returns the rest of the wait at this level, in time or in offers.
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

// launch records a launch at a level, and starts the wait again unless the rule is NoRejection.
func (l *Locality) launch(level int) {
	switch {
	case l.policy.reset != NoRejection:
		l.restart(level)
		l.counting = l.policy.reset == ToLaunched
	case l.launched < 0 || level < l.launched:
		l.launched = level
	}
}

// reject records an offer that was declined because of the delay.
func (l *Locality) reject() {
	if l.policy.inOffers {
		l.waited++
	}
	l.rejected, l.declined, l.counting = true, true, true
}

// restart begins the wait at a level, or at the next level with candidates.
func (l *Locality) restart(level int) {
	l.level, l.waited, l.bound, l.declined = level, 0, l.policy.total, false
	l.rise()
}
