package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

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
	stakes    total
}

func (r *trials) tally() tally { return tally{r.Won, r.Lost, r.Cost, r.stakes} }

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

// tell tells what trials have come to since.
func (p *pupil) tell(now time.Time, r *trials) {
	if p == nil || r.tally() == p.told {
		return
	}
	is, was := r.tally(), p.told
	p.told, p.of.stakes = is, p.of.stakes.plus(is.stakes).minus(was.stakes)
	if is.won != was.won || is.lost != was.lost || is.cost != was.cost {
		cost := min(max(num.Sub(is.cost, was.cost).Seconds(), -estimate.MaxSample), estimate.MaxSample)
		p.of.learn(now, lesson{seconds: cost, lost: max(is.lost-was.lost, 0), won: max(is.won-was.won, 0)})
	}
}

// resume takes up a phase that was restored. What its trials have cost was told before; that they are open is not known
// from any snapshot, or trials of phases that never came back would be held against the kind for ever.
func (p *pupil) resume(r *trials) {
	if p != nil {
		p.told, p.of.stakes = r.tally(), p.of.stakes.plus(r.stakes)
	}
}

// all returns what the trials of all phases of the kind have cost, and the stakes of those that run.
func (p *pupil) all(r *trials) (cost time.Duration, stakes total) {
	if p == nil {
		return r.Cost, r.stakes
	}
	return num.Add(p.of.cost, num.Sub(r.Cost, p.told.cost)), p.of.stakes.plus(r.stakes).minus(p.told.stakes)
}
