package tracker

import (
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

// These numbers are choices. A daily job is remembered for a month. A phase of many tasks does not outweigh the other
// phases.
const (
	defaultKeep = 30 * 24 * time.Hour
	mostEntries = 256 // entries that are kept: the run times of 16 phases of many tasks
	sharedTasks = 16  // a phase adds the run times of all its tasks, or of 16 to 31 tasks
	mostOthers  = 32  // run times of other phases that a phase reads; each of its own tasks that ends replaces one
	halfAfter   = 32  // run times after which a trial counts half, so that a kind with lost trials is tried again
)

// Experience is the knowledge that phases of one kind share: how their progress runs, how long their attempts took,
// and how their restarts and copies came out. It serves two purposes. A phase of one task starts with the run times of
// other phases. And the bound on lost slot time holds for the kind: all its phases together may have no more trials
// open than one phase.
//
// The host says which phases are of one kind: the same stage of the same job, day after day, or the tasks of one
// queue. If works are known, a run time is scaled by the work of its attempt. Only the newest observations count: 32
// run times, from some 16 tasks of each phase. A trial counts half once 32 run times are newer. Each task of a phase
// that ends replaces one run time of other phases. So after 16 tasks the phase's own run times are the majority, and
// after 32 tasks no others count. Trials of the phase count in addition to trials of other phases.
//
// The zero value has no observations, and keeps each observation for 30 days. An Experience takes some 20 kB once it
// is full. An Experience adds O(1) to the cost of an event. The phases apply their events to a shared Experience in
// one order; the same events in the same order give the same decisions. An Experience is not safe for concurrent use.
type Experience struct {
	config survival.WindowConfig // a Keep of 0 stands for defaultKeep
	clock  clock.Clock
	shape  survival.Shape
	seen   merge.List[entry]
	stakes time.Duration // slot time at risk in open trials of this process's phases; in no snapshot

	// Summaries of seen.
	known     []merge.Observation[entry]
	lost, won float64
	cost      time.Duration
}

// entry is one observation: the run time of an attempt, or the outcome of trials.
type entry struct {
	about   about
	seconds float64 // run time; or the cost of trials less the time that trials saved
	work    float64 // work of the attempt
	lost    float64 // number of trials that were lost
	won     float64 // number of trials that were won
}

// about says what an entry is about.
type about uint8

const (
	ofTrials  about = 0
	ofRunTime about = 1 << (iota - 1)
	ended           // the attempt ended with success; otherwise it was killed
	sized           // the work of the attempt is known
	abouts
)

// NewExperience returns an experience without observations. It returns an error if a field of c is out of range; the
// error names the field.
func NewExperience(c survival.WindowConfig) (*Experience, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Experience{config: c}, nil
}

func (exp *Experience) choices() merge.Choices {
	c := exp.config.Effective()
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: check.Or(c.Keep, defaultKeep)}
}

// add adds an entry. O(1).
func (exp *Experience) add(now time.Time, e entry) {
	at := exp.choices().At(&exp.clock, now)
	exp.seen.Add(exp.choices(), at, e)
	exp.sum(at)
}

// sum computes the summaries from all entries.
func (exp *Experience) sum(at time.Duration) {
	times, cost := 0.0, 0.0 // run times so far, newest first; cost of trials
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

// appendRunTimes appends the newest run times, newest first. With bySize it takes run times of known works, otherwise
// run times of unknown works.
func (exp *Experience) appendRunTimes(dst []runTime, bySize bool) []runTime {
	for i := len(exp.known) - 1; i >= 0 && len(dst) < mostOthers; i-- {
		if e := &exp.known[i].Fact; e.about&ofRunTime > 0 && (e.about&sized > 0) == bySize {
			dst = append(dst, runTime{float32(e.seconds), e.about&ended > 0, e.work})
		}
	}
	return dst
}

// link connects a phase with the Experience of its kind. A nil link has no Experience.
type link struct {
	experience *Experience
	others     []runTime // run times of other phases, newest first
	sized      bool      // the works of the phase are known
	stride     int32     // the phase adds the run times of each task that is a multiple of this power of 2
	published  tally     // trials of the phase that the Experience holds
}

// tally sums up the trials of a phase.
type tally struct {
	won, lost float64
	cost      time.Duration
	stakes    time.Duration
}

func (tr *trials) tally() tally { return tally{tr.Won, tr.Lost, tr.Cost, tr.AtRisk} }

func newLink(c *Config, sized bool) *link {
	if c.Experience == nil {
		return nil
	}
	ln := &link{experience: c.Experience, sized: sized, stride: 1}
	for len(c.Work)/int(ln.stride) >= 2*sharedTasks {
		ln.stride *= 2
	}
	return ln
}

// refresh reads the run times of other phases from the Experience, until the phase has a run time of its own. After
// that, the Experience holds the phase's own run times as well, which would count twice.
func (ln *link) refresh(own *ages) {
	if ln != nil && len(own.runTimes) == 0 {
		ln.others = ln.experience.appendRunTimes(ln.others[:0], ln.sized)
	}
}

// runTimes returns the run times of other phases that count: one fewer for each task of the phase that has ended.
func (ln *link) runTimes(own *ages) []runTime {
	if ln == nil {
		return nil
	}
	ln.refresh(own)
	return ln.counted(own)
}

// counted is runTimes without a refresh.
func (ln *link) counted(own *ages) []runTime {
	if ln == nil {
		return nil
	}
	return ln.others[:max(len(ln.others)-int(own.successes), 0)]
}

// addRunTime adds the run time of an attempt to the Experience.
func (ln *link) addRunTime(now time.Time, task int32, e entry) {
	if task&(ln.stride-1) != 0 || !(e.seconds <= estimate.MaxSample) {
		return
	}
	if ln.sized {
		e.about |= sized
	}
	ln.experience.add(now, e)
}

func runTimeOf(success bool) about {
	if success {
		return ofRunTime | ended
	}
	return ofRunTime
}

// adopt sets the trials of a phase to the trials of the kind, until a trial of the phase itself has come out.
func (ln *link) adopt(r *trials) {
	if ln != nil && !r.ownResults {
		r.Won, r.Lost = ln.experience.won, ln.experience.lost
		ln.published.won, ln.published.lost = r.Won, r.Lost
	}
}

// knowsLosses reports whether trials of the kind were lost. The Experience does not hold the run times of their tasks.
func (ln *link) knowsLosses() bool { return ln != nil && ln.experience.lost > 0 }

// publish adds the changes of the phase's trials to the Experience. If a won trial turns out as lost in the end, the
// kind counts both.
func (ln *link) publish(now time.Time, r *trials) {
	if ln == nil || r.tally() == ln.published {
		return
	}
	is, was := r.tally(), ln.published
	ln.published, ln.experience.stakes = is, num.Sub(num.Add(ln.experience.stakes, is.stakes), was.stakes)
	r.ownResults = r.ownResults || is.won != was.won || is.lost != was.lost
	if is.won != was.won || is.lost != was.lost || is.cost != was.cost {
		cost := min(max(num.Sub(is.cost, was.cost).Seconds(), -estimate.MaxSample), estimate.MaxSample)
		ln.experience.add(now, entry{seconds: cost, lost: max(is.lost-was.lost, 0), won: max(is.won-was.won, 0)})
	}
}

// resume connects a restored phase. The Experience already holds the cost of its trials. It does not hold the stakes
// of its open trials, because no snapshot of an Experience does: otherwise the stakes of phases that never come back
// would burden the kind for ever.
func (ln *link) resume(r *trials) {
	if ln != nil {
		ln.published, ln.experience.stakes = r.tally(), num.Add(ln.experience.stakes, r.AtRisk)
	}
}

// ofKind returns the cost of the trials of all phases of the kind, and the stakes of their open trials.
func (ln *link) ofKind(r *trials) (cost, stakes time.Duration) {
	if ln == nil {
		return r.Cost, r.AtRisk
	}
	cost = num.Add(ln.experience.cost, num.Sub(r.Cost, ln.published.cost))
	stakes = num.Sub(num.Add(ln.experience.stakes, r.AtRisk), ln.published.stakes)
	return cost, stakes
}

// How an experience is written, and merged with other processes.

// entryForm returns the form in which entries are merged.
func entryForm() merge.Form[entry] {
	return merge.Form[entry]{
		Place: "restart/tracker: Experience", Kind: 'x', Fact: func(c *snapshot.Codec, e *entry) { e.code(c) },
	}
}

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

// mostAtOnce bounds the trials that one event may decide. It is far above the number of copies of a task.
const mostAtOnce = 1 << 20

// AppendVersion appends the version of the experience to dst. Send it to another process: the AppendDelta there then
// returns the observations that are missing here.
func (exp *Experience) AppendVersion(dst []byte) []byte {
	return exp.seen.AppendVersion(entryForm(), dst)
}

// AppendDelta appends the observations that are newer than a version, which the reader has made by its AppendVersion.
// A nil version stands for a reader without observations. If origins are given, the delta holds only their
// observations. The delta does not hold the Shape of progress and open trials. It is an error if since is no version.
// Some 20 bytes for each run time.
func (exp *Experience) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return exp.seen.AppendDelta(entryForm(), exp.choices(), exp.clock.Since, dst, since, origins)
}

// Merge adds the observations of another process, from its AppendDelta. Deltas may come in any order and repeatedly.
// Of the 256 entries that are kept, at most half come from one process. Merge returns an error, and changes nothing,
// if there is no Origin, or delta is damaged or no delta. It returns a FieldError if delta is more than MaxSkew ahead
// of now. O(1) for each entry.
func (exp *Experience) Merge(now time.Time, delta []byte) error {
	at := exp.choices().At(&exp.clock, now)
	err := exp.seen.Merge(entryForm(), exp.choices(), at, delta)
	exp.sum(at)
	return err
}

const experienceVersion = 1

// AppendBinary appends a snapshot of the experience to dst, without the stakes of open trials: the phases bring them
// back by [Restore]. It never fails. O(1), at most 10 kB.
func (exp *Experience) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, experienceVersion, exp.code)
}

// MarshalBinary returns a snapshot; see [Experience.AppendBinary].
func (exp *Experience) MarshalBinary() ([]byte, error) { return exp.AppendBinary(nil) }

// UnmarshalBinary sets the experience to the state of a snapshot. Other data is an error, and leaves the experience as
// it was.
func (exp *Experience) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Experience{}, data, experienceVersion, exp, (*Experience).code)
}

func (exp *Experience) code(c *snapshot.Codec) {
	config := exp.config
	c.Duration(&config.Keep)
	c.Text(&config.Origin)
	c.Duration(&config.MaxSkew)
	if config.Keep != 0 || config.Origin != "" || config.MaxSkew != 0 {
		c.Valid(true, config)
	}
	if c.Reading() {
		exp.config = config
	}
	c.Clock(&exp.clock)
	c.Part(&exp.shape)
	exp.seen.State(entryForm(), c, exp.choices().Latest(exp.clock))
	if c.Reading() {
		exp.sum(exp.clock.Since)
	}
}
