package cluster

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/clone"
)

// banned keeps tasks away from machines that package clone expects to make stragglers [Dolly §2.1.2].
type banned struct {
	list   *clone.Blacklist
	window time.Duration
	asks   []bool // for each job, whether it is asked again after a window
}

// ran is the speed of an attempt in tasks per second, and its machine.
type ran struct {
	rate    float64
	machine int32
}

// newBanned returns nil, which bans no machine, if Config.Blacklist is nil.
func newBanned(s *sim) (*banned, error) {
	if s.c.Blacklist == nil {
		return nil, nil
	}
	list, err := clone.NewBlacklist(len(s.machines), *s.c.Blacklist)
	return &banned{list, s.c.Blacklist.Effective().Window, make([]bool, len(s.c.Jobs))}, err
}

// bans reports whether a machine should get no task now. The job is asked again after a window, because nothing else may
// happen until then.
func (b *banned) bans(s *sim, job, machine int32) bool {
	if b == nil || !b.list.Banned(s.clock(), int(machine)) {
		return false
	}
	if !b.asks[job] {
		b.asks[job] = true
		s.queue.Push(s.now+b.window, offerAgain, job, 0)
	}
	return true
}

func (b *banned) asked(job int32) {
	if b != nil {
		b.asks[job] = false
	}
}

// observe records an attempt that ends, with or without success.
func (b *banned) observe(s *sim, p *phase, at int32) {
	if age := (s.now - s.copies[at].begun).Seconds(); b != nil && age > 0 {
		p.ran = append(p.ran, ran{s.score(at) / age, s.copies[at].machine})
	}
}

// phaseEnded tells the blacklist which machines made a straggler: an attempt with less than half of the median rate
// of the phase.
func (b *banned) phaseEnded(s *sim, p *phase) {
	if b == nil || len(p.ran) == 0 {
		return
	}
	rates := make([]float64, len(p.ran))
	for i, r := range p.ran {
		rates[i] = r.rate
	}
	slices.Sort(rates)
	half := rates[len(rates)/2] / 2
	for _, r := range p.ran {
		b.list.Observe(s.clock(), int(r.machine), r.rate < half)
	}
	p.ran = nil
}
