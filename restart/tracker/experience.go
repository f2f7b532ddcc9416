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
	usualKeep   = 30 * 24 * time.Hour
	mostLessons = 256 // entries that are kept: the run times of 16 phases of many tasks
	mostTaught  = 16  // a phase adds the run times of all its tasks, or of 16 to 31 of them
	mostKin     = 32  // run times of other phases that a phase reads; each of its own tasks that ends replaces one
	halfLives   = 32  // run times after which a trial counts half, so that a kind with lost trials is tried again
)

// Experience is the knowledge that phases of one kind share: how their progress runs, how long their attempts took,
// and how their restarts and copies came out. It serves two purposes. A phase of one task starts with the run times of
// other phases. And the bound on lost slot time holds for the kind: all its phases together may have no more trials
// open than one phase.
//
// The host says which phases are of one kind: the same stage of the same job, day after day, or the tasks of one
// queue. If works are known, a run time is scaled by the work of its attempt. Only the newest observations count: 32
// run times, from some 16 tasks of each phase, and 16 trials. Each task of a phase that ends replaces one run time of
// other phases. So after 16 tasks the phase's own run times are the majority, and after 32 tasks no others count.
// Trials of the phase count in addition to trials of other phases.
//
// The zero value has no observations, and keeps each observation for 30 days. An Experience takes some 20 kB once it
// is full. It adds O(1) to the cost of an event. The phases apply their events to a shared Experience in one order;
// the same events in the same order give the same decisions. An Experience is not safe for concurrent use.
type Experience struct {
	config survival.WindowConfig // a Keep of 0 stands for defaultKeep
	clock  clock.Clock
	shape  survival.Shape
	seen   merge.List[lesson]
	stakes time.Duration // slot time at risk in open trials of this process's phases; in no snapshot

	// Summaries of seen.
	known     []merge.Observation[lesson]
	lost, won float64
	cost      time.Duration
}

// entry is one observation: the run time of an attempt, or the outcome of trials.
type lesson struct {
	about   about
	seconds float64 // run time; or the cost of trials less the time that trials saved
	work    float64 // work of the attempt
	lost    float64 // number of lost trials; won is the number of won trials
	won     float64
}

// about says what an entry is about.
type about uint8

const (
	ofTrials about = 0
	ofLife   about = 1 << (iota - 1)
	ended          // the attempt ended with success; otherwise it was killed
	sized          // the work of the attempt is known
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

func (x *Experience) choices() merge.Choices {
	c := x.config.Effective()
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: check.Or(c.Keep, usualKeep)}
}

// add adds an entry. O(1).
func (x *Experience) learn(now time.Time, l lesson) {
	at := x.choices().At(&x.clock, now)
	x.seen.Add(x.choices(), at, l)
	x.sum(at)
}

// sum computes the summaries from all entries.
func (x *Experience) sum(at time.Duration) {
	lives, cost := 0.0, 0.0
	x.lost, x.won = 0, 0
	x.known = x.seen.Newest(lessons(), x.choices(), at, mostLessons)
	for i := len(x.known) - 1; i >= 0; i-- {
		l := &x.known[i].Fact
		if l.about&ofLife > 0 {
			lives++
			continue
		}
		left := 1 / (1 + float64((lives/halfLives)*(lives/halfLives))) // no fused multiply-add: one answer everywhere
		cost += float64(left * l.seconds)
		x.lost += float64(left * l.lost)
		x.won += float64(left * l.won)
	}
	x.cost, _ = num.Duration(math.Abs(cost))
	if cost < 0 {
		x.cost = -x.cost
	}
}

// appendRunTimes appends the newest run times, newest first. With bySize it takes run times of known works, otherwise
// run times of unknown works.
func (x *Experience) appendKin(dst []life, bySize bool) []life {
	for i := len(x.known) - 1; i >= 0 && len(dst) < mostKin; i-- {
		if l := &x.known[i].Fact; l.about&ofLife > 0 && (l.about&sized > 0) == bySize {
			dst = append(dst, life{float32(l.seconds), l.about&ended > 0, l.work})
		}
	}
	return dst
}

// link connects a phase with the Experience of its kind. A nil link has no Experience.
type pupil struct {
	of     *Experience
	kin    []life // run times of other phases, newest first
	sized  bool   // the works of the phase are known
	stride int32  // the phase adds the run times of each task that is a multiple of this power of 2
	told   tally
}

// tally sums up the trials of a phase.
type tally struct {
	won, lost float64
	cost      time.Duration
	stakes    time.Duration
}

func (r *trials) tally() tally { return tally{r.Won, r.Lost, r.Cost, r.AtRisk} }

func newPupil(c *Config, sized bool) *pupil {
	if c.Experience == nil {
		return nil
	}
	p := &pupil{of: c.Experience, sized: sized, stride: 1}
	for len(c.Work)/int(p.stride) >= 2*mostTaught {
		p.stride *= 2
	}
	return p
}

// refresh reads the run times of other phases from the Experience, until the phase has a run time of its own. After
// that, the Experience holds the phase's own run times as well, which would count twice.
func (p *pupil) listen(own *ages) {
	if p != nil && len(own.closed) == 0 {
		p.kin = p.of.appendKin(p.kin[:0], p.sized)
	}
}

// runTimes returns the run times of other phases that count: one fewer for each task of the phase that has ended.
func (p *pupil) lives(own *ages) []life {
	if p == nil {
		return nil
	}
	p.listen(own)
	return p.kept(own)
}

// counted is runTimes as of the last refresh.
func (p *pupil) kept(own *ages) []life {
	if p == nil {
		return nil
	}
	return p.kin[:max(len(p.kin)-int(own.ended), 0)]
}

// addRunTime adds the run time of an attempt to the Experience.
func (p *pupil) teach(now time.Time, task int32, l lesson) {
	if task&(p.stride-1) != 0 || !(l.seconds <= estimate.MaxSample) {
		return
	}
	if p.sized {
		l.about |= sized
	}
	p.of.learn(now, l)
}

func lifeOf(success bool) about {
	if success {
		return ofLife | ended
	}
	return ofLife
}

// adopt sets the trials of a phase to the trials of the kind, until a trial of the phase itself has come out.
func (p *pupil) hear(r *trials) {
	if p != nil && !r.own {
		r.Won, r.Lost = p.of.won, p.of.lost
		p.told.won, p.told.lost = r.Won, r.Lost
	}
}

// knowsLosses reports whether trials of the kind were lost. The Experience does not hold how long the tasks of these
// trials took.
func (p *pupil) knowsLosses() bool { return p != nil && p.of.lost > 0 }

// publish adds the changes of the phase's trials to the Experience. If a won trial turns out as lost in the end, the
// kind counts both.
func (p *pupil) tell(now time.Time, r *trials) {
	if p == nil || r.tally() == p.told {
		return
	}
	is, was := r.tally(), p.told
	p.told, p.of.stakes = is, num.Sub(num.Add(p.of.stakes, is.stakes), was.stakes)
	r.own = r.own || is.won != was.won || is.lost != was.lost
	if is.won != was.won || is.lost != was.lost || is.cost != was.cost {
		cost := min(max(num.Sub(is.cost, was.cost).Seconds(), -estimate.MaxSample), estimate.MaxSample)
		p.of.learn(now, lesson{seconds: cost, lost: max(is.lost-was.lost, 0), won: max(is.won-was.won, 0)})
	}
}

// resume connects a restored phase. The Experience already holds the cost of its trials. It does not hold the stakes
// of its open trials, because no snapshot of an Experience does: otherwise the stakes of phases that never come back
// would burden the kind for ever.
func (p *pupil) resume(r *trials) {
	if p != nil {
		p.told, p.of.stakes = r.tally(), num.Add(p.of.stakes, r.AtRisk)
	}
}

// all returns the cost of the trials of all phases of the kind, and the stakes of their open trials.
func (p *pupil) all(r *trials) (cost time.Duration, stakes time.Duration) {
	if p == nil {
		return r.Cost, r.AtRisk
	}
	return num.Add(p.of.cost, num.Sub(r.Cost, p.told.cost)), num.Sub(num.Add(p.of.stakes, r.AtRisk), p.told.stakes)
}

// How an experience is written, and merged with other processes.

// entries returns the form in which entries are merged.
func lessons() merge.Form[lesson] {
	return merge.Form[lesson]{
		Place: "restart/tracker: Experience", Kind: 'x', Fact: func(c *snapshot.Codec, l *lesson) { l.code(c) },
	}
}

func (l *lesson) code(c *snapshot.Codec) {
	snapshot.Small(c, &l.about, 0, int(abouts-1))
	if l.about == ofTrials {
		c.Real(&l.seconds)
		c.Check(l.seconds >= -estimate.MaxSample, "holds trials that have saved too much")
		c.Amount(&l.lost)
		c.Amount(&l.won)
		c.Check(l.lost <= mostAtOnce && l.won <= mostAtOnce, "holds an event of too many trials")
	} else {
		c.Amount(&l.seconds)
		c.Amount(&l.work)
		c.Check(l.about&ofLife > 0, "holds a life that is none")
	}
	c.Check(l.seconds <= estimate.MaxSample, "holds a time that is too long")
}

// mostAtOnce bounds the trials that one event may decide. It is far above the number of copies of a task.
const mostAtOnce = 1 << 20

// AppendVersion appends the version of the experience to dst. Another process needs the version to compute the delta
// that is missing here.
func (x *Experience) AppendVersion(dst []byte) []byte { return x.seen.AppendVersion(lessons(), dst) }

// AppendDelta appends the observations that are newer than a version, which the reader has made by its AppendVersion.
// A nil version stands for a reader without observations. If origins are given, the delta holds only their
// observations. The delta holds neither the Shape of progress nor open trials. It is an error if since is no version.
// Some 20 bytes for each run time.
func (x *Experience) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return x.seen.AppendDelta(lessons(), x.choices(), x.clock.Since, dst, since, origins)
}

// Merge adds the observations of another process, from its AppendDelta. Deltas may come in any order and repeatedly.
// Of the 256 entries that are kept, at most half come from one process. Merge returns an error, and changes nothing,
// if there is no Origin, or delta is damaged or empty. It returns a FieldError if delta is more than MaxSkew ahead of
// now. O(1) for each entry.
func (x *Experience) Merge(now time.Time, delta []byte) error {
	at := x.choices().At(&x.clock, now)
	err := x.seen.Merge(lessons(), x.choices(), at, delta)
	x.sum(at)
	return err
}

const experienceVersion = 1

// AppendBinary appends a snapshot of the experience to dst, without the stakes of open trials: the phases bring them
// back by [Restore]. It never fails. O(1), at most 10 kB.
func (x *Experience) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, experienceVersion, x.code)
}

// MarshalBinary returns a snapshot; see [Experience.AppendBinary].
func (x *Experience) MarshalBinary() ([]byte, error) { return x.AppendBinary(nil) }

// UnmarshalBinary sets x to the state of a snapshot. Other data is an error, and leaves x as it was.
func (x *Experience) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Experience{}, data, experienceVersion, x, (*Experience).code)
}

func (x *Experience) code(c *snapshot.Codec) {
	config := x.config
	c.Duration(&config.Keep)
	c.Text(&config.Origin)
	c.Duration(&config.MaxSkew)
	if config.Keep != 0 || config.Origin != "" || config.MaxSkew != 0 {
		c.Valid(true, config)
	}
	if c.Reading() {
		x.config = config
	}
	c.Clock(&x.clock)
	c.Part(&x.shape)
	x.seen.State(lessons(), c, x.choices().Latest(x.clock))
	if c.Reading() {
		x.sum(x.clock.Since)
	}
}
