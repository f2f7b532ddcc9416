package delay

import (
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Job is the delay scheduling of one job: the level that it may launch at, and how long it has waited there. It is made
// by [Policy.Start]; the zero Job has no task for any slot. Not safe for concurrent use; one per job.
type Job struct {
	policy     *Policy
	candidates uint64 // levels at which the job has tasks that could be launched
	level      int    // the allowed one
	last       time.Time
	waited     time.Duration // at this level
	missed     int           // offers declined at this level
	counting   bool          // whether time goes into waited

	// For NoRejection.
	rejected bool // in this round of offers, because of the delay
	tainted  bool // since, and including, the last round that offered all free slots
	launched int  // the most local level of this round's launches; -1 if there is none
}

// Start returns a Job at level 0 that has not waited yet and has candidates at every level.
func (p *Policy) Start(now time.Time) Job {
	return Job{policy: p, candidates: p.all(), last: now, counting: p.reset != OnLaunch, launched: -1}
}

func (p *Policy) all() uint64 { return 1<<p.Levels() - 1 }

// Offer answers whether to launch a task of the job on a slot for which the most local task that the job has is of the
// given level; a level that does not exist says that it has none. The answer counts as carried out: the job waits on
// from a rejection, and starts its wait again after a launch, as the policy's [Reset] says.
//
// The level rises once the job has waited at least the policy's wait, not only when it has waited longer; what it has
// waited beyond that counts at the next level, so that several levels can be crossed at once. Time that goes back adds
// nothing to the wait. O(1), and O(levels) where levels are crossed; no allocation.
func (j *Job) Offer(now time.Time, level int) Decision {
	if j.policy == nil {
		return Decision{Reason: NoTask, Level: level}
	}
	j.advance(now)
	d := Decision{Level: level, Allowed: j.level}
	switch {
	case level < 0 || level >= j.policy.Levels():
		d.Reason = NoTask
	case level <= j.level:
		d.Action, d.Reason = Launch, LocalEnough
		j.launch(level)
	default:
		d.Reason = Delayed
		j.reject()
	}
	d.Rise, d.Misses = j.left()
	return d
}

// Allowed returns the least local level that the job may launch at now, and in how long that rises, as [Decision.Rise]
// has it. O(1), no allocation.
func (j *Job) Allowed(now time.Time) (level int, rise time.Duration) {
	if j.policy == nil {
		return 0, 0
	}
	j.advance(now)
	rise, _ = j.left()
	return j.level, rise
}

// SetCandidates says at which levels the job has tasks that could be launched: bit i of levels is set if some pending
// task prefers, at level i, a node that is there. Call it when that changes: when the last task with a preference is
// launched, or nodes join or leave.
//
// A level without candidates is skipped at once, and its wait is not waited (SPARK-4939). If a more local level than the
// present one gets candidates that it did not have, the job goes back to it and waits there again (SPARK-31837). Bits
// beyond the policy's levels mean nothing. O(1), no allocation.
func (j *Job) SetCandidates(now time.Time, levels uint64) {
	if j.policy == nil {
		return
	}
	j.advance(now)
	levels &= j.policy.all()
	added := levels &^ j.candidates & (1<<j.level - 1)
	j.candidates = levels
	if added != 0 {
		j.restart(bits.TrailingZeros64(added))
	}
	j.rise()
}

// EndRound closes a round of offers; all says that the round offered every slot of the cluster that was free. Under
// [NoRejection] this is where the wait starts again; the other rules do not need it. A host that offers slots one by one,
// as they become free, closes a round after each, and one of all free slots now and then. O(1), no allocation.
func (j *Job) EndRound(now time.Time, all bool) {
	if j.policy == nil || j.policy.reset != NoRejection {
		return
	}
	j.advance(now)
	switch {
	case j.rejected:
		j.tainted = true
	case all || !j.tainted:
		j.tainted = false
		if j.launched < 0 {
			j.launched = j.level
		}
		j.restart(j.launched)
	}
	j.rejected, j.launched = false, -1
}

// advance takes the time since the last call into the wait.
func (j *Job) advance(now time.Time) {
	if since := now.Sub(j.last); since > 0 && j.counting {
		j.waited = num.Add(j.waited, since)
	}
	j.last = now
	j.rise()
}

// rise goes on to less local levels as the wait allows.
func (j *Job) rise() {
	for {
		next := j.candidates &^ (1<<(j.level+1) - 1)
		if next == 0 {
			return
		}
		switch {
		case j.candidates>>j.level&1 == 0: // nothing to wait for
			j.waited, j.missed = 0, 0
		case j.policy.misses != nil:
			if j.missed < j.policy.misses[j.level] {
				return
			}
			j.missed = 0
		default:
			wait := j.policy.waits[j.level]
			if j.waited < wait || wait == Forever {
				return
			}
			j.waited -= wait
		}
		j.level = bits.TrailingZeros64(next)
	}
}

// left returns what is left of the wait at this level, in time or in offers.
func (j *Job) left() (rise time.Duration, misses int) {
	if j.candidates>>(j.level+1) == 0 {
		return 0, 0
	}
	if j.policy.misses != nil {
		return 0, j.policy.misses[j.level] - j.missed
	}
	wait := j.policy.waits[j.level]
	if !j.counting || wait == Forever {
		return 0, 0
	}
	return wait - j.waited, 0
}

func (j *Job) launch(level int) {
	switch {
	case j.policy.reset != NoRejection:
		j.restart(level)
		j.counting = j.policy.reset == ToLaunched
	case j.launched < 0 || level < j.launched:
		j.launched = level
	}
}

func (j *Job) reject() {
	j.missed++
	j.rejected = true
	j.counting = true
}

// restart begins the wait at a level, or at the first after it that there is something to wait for.
func (j *Job) restart(level int) {
	j.level, j.waited, j.missed = level, 0, 0
	j.rise()
}
