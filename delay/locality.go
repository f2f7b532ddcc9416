package delay

import (
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Locality is the state of one job in delay scheduling: the level at which the job may launch tasks, and how long
// it has waited at this level. Level 0 is a machine with the job's data, and the last level is any machine.
// [Policy.Start] makes a Locality. The zero value declines every slot with the reason [NoTask]. A Locality is not
// safe for concurrent use. Use one Locality for each job.
//
// A job that launches no task waits at most for the sum of the policy's waits. Then it may launch on any machine.
// This is true for every sequence of offers, even if machines join and leave the cluster.
type Locality struct {
	policy     *Policy
	candidates uint64 // bit set of levels at which the job has tasks to launch; the last level is always in the set
	level      int    // the largest level at which the job may launch
	clock      clock.Clock
	waited     time.Duration // wait at this level so far; a time, or a number of offers as nanoseconds
	// bound is the longest time that the job may still wait at this level and all later levels together, measured from
	// its arrival at this level. Forever means no bound.
	bound    time.Duration
	counting bool // true if the time that passes is added to waited
	declined bool // true if an offer was declined with the reason Delayed since the wait started

	// The rule NoRejection uses the fields below.
	rejected bool // true if an offer of this round was declined with the reason Delayed
	// rejectedSinceAll is true if an offer was declined with the reason Delayed in the last round of all free slots, or
	// since that round.
	rejectedSinceAll bool
	launched         int // most local level at which a task was launched in this round; -1 for none
}

// Start returns the Locality of a new job. The job may launch only at level 0, has not waited yet, and has tasks
// to launch at every level.
func (p *Policy) Start(now time.Time) Locality {
	l := Locality{policy: p, candidates: p.all(), bound: p.total, counting: p.reset != OnLaunch, launched: -1}
	l.clock.At(now)
	return l
}

// all returns the bit set of all levels of the policy.
func (p *Policy) all() uint64 { return 1<<p.Levels() - 1 }

// Offer decides whether the job should launch a task on an offered slot. level is the locality level of the slot for
// the job's most local task; level 0 is a machine with the task's data. A level that does not exist, for example -1,
// means that the job has no task for the slot. Offer assumes that the host does as the Decision says. An offer that
// is declined with the reason [Delayed] begins or continues the job's wait. A launch starts the wait again from 0, if
// [Config.Reset] says so.
//
// When the job has waited for the policy's wait at its level, it may also launch at the next level. If the job has
// waited longer, the rest of the time is used at the next level. So the job may pass several levels in one call. If
// the host's clock steps back, no time has passed, and the next time is measured from the new instant. Cost: O(1),
// and O(levels) if the job passes levels; no allocation.
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

// Allowed returns the largest level at which the job may launch now; level 0 is the most local level. It also
// returns the time until this level becomes larger, as [Decision.NextLevelIn]. Cost: O(1), and O(levels) if the
// job passes levels; no allocation.
func (l *Locality) Allowed(now time.Time) (level int, rise time.Duration) {
	if l.policy == nil {
		return 0, 0
	}
	l.advance(now)
	rise, _ = l.remaining()
	return l.level, rise
}

// SetCandidates sets the levels at which the job has tasks to launch. Bit i of levels must be set if a machine
// exists that is at level i for a task that has not started. Call SetCandidates whenever this changes. For
// example, the last task that prefers certain machines was launched, or machines have joined or left the cluster.
// The last level, at which a task may run on any machine, is always set. Bits beyond the last level are ignored.
//
// The job skips a level without such tasks immediately and does not wait there (SPARK-4939). If tasks are added at a
// level that is more local than the present level, the job returns to that level and waits there again
// (SPARK-31837). All waits together never exceed the sum of the policy's waits. So machines that join and leave
// cannot delay the job for ever. Cost: O(1), and O(levels) if the job passes levels; no allocation.
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

// EndRound ends a round, which is a set of offers that the host makes together. all is true if the round offered
// every free slot of the cluster. With the rule [NoRejection] the job's wait may start again from 0 here; the
// other rules ignore EndRound. A host that offers each slot when it becomes free ends a round after each offer.
// From time to time it makes a round of all free slots. Cost: O(1), and O(levels) if the job passes levels; no
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

// advance adds the time since the last call to the job's wait.
func (l *Locality) advance(now time.Time) {
	before := l.clock.Since
	after := l.clock.At(now)
	if l.counting && !l.policy.inOffers {
		l.waited = num.Add(l.waited, after-before)
	}
	l.rise()
}

// rise moves the job to less local levels, as far as its wait allows.
func (l *Locality) rise() {
	for l.level < l.policy.Levels()-1 {
		wait := l.waited // the job leaves a level without tasks immediately
		if l.candidates>>l.level&1 != 0 {
			wait = l.wait()
			if l.waited < wait || wait == Forever {
				return
			}
		}
		next := l.candidates &^ (1<<(l.level+1) - 1)
		l.move(bits.TrailingZeros64(next), wait)
	}
	l.waited = 0 // time at the last level is not a wait
}

// move sets the level and subtracts wait from the time that the job has waited. The rest of this time is used at
// the new level.
func (l *Locality) move(level int, wait time.Duration) {
	l.level = level
	l.waited -= wait
	if l.bound != Forever {
		l.bound -= wait
	}
}

// wait returns how long the job must wait at its present level, which must not be the last level.
func (l *Locality) wait() time.Duration { return min(l.policy.waits[l.level], l.bound) }

// remaining returns how much of the wait at the present level is left: a time, or a number of offers.
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

// launch records that the job launches a task at the given level. Unless the rule is NoRejection, the wait starts
// again from 0.
func (l *Locality) launch(level int) {
	switch {
	case l.policy.reset != NoRejection:
		l.restart(level)
		l.counting = l.policy.reset == ToLaunched
	case l.launched < 0 || level < l.launched:
		l.launched = level
	}
}

// reject records that the job declined an offer with the reason Delayed.
func (l *Locality) reject() {
	if l.policy.inOffers {
		l.waited++
	}
	l.rejected, l.declined, l.counting = true, true, true
}

// restart starts the wait again from 0 at the given level. If the job has no tasks at this level, the wait starts
// at the next level with tasks.
func (l *Locality) restart(level int) {
	l.level, l.waited, l.bound, l.declined = level, 0, l.policy.total, false
	l.rise()
}
