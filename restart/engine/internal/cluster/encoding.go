package cluster

import "github.com/straggler-go/straggler/internal/snapshot"

// Code codes what is known of the machines, without what attempts hold of them. Of what was read, each machine has to pass
// the check before it is added.
func (s *Set) Code(c *snapshot.Codec, check func(i int, h Machine) error) {
	c.Duration(&s.rest)
	c.Check(s.rest > 0, "has no rest")
	c.All(&s.Losses, &s.Departures)
	s.unknown.code(c)
	list := s.list
	snapshot.List(c, &list, func(h *machine) {
		c.Text(&h.Name)
		c.Number(&h.Slots, 0, 1<<30)
		c.All(&h.down, &h.restUntil, &h.leaves)
		h.clock.code(c)
	})
	if c.In == nil {
		return
	}
	for i, h := range list {
		c.In.Fail(check(i, h.Machine))
		if !c.OK() {
			return
		}
		s.add(h)
	}
}

func (k *Clock) code(c *snapshot.Codec) {
	if c.Bool(&k.told); k.told {
		c.All(&k.least, &k.most)
		c.Check(k.least <= k.most, "has a clock that is fast and slow")
	}
}
