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

// These are choices: a daily job is remembered for a month, and one phase of many tasks does not outweigh the others.
const (
	usualKeep   = 30 * 24 * time.Hour
	mostLessons = 256 // that are kept: the lives of 16 phases of many tasks
	mostTaught  = 16  // tasks whose lives a phase teaches at least, if it has as many; fewer than twice that
	mostKin     = 32  // lives of others that a phase of which no task has ended knows; one less for each that has
	halfLives   = 32  // lives after which a trial counts half: a kind that trials have failed of is tried again
)

// Experience is what phases of a kind teach each other: how their progress runs, how long their copies took, and what
// came of their restarts and copies. So a phase of one task is not without any knowledge, and what a guess may cost that
// is wrong is bounded for the kind: in all of its phases together no more trials are under way than in one.
//
// Who is of a kind, says the host: the same stage of the same job, day after day, or the tasks of one queue. Where works
// are known a copy's time is taken by its work, and otherwise as it is. The newest count: 32 lives of copies, those of
// some 16 tasks of each phase, and 16 trials. A phase knows the lives of others until tasks of its own have ended, of
// which each takes the place of one: from 16 of its own on these outweigh, and from 32 on they stand alone. Trials of
// its own count beside those of others.
//
// The zero value has seen nothing, and keeps what it sees for 30 days. It takes some 20 kB once it has learned. An event
// of a phase costs O(1) more. Phases that share one are told of their events in one order; told the same in the same
// order, they decide the same. Not safe for concurrent use.
type Experience struct {
	config survival.WindowConfig // with a Keep of 0 for usualKeep
	clock  clock.Clock
	shape  survival.Shape
	seen   merge.List[lesson]
	stakes time.Duration // what trials may cost that have not come out, of the phases of this process; in no snapshot

	// Of what was seen:
	known     []merge.Observation[lesson]
	lost, won float64
	cost      time.Duration
}

// lesson is what an event has taught.
type lesson struct {
	about   about
	seconds float64 // that a copy ran; or what trials have cost, less what they have saved
	work    float64 // of the copy
	lost    float64 // how many trials were lost, and won
	won     float64
}

// about is what a lesson is about.
type about uint8

const (
	ofTrials about = 0
	ofLife   about = 1 << (iota - 1)
	ended          // with success; otherwise it was killed
	sized          // its work is known
	abouts
)

// NewExperience returns an experience that has seen nothing, with the choices of a window of times, or an error that
// names the field that is out of range.
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

// learn takes a lesson in. O(1).
func (x *Experience) learn(now time.Time, l lesson) {
	at := x.choices().At(&x.clock, now)
	x.seen.Add(x.choices(), at, l)
	x.sum(at)
}

// sum finds out what all that is known comes to.
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

// appendKin appends the newest lives, the newest first; sized says which kind of works they should have.
func (x *Experience) appendKin(dst []life, bySize bool) []life {
	for i := len(x.known) - 1; i >= 0 && len(dst) < mostKin; i-- {
		if l := &x.known[i].Fact; l.about&ofLife > 0 && (l.about&sized > 0) == bySize {
			dst = append(dst, life{float32(l.seconds), l.about&ended > 0, l.work})
		}
	}
	return dst
}

// pupil is a phase that has an experience: what it has heard from that, and has told it. A nil one has none.
type pupil struct {
	of     *Experience
	kin    []life // of other phases, the newest first
	sized  bool   // works are known
	stride int32  // of so many tasks the lives of one are told; a power of 2
	told   tally
}

// tally is what the trials of a phase have come to.
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

// listen hears of the lives in other phases, until there is one of its own: of that it would learn twice.
func (p *pupil) listen(own *ages) {
	if p != nil && len(own.closed) == 0 {
		p.kin = p.of.appendKin(p.kin[:0], p.sized)
	}
}

// lives returns those of other phases that count beside its own: one less for each of its tasks that has ended.
func (p *pupil) lives(own *ages) []life {
	if p == nil {
		return nil
	}
	p.listen(own)
	return p.kept(own)
}

// kept returns the lives of other phases that count, as of when it listened last.
func (p *pupil) kept(own *ages) []life {
	if p == nil {
		return nil
	}
	return p.kin[:max(len(p.kin)-int(own.ended), 0)]
}

// teach tells of the life of a copy of a task.
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

// hear lets a phase begin with what trials of the kind have come to, until some of its own have.
func (p *pupil) hear(r *trials) {
	if p != nil && !r.own {
		r.Won, r.Lost = p.of.won, p.of.lost
		p.told.won, p.told.lost = r.Won, r.Lost
	}
}

// knowsLosses reports whether the kind knows of lost trials: how long their tasks take is not passed on.
func (p *pupil) knowsLosses() bool { return p != nil && p.of.lost > 0 }

// tell tells what trials have come to since. A win that turned out as a loss in the end stays a win for the kind, beside the
// loss.
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

// resume takes up a phase that was restored. What its trials have cost was told before; that they are open is not known
// from any snapshot, or trials of phases that never came back would be held against the kind for ever.
func (p *pupil) resume(r *trials) {
	if p != nil {
		p.told, p.of.stakes = r.tally(), num.Add(p.of.stakes, r.AtRisk)
	}
}

// all returns what the trials of all phases of the kind have cost, and the stakes of those that run.
func (p *pupil) all(r *trials) (cost time.Duration, stakes time.Duration) {
	if p == nil {
		return r.Cost, r.AtRisk
	}
	return num.Add(p.of.cost, num.Sub(r.Cost, p.told.cost)), num.Sub(num.Add(p.of.stakes, r.AtRisk), p.told.stakes)
}

// How an experience is written, and passed on.

// lessons is how they are passed on.
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

// mostAtOnce is how many trials one event may decide: far more than a task has copies.
const mostAtOnce = 1 << 20

// AppendVersion appends what is known, as far as a process that knows more must know that to say the rest.
func (x *Experience) AppendVersion(dst []byte) []byte { return x.seen.AppendVersion(lessons(), dst) }

// AppendDelta appends what phases of the kind have shown beyond a version, that of the reader by its AppendVersion; nil
// stands for one that knows nothing. With origins it says only what these have seen. How progress runs is not passed
// on, nor is what has not come out. It is an error if since is no version. Some 20 bytes a life.
func (x *Experience) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return x.seen.AppendDelta(lessons(), x.choices(), x.clock.Since, dst, since, origins)
}

// Merge takes in what another process has seen, by its AppendDelta, in any order, and as often as it comes. Of the 256
// lessons that are kept at most half are those of one process. It is an error, and nothing is taken, if there is no
// Origin, delta is damaged or none, or, a FieldError, if it comes from more than MaxSkew ahead of now. O(1) a lesson.
func (x *Experience) Merge(now time.Time, delta []byte) error {
	at := x.choices().At(&x.clock, now)
	err := x.seen.Merge(lessons(), x.choices(), at, delta)
	x.sum(at)
	return err
}

const experienceVersion = 1

// AppendBinary appends a snapshot of the experience to dst, without what trials may cost that have not come out: that
// the phases bring back, by [Restore]. It never fails. O(1), at most 10 kB.
func (x *Experience) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, experienceVersion, x.code)
}

// MarshalBinary returns a snapshot; see [Experience.AppendBinary].
func (x *Experience) MarshalBinary() ([]byte, error) { return x.AppendBinary(nil) }

// UnmarshalBinary takes a snapshot, and goes on as the one that was written. What is not a snapshot is an error, and
// changes nothing.
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
