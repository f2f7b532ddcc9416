package hosts

import (
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Code codes what is known of the hosts, without what attempts hold of them. Of what was read, each host has to pass
// the check before it is added.
func (s *Set) Code(c *snapshot.Codec, check func(i int, h Host) error) {
	c.Duration(&s.rest)
	c.Check(s.rest > 0, "has no rest")
	c.Number(&s.Losses, 0, snapshot.Any)
	c.Number(&s.Departures, 0, snapshot.Any)
	s.unknown.code(c)
	list := s.list
	snapshot.List(c, &list, func(h *host) {
		c.Text(&h.Name)
		c.Number(&h.Slots, 0, 1<<30)
		c.Bool(&h.resting)
		c.Bool(&h.down)
		c.Time(&h.restUntil)
		c.Time(&h.leaves)
		h.clock.code(c)
	})
	if c.In == nil {
		return
	}
	for i := range list {
		if err := check(i, list[i].Host); c.OK() && err != nil {
			c.In.Fail(err)
		}
		if !c.OK() {
			return
		}
		h := &s.list[s.Add(list[i].Host)]
		h.resting, h.down, h.restUntil, h.leaves = list[i].resting, list[i].down, list[i].restUntil, list[i].leaves
		h.clock = list[i].clock
		if h.resting {
			s.resting = append(s.resting, i)
		}
		s.touch(i)
	}
}

func (k *Clock) code(c *snapshot.Codec) {
	if c.Bool(&k.told); !k.told {
		return
	}
	for _, d := range []*time.Duration{&k.least, &k.most} {
		c.Duration(d)
	}
	c.Check(k.least <= k.most, "has a clock that is fast and slow")
}
