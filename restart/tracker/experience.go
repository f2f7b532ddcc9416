package tracker

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// These numbers are choices. They have two aims: to remember a daily job for a month, and to keep a phase of many
// tasks from outweighing the other phases.
const (
	// How long an observation is kept if ExperienceConfig.Keep is 0.
	defaultKeep = 30 * 24 * time.Hour
	// The number of entries that an Experience keeps. This is enough for the run times of 16 phases of many tasks.
	mostEntries = 256
	// A phase of at least 32 tasks adds the run times of 16 to 31 of its tasks to the Experience. A smaller phase adds
	// the run times of all its tasks.
	sharedTasks = 16
	// The number of run times of other phases that a phase uses before its own tasks end. When a task of the phase
	// ends, its run time replaces a run time of another phase.
	mostOthers = 32
	// A trial has half its weight when this number of run times were
	// added after it. So copies and restarts are tried again in phases of a kind that has lost trials.
	halfAfter = 32
)

// ExperienceConfig contains the settings of an [Experience]. Its zero value is usable.
type ExperienceConfig struct {
	// Keep is how long the experience keeps an observation. 0 means 30 days.
	Keep time.Duration
	// Origin is the unique name of this process, of at most 255 bytes. Several processes can share the observations of
	// a kind by [Experience.AppendDelta] and [Experience.Merge]. They identify each other by this name. If Origin is
	// empty, the experience shares nothing.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead of this process. Merge refuses data from a later
	// time. 0 means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with each zero field replaced by its default.
func (c ExperienceConfig) Effective() ExperienceConfig {
	c.Keep = check.Or(c.Keep, defaultKeep)
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate returns an error for the first field that is out of range, or nil. The error states the value and the
// allowed range.
func (c ExperienceConfig) Validate() error {
	const place = "restart/tracker: ExperienceConfig"
	return cmp.Or(check.Length(place, "Keep", c.Keep), c.choices().Validate(place))
}

// choices returns the settings in the form that package merge needs.
func (c ExperienceConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: c.Keep}
}

// Experience is the knowledge that phases of the same kind share: how progress depends on time, how long attempts took,
// and how many trials were won and lost. An
// Experience serves two purposes. A phase of few tasks can use the run times of other phases. And the bound on lost
// slot time holds for the kind: all its phases together may have no more trials open than a single phase.
//
// The host decides which phases are of the same kind: for example the same stage of the same job day after day, or
// the tasks of one queue. If the works of tasks are known, a run time is scaled by the work of its attempt.
//
// A phase uses only the newest observations: 32 run times of other phases, from some 16 tasks of each phase. Each
// task of the phase that ends replaces one of these 32 run times. So after 16 tasks the phase's own run times are the
// majority, and after 32 tasks it uses no others. A trial has half its weight when 32 run times were added after it.
// Trials of the phase itself are added to the trials of other phases.
//
// The zero value has no observations, and keeps each observation for 30 days. A full Experience takes some 20 kB. It
// adds O(1) to the cost of an event. Events that several phases apply to a shared Experience take effect in the order
// of the calls. The same events in the same order give the same decisions. An Experience is not safe for concurrent
// use.
type Experience struct {
	config ExperienceConfig
	clock  clock.Clock
	shape  survival.Shape
	seen   merge.List[entry]
	stakes time.Duration // slot time at risk in the open trials of this process's phases; snapshots leave it out

	// The fields below are computed from seen: the entries in use, and the weighted sums of trials.
	known     []merge.Observation[entry]
	lost, won float64
	cost      time.Duration
}

// entry is one observation: either the run time of an attempt, or the outcome of one or more trials.
type entry struct {
	about   about
	seconds float64 // the run time; or the slot time that trials lost, less the slot time that trials saved
	work    float64 // the work of the attempt
	lost    float64 // the number of lost trials
	won     float64 // the number of won trials
}

// about says what an entry is about: trials, or a run time with the flags below.
type about uint8

const (
	ofTrials  about = 0
	ofRunTime about = 1 << (iota - 1)
	ended           // flag of a run time: the attempt ended with success; otherwise it was killed
	sized           // flag of a run time: the work of the attempt is known
	abouts          // one more than the largest value
)

// NewExperience returns an experience without observations. If a field of c is out of range, it returns an error that
// contains the name of the field.
func NewExperience(c ExperienceConfig) (*Experience, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Experience{config: c}, nil
}

// choices returns the configuration in the form that package merge needs.
func (exp *Experience) choices() merge.Choices { return exp.config.Effective().choices() }

// add adds an entry. O(1), because the number of entries is bounded.
func (exp *Experience) add(now time.Time, e entry) {
	at := exp.choices().At(&exp.clock, now)
	exp.seen.Add(exp.choices(), at, e)
	exp.sum(at)
}

// sum computes the weighted sums of trials, and the list of entries that are in use. At is the current time.
func (exp *Experience) sum(at time.Duration) {
	times, cost := 0.0, 0.0 // number of run times seen so far, newest first; weighted cost of trials
	exp.lost, exp.won = 0, 0
	exp.known = exp.seen.Newest(entryForm(), exp.choices(), at, mostEntries)
	for i := len(exp.known) - 1; i >= 0; i-- {
		e := &exp.known[i].Fact
		if e.about&ofRunTime > 0 {
			times++
			continue
		}
		weight := 1 / (1 + float64((times/halfAfter)*(times/halfAfter))) // no fused multiply-add: one answer everywhere
		cost += float64(weight * e.seconds)
		exp.lost += float64(weight * e.lost)
		exp.won += float64(weight * e.won)
	}
	exp.cost, _ = num.Duration(math.Abs(cost))
	if cost < 0 {
		exp.cost = -exp.cost
	}
}

// Longest returns the longest time that a task of an amount of work is known to take, in seconds, and the number of run
// times from which it was computed. The run times are those of attempts that ended with success. With a work of 0,
// which means that the work is not known, all of them count. With a positive work, tasks of known work count, and the
// time of a smaller task is scaled by the work. Then tasks of less than an eighth of the work are left out if there are
// others: the time of a small task is hardly its work. A scheduler can derive a hard timeout from the answer; see
// engine.Config.Patience. Of a phase of many tasks, 16 to 31 attempts count. O(1), because the number of entries is
// bounded.
func (exp *Experience) Longest(work float64) (seconds float64, attempts int) {
	near, far := 0.0, 0.0
	for i := range exp.known {
		e := &exp.known[i].Fact
		isSized := e.about&sized > 0 && e.work > 0
		if e.about&ended == 0 || work > 0 && !isSized {
			continue
		}
		attempts++
		scaled := e.seconds
		if work > e.work && isSized {
			scaled *= work / e.work
		}
		if far = max(far, scaled); e.work >= work/farSmaller {
			near = max(near, scaled)
		}
	}
	if near > 0 {
		return near, attempts
	}
	return far, attempts
}

// farSmaller is the factor by which a task is so much smaller than another that its time says little about the other.
const farSmaller = 8

// appendRunTimes appends the newest run times to dst, newest first, at most the number most in all. If bySize is set, it
// appends run times of attempts whose work is known, otherwise of attempts whose work is not known.
func (exp *Experience) appendRunTimes(dst []runTime, most int, bySize bool) []runTime {
	for i := len(exp.known) - 1; i >= 0 && len(dst) < most; i-- {
		if e := &exp.known[i].Fact; e.about&ofRunTime > 0 && (e.about&sized > 0) == bySize {
			dst = append(dst, runTime{float32(e.seconds), e.about&ended > 0, e.work})
		}
	}
	return dst
}

// link connects a phase with the Experience that all phases of the same kind share. A nil link means that the phase
// has no Experience.
type link struct {
	experience *Experience
	others     []runTime // run times of other phases, newest first; read before the phase has its own
	own        bool      // the Experience is that of the phase alone
	most       int       // the largest number of others
	stride     int       // a power of 2; the phase adds the run times of tasks whose index is a multiple of it
	published  tally     // trials of the phase that the Experience includes already
}

// tally contains the sums over the trials of a phase: how many were won and lost, their cost, and the stakes of open
// trials. The stake of a trial is the slot time that the trial puts at risk.
type tally struct {
	won, lost float64
	cost      time.Duration
	stakes    time.Duration
}

// newLink returns the link of a new phase; nil if the phase has no Experience. A growing phase without one gets an
// Experience of its own, which keeps its run times and its trials, and forgets them.
func newLink(c *Config) *link {
	switch {
	case c.Recent > 0 && c.Experience == nil:
		own := &Experience{config: ExperienceConfig{Keep: c.Recent}}
		return &link{experience: own, own: true, most: mostEntries, stride: 1}
	case c.Recent > 0:
		return &link{experience: c.Experience, most: mostEntries, stride: 1}
	case c.Experience == nil:
		return nil
	}
	ln := &link{experience: c.Experience, most: mostOthers, stride: 1}
	for len(c.Work)/ln.stride >= 2*sharedTasks {
		ln.stride *= 2
	}
	return ln
}

// refresh copies the run times of other phases from the Experience, as long as the phase has no run time of its own. Own
// is the number of its own run times. Sized says that the works of the tasks are known. A growing phase has no run times
// of its own: all are in the Experience.
// Later it does nothing: the Experience then contains the phase's own run times as well, and the phase would use them
// twice.
func (ln *link) refresh(own int, sized bool) {
	if ln != nil && own == 0 {
		ln.others = ln.experience.appendRunTimes(ln.others[:0], ln.most, sized)
	}
}

// runTimes returns the run times of other phases, as far as this phase uses them. It leaves out one run time for each
// task of this phase that has ended with success.
func (ln *link) runTimes(successes int32) []runTime {
	if ln == nil {
		return nil
	}
	return ln.others[:max(len(ln.others)-int(successes), 0)]
}

// addRunTime adds an entry with the run time of an attempt to the Experience. In a phase of many tasks, it adds only
// the run times of some tasks.
func (ln *link) addRunTime(now time.Time, task int, e entry, sizes bool) {
	if ln == nil || task&(ln.stride-1) != 0 || !(e.seconds <= estimate.MaxSample) {
		return
	}
	if sizes {
		e.about |= sized
	}
	ln.experience.add(now, e)
}

// runTimeOf returns the value of about for an entry that contains a run time. Success says that the attempt ended
// with success.
func runTimeOf(success bool) about {
	if success {
		return ofRunTime | ended
	}
	return ofRunTime
}

// results returns the numbers of won and lost trials of all phases of the kind. The phase takes them as its own.
func (ln *link) results() (won, lost float64) {
	ln.published.won, ln.published.lost = ln.experience.won, ln.experience.lost
	return ln.experience.won, ln.experience.lost
}

// knowsLosses reports whether phases of the same kind have lost trials. For these trials, the Experience does not
// contain the run times of the tasks.
func (ln *link) knowsLosses() bool { return ln != nil && ln.experience.lost > 0 }

// publish adds to the Experience the changes of the phase's trials since the last call. A trial may be counted as won at
// first, and as lost in the end. Then the Experience contains a won trial and a lost trial. The result says whether a
// trial was won or lost.
func (ln *link) publish(now time.Time, is tally) (decided bool) {
	if ln == nil || is == ln.published {
		return false
	}
	was := ln.published
	ln.published, ln.experience.stakes = is, num.Sub(num.Add(ln.experience.stakes, is.stakes), was.stakes)
	if is.won != was.won || is.lost != was.lost || is.cost != was.cost {
		cost := min(max(num.Sub(is.cost, was.cost).Seconds(), -estimate.MaxSample), estimate.MaxSample)
		ln.experience.add(now, entry{seconds: cost, lost: max(is.lost-was.lost, 0), won: max(is.won-was.won, 0)})
	}
	return is.won != was.won || is.lost != was.lost
}

// resume is called for a phase that was restored from a snapshot, with the Experience of its kind. The Experience
// already includes the cost of the phase's trials, but not the stakes of its open trials, so resume adds the stakes.
// The stake of a trial is the slot time that it puts at risk. No snapshot of an Experience contains stakes. If it did,
// a phase that is never restored would leave its stakes in the Experience for ever.
func (ln *link) resume(is tally) {
	if ln != nil {
		ln.published, ln.experience.stakes = is, num.Add(ln.experience.stakes, is.stakes)
	}
}

// ofKind returns two sums over the trials of all phases of the same kind: the slot time that trials have cost, and
// the slot time at risk in open trials. Without an Experience, the sums are those of this phase.
func (ln *link) ofKind(is tally) (cost, stakes time.Duration) {
	if ln == nil {
		return is.cost, is.stakes
	}
	cost = num.Add(ln.experience.cost, num.Sub(is.cost, ln.published.cost))
	stakes = num.Sub(num.Add(ln.experience.stakes, is.stakes), ln.published.stakes)
	return cost, stakes
}

// The functions below encode and decode an experience, and merge the experiences of several processes.

// entryForm describes to package merge how entries are encoded and decoded.
func entryForm() merge.Form[entry] {
	return merge.Form[entry]{
		Place: "restart/tracker: Experience", Kind: 'x', Fact: func(c *snapshot.Codec, e *entry) { e.code(c) },
	}
}

// code encodes or decodes an entry.
func (en *entry) code(c *snapshot.Codec) {
	snapshot.Small(c, &en.about, 0, int(abouts-1))
	if en.about == ofTrials {
		c.Real(&en.seconds)
		c.Check(en.seconds >= -estimate.MaxSample, "holds trials that have saved too much")
		c.Amount(&en.lost)
		c.Amount(&en.won)
		c.Check(en.lost <= mostAtOnce && en.won <= mostAtOnce, "holds an event of too many trials")
	} else {
		c.Amount(&en.seconds)
		c.Amount(&en.work)
		c.Check(en.about&ofRunTime > 0, "holds an entry that is no run time and no trial")
	}
	c.Check(en.seconds <= estimate.MaxSample, "holds a time that is too long")
}

// mostAtOnce is the largest number of trials that a single event may win or lose. It is far above the number of
// copies of a task.
const mostAtOnce = 1 << 20

// AppendVersion appends the version of the experience to dst. The version says which observations this experience
// contains. Send it to another process, and call AppendDelta there: the result contains the observations that are
// missing here.
func (exp *Experience) AppendVersion(dst []byte) []byte {
	return exp.seen.AppendVersion(entryForm(), dst)
}

// AppendDelta appends to dst the observations that another process lacks. The argument since is the version of that
// process, made by its AppendVersion. A nil version means that the process has no observations yet. If origins are
// given, the delta contains only the observations that these processes have made. The delta does not contain the
// Shape of progress or open trials. If the argument since is not a version, AppendDelta returns an error. A run time
// takes some 20 bytes.
func (exp *Experience) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return exp.seen.AppendDelta(entryForm(), exp.choices(), exp.clock.Since, dst, since, origins)
}

// Merge adds the observations of another process, from the result of its AppendDelta. Deltas may come in any order,
// and a delta may come twice. Of the 256 entries that are kept, at most half come from any single process.
//
// Merge returns an error, and changes nothing, if the configuration has no Origin, or if delta is damaged or is not a
// delta. If the times in delta are ahead of now by more than MaxSkew, the error is a FieldError. O(1) for each entry.
func (exp *Experience) Merge(now time.Time, delta []byte) error {
	at := exp.choices().At(&exp.clock, now)
	err := exp.seen.Merge(entryForm(), exp.choices(), at, delta)
	exp.sum(at)
	return err
}

// AppendBinary appends a snapshot of the experience to dst. The snapshot does not contain the stakes of open trials.
// The stake of a trial is the slot time that it puts at risk. When a phase is restored, [Restore] adds its stakes
// again. AppendBinary never fails. O(1), at most 10 kB.
func (exp *Experience) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, exp.code)
}

// MarshalBinary returns a snapshot of the experience; see [Experience.AppendBinary].
func (exp *Experience) MarshalBinary() ([]byte, error) { return exp.AppendBinary(nil) }

// UnmarshalBinary sets the experience to the state of a snapshot. If data is not a snapshot of an experience, it
// returns an error and does not change the experience.
func (exp *Experience) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Experience{}, data, snapshot.Version, exp, (*Experience).code)
}

// code encodes or decodes the experience.
func (exp *Experience) code(c *snapshot.Codec) {
	c.Field(1, "config").Fields(func() {
		c.Field(1, "keep").Duration(&exp.config.Keep)
		c.Field(2, "origin").Text(&exp.config.Origin)
		c.Field(3, "max-skew").Duration(&exp.config.MaxSkew)
	})
	c.Valid(true, exp.config)
	c.Field(2, "clock").Clock(&exp.clock)
	c.Field(3, "shape").Part(&exp.shape)
	c.Field(4, "observations").Fields(func() { exp.seen.State(entryForm(), c, exp.choices().Latest(exp.clock)) })
	if c.Reading() {
		exp.sum(exp.clock.Since)
	}
}
