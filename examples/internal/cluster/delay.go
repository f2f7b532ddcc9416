package cluster

import (
	"time"

	"github.com/straggler-go/straggler/delay"
)

// locality lets jobs wait for slots near their data, by package delay. Each phase with blocks has a delay.Locality.
type locality struct {
	policy *delay.Policy
	sized  *delay.Policy // for reduce tasks with a size that was chosen for a worker
}

// waiter is the part of locality for one phase.
type waiter struct {
	state delay.Locality
	// wakes is the instant at which the phase is asked again, because it then accepts slots that are further away; 0:
	// none.
	wakes time.Duration
}

func (l *locality) begin(s *sim, id int32) {
	p := &s.phases[id]
	if policy := l.of(s, id); policy != nil && len(p.nearby) > 0 {
		p.wait.state = policy.Start(s.clock())
	}
}

func newLocality(c *Config) (l locality, err error) {
	l.policy = c.Delay
	if c.Skew != nil {
		if l.sized = c.Skew.Wait; l.sized == nil {
			l.sized, err = delay.New(delay.Config{})
		}
	}
	return l, err
}

// of returns the policy of a phase's job.
func (l *locality) of(s *sim, id int32) *delay.Policy {
	if s.phases[id].bound != nil {
		return l.sized
	}
	if own := s.c.Jobs[s.phases[id].job].Delay; own != nil {
		return own
	}
	return l.policy
}

// localOnly reports whether a phase accepts only slots on machines with its blocks.
func (l *locality) localOnly(s *sim, id int32) bool {
	p := &s.phases[id]
	if l.of(s, id) == nil || len(p.nearby) == 0 {
		return false
	}
	level, _ := p.wait.state.Allowed(s.clock())
	return level == 0
}

// goes reports whether the phase takes a slot at this distance (level) from its nearest task.
func (l *locality) goes(s *sim, id int32, level int8) bool {
	policy := l.of(s, id)
	if policy == nil {
		return true
	}
	p := &s.phases[id]
	d := p.wait.state.Offer(s.clock(), min(int(level), policy.Levels()-1))
	s.tell(p.job, "phase %d, a slot at level %d: %v", id-s.jobs[p.job].phases[0], level, d)
	if d.Action == delay.Launch {
		return true
	}
	// Nobody offers an idle slot again by itself, so the phase asks for it when its level rises.
	if at := s.now + d.NextLevelIn; d.NextLevelIn > 0 && p.wait.wakes <= s.now {
		p.wait.wakes = at
		s.queue.Push(at, offerAgain, p.job, 0)
	}
	return false
}
