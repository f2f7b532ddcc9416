package cluster

import "github.com/straggler-go/straggler/internal/snapshot"

// Code encodes the machines into the codec, or decodes them from it, depending on the direction of the codec. The
// numbers of attempts on the machines are not included. While decoding, each machine must pass check before it is
// added.
func (s *Set) Code(c *snapshot.Codec, check func(i int, m Machine) error) {
	c.Field(1, "rest").Duration(&s.rest)
	c.Check(s.rest > 0, "has a rest that is not positive")
	c.Field(2, "prefetch").Number(&s.prefetch, 0, 1<<30)
	c.Field(3, "losses").All(&s.Losses)
	c.Field(4, "departures").All(&s.Departures)
	s.unknown.code(c.Field(5, "clock of unknown machines"))
	list := s.list
	snapshot.List(c.Field(6, "machines"), &list, func(m *machine) {
		c.Text(&m.Name)
		c.Number(&m.Slots, 0, 1<<30)
		c.All(&m.down, &m.restUntil, &m.leaves)
		m.clock.code(c)
	})
	if c.Writes() {
		return
	}
	for i, m := range list {
		c.In.Fail(check(i, m.Machine))
		if !c.OK() {
			return
		}
		s.add(m)
	}
}

// code encodes the bounds of a clock into the codec, or decodes them from it.
func (k *Clock) code(c *snapshot.Codec) {
	if c.Bool(&k.told); k.told {
		c.All(&k.least, &k.most)
		c.Check(k.least <= k.most, "has a clock with a lower bound above its upper bound")
	}
}
