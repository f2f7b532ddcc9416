package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// plain is the bare state of a machine.
type plain struct {
	name                        string
	slots, load                 int
	down, resting, slow, hidden bool
	restUntil, leaves           time.Time
}

// model answers like a Set, but looks at all machines for each answer.
type model struct {
	machines           []plain
	rest               time.Duration
	losses, departures int
	prefetch           int
}

func (h *plain) idles() bool { return h.resting || h.slow || !h.leaves.IsZero() }

func (m *model) eligible(i int) bool {
	others := slices.ContainsFunc(m.machines, func(h plain) bool { return !h.down && !h.idles() })
	return !m.machines[i].down && (!m.machines[i].idles() || !others)
}

func (m *model) room() (n int) {
	for i, h := range m.machines {
		if m.eligible(i) {
			n += max(h.slots-h.load, 0)
		}
	}
	return n
}

func (m *model) places() (n int) {
	for i, h := range m.machines {
		if m.eligible(i) {
			n += max(h.slots+m.prefetch-h.load, 0)
		}
	}
	return n
}

func (m *model) pick(skip func(int) bool, beyond int) (best int, open bool) {
	best = Nowhere
	for i, h := range m.machines {
		free := h.slots - h.load
		if m.eligible(i) && !h.hidden && !skip(i) && (best == Nowhere || free > m.machines[best].slots-m.machines[best].load) {
			best = i
		}
	}
	if best != Nowhere && m.machines[best].slots-m.machines[best].load <= -beyond {
		return Nowhere, true
	}
	return best, best != Nowhere
}

func (m *model) names(list []int, chosen int) (names []string, left bool) {
	up := 0
	for i, h := range m.machines {
		if !h.down {
			up++
			if i != chosen && slices.Contains(list, i) {
				names = append(names, h.name)
			}
		}
	}
	switch {
	case len(names) == 0:
		return nil, true
	case len(names) == up:
		return nil, false
	}
	return names, true
}

func (m *model) rests(i int, now time.Time) bool {
	h := m.machines[i]
	return h.resting && now.Before(h.restUntil) && !now.Before(h.restUntil.Add(-2*m.rest-1))
}

// step makes one random change to the model and to the set.
func (m *model) step(s *Set, r *rand.Rand, now time.Time) {
	if len(m.machines) == 0 || len(m.machines) < 7 && r.IntN(20) == 0 {
		name := fmt.Sprint("h", len(m.machines))
		m.machines = append(m.machines, plain{name: name, slots: 2})
		s.Add(Machine{Name: name, Slots: 2})
		return
	}
	i := r.IntN(len(m.machines))
	h := &m.machines[i]
	switch r.IntN(8) {
	case 0:
		n := r.IntN(4) - 1
		h.load += n
		s.Load(i, n)
	case 1:
		h.hidden = r.IntN(2) == 0
		s.Hide(i, h.hidden)
	case 2:
		h.slots = 1 + r.IntN(4)
		s.SetSlots(i, h.slots)
	case 3:
		if down := r.IntN(2) == 0; down != h.down {
			h.down = down
			if m.losses++; !down {
				h.restUntil = time.Time{}
			}
		}
		s.SetDown(i, h.down)
	case 4:
		at := []time.Time{{}, {}, now, now.Add(time.Second)}[r.IntN(4)]
		if !at.Equal(h.leaves) {
			m.departures++
		}
		h.leaves = at
		s.SetLeaving(i, at)
	case 5:
		from := now.Add(time.Duration(r.IntN(100)-80) * time.Second)
		if until := from.Add(m.rest); !h.resting || until.After(h.restUntil) {
			h.restUntil = until
		}
		h.resting = true
		m.losses++
		s.Lose(i, from)
	case 6:
		var slow []int
		for k := range m.machines {
			rests := m.rests(k, now)
			was := m.machines[k].slow
			m.machines[k].resting, m.machines[k].slow = rests, r.IntN(4) == 0
			if m.machines[k].slow {
				if !was {
					m.losses++
				}
				slow = append(slow, k)
			}
		}
		s.Settle(now, append(slow, len(m.machines), 99))
	case 7:
		s.Clock(i).Tell(now.Add(time.Duration(r.IntN(60))*time.Second), now, now.Add(time.Second))
	}
}

// same demands that the model and the set answer alike.
func (m *model) same(t *testing.T, s *Set, r *rand.Rand, now time.Time) {
	t.Helper()
	slots, unwanted := 0, []int{}
	for i, h := range m.machines {
		require.Equal(t, m.eligible(i), s.Eligible(i), "%d of %+v", i, m.machines)
		require.Equal(t, h.slow, s.IsSlow(i))
		require.Equal(t, m.rests(i, now), s.Rests(i, now), "%d at %v of %+v", i, now, m.machines)
		require.Equal(t, h.name, s.Name(i))
		require.True(t, h.leaves.Equal(s.Leaves(i)))
		known, ok := s.Known(h.name)
		require.True(t, ok && known == i)
		slots += h.slots
		if h.idles() {
			unwanted = append(unwanted, i)
		}
	}
	require.Equal(t, []int{m.room(), m.places(), slots, m.losses, m.departures},
		[]int{s.Room(), s.Places(), s.Slots(), s.Losses, s.Departures})
	behind := false
	for i, h := range m.machines {
		require.Equal(t, max(h.load-h.slots, 0), s.Behind(i))
		behind = behind || h.load > h.slots
	}
	require.Equal(t, behind, s.AnyBehind())
	list := s.Unwanted([]int{})
	slices.Sort(list)
	require.Equal(t, unwanted, slices.Compact(list))
	skipped, beyond := r.Uint32(), r.IntN(3)
	skip := func(i int) bool { return skipped>>i&3 == 0 }
	want, wantOpen := m.pick(skip, beyond)
	got, open := s.Pick(skip, beyond)
	require.Equal(t, []any{want, wantOpen}, []any{got, open}, "%+v", m.machines)
	var except []string
	list = nil
	for i := range m.machines {
		if r.IntN(3) > 0 {
			except, list = append(except, m.machines[i].name), append(list, i, i)
		}
	}
	any := slices.ContainsFunc(m.machines, func(h plain) bool { return !h.down && !slices.Contains(except, h.name) })
	require.Equal(t, any || len(except) == 0, s.AnyUp(except))
	chosen := r.IntN(len(m.machines)+1) - 1
	r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	wantNames, wantLeft := m.names(list, chosen)
	names, left := s.Names(list, chosen)
	require.Equal(t, wantNames, names, "%v without %d of %+v", list, chosen, m.machines)
	require.Equal(t, wantLeft, left, "%v without %d of %+v", list, chosen, m.machines)
}

func saved(s *Set) []byte {
	data, _ := snapshot.Append(nil, 1, func(c *snapshot.Codec) { s.Code(c, nil) })
	return data
}

func restored(data []byte, check func(int, Machine) error) (*Set, error) {
	s := New(0, 0)
	err := snapshot.RestoreTo(*s, data, 1, s, func(s *Set, c *snapshot.Codec) { s.Code(c, check) })
	return s, err
}

func fine(int, Machine) error { return nil }

// A set answers like the model that looks at all machines, after any change. A restored set does too, without
// the load of attempts and without slow machines.
func TestSetAnswersLikeAModel(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 5))
		m := &model{rest: time.Minute, prefetch: int(seed % 3)}
		s, now := New(m.rest, m.prefetch), time.Unix(1e9, 0).UTC()
		for range 150 {
			m.step(s, r, now)
			m.same(t, s, r, now)
			now = now.Add(time.Duration(r.IntN(30)-5) * time.Second)
			if r.IntN(30) > 0 {
				continue
			}
			data := saved(s)
			again, err := restored(data, fine)
			require.NoError(t, err)
			require.Equal(t, data, saved(again))
			for i := range m.machines {
				h := &m.machines[i]
				require.Equal(t, s.Clock(i).Offset(), again.Clock(i).Offset())
				h.load, h.slow, h.hidden = 0, false, false
			}
			s = again
			m.same(t, s, r, now)
		}
	}
}

func TestUnknownMachinesAreAddedIfTheEnginePlaces(t *testing.T) {
	s := New(time.Minute, 0)
	assert.False(t, s.Placing())
	assert.True(t, s.AnyUp(nil), "without machines and names AnyUp is true")
	assert.False(t, s.AnyUp([]string{"a"}))
	assert.Equal(t, Nowhere, s.Number(""))
	assert.Equal(t, 0, s.Number("a"))
	assert.Equal(t, 1, s.Number("b"))
	assert.Equal(t, 0, s.Number("a"))
	assert.False(t, s.Placing(), "machines without slots are placed by the engine")
	assert.Empty(t, s.Name(Nowhere))
	picked, open := s.Pick(func(int) bool { return false }, 0)
	assert.Equal(t, []any{Nowhere, true}, []any{picked, open}, "a machine without slots has no free slot")

	s = New(time.Minute, 0)
	s.Add(Machine{Name: "a", Slots: 1})
	assert.True(t, s.Placing())
	assert.Equal(t, Nowhere, s.Number("b"), "no machine is added where machines have slots")
	assert.Equal(t, 1, s.Len())
}

// A rest ends exactly one rest after the loss. A rest also ends if the clock steps back by more than a rest.
func TestRestEndsOneRestAfterTheLoss(t *testing.T) {
	s, now := New(time.Minute, 0), time.Unix(1000, 0)
	s.Add(Machine{Name: "a"})
	s.Lose(0, now)
	s.Lose(0, now.Add(-time.Second)) // reported late
	for after, rests := range map[time.Duration]bool{
		time.Minute - 1: true, time.Minute: false, 0: true, -time.Minute: true, -time.Minute - 1: true, -time.Minute - 2: false,
	} {
		assert.Equal(t, rests, s.Rests(0, now.Add(after)), "%v", after)
	}
	s.Lose(0, now.Add(time.Second))
	assert.True(t, s.Rests(0, now.Add(time.Minute)), "a later loss makes the rest longer")
}

func TestBadSnapshotOfMachinesIsRefused(t *testing.T) {
	s := New(time.Minute, 0)
	s.Add(Machine{Name: "a", Slots: 3})
	s.Clock(0).Tell(time.Unix(60, 0), time.Unix(50, 0), time.Unix(50, 0)) // both bounds are 10 s
	bad := errors.New("no such machine")
	var seen []any
	_, err := restored(saved(s), func(i int, h Machine) error { seen = append(seen, i, h); return bad })
	require.ErrorIs(t, err, bad)
	assert.Equal(t, []any{0, Machine{Name: "a", Slots: 3}}, seen)
	_, err = restored(saved(s), fine)
	require.NoError(t, err)
	_, err = restored(saved(New(0, 0)), fine)
	require.ErrorContains(t, err, "has a rest that is not positive")
	_, err = restored(saved(New(1, 0)), fine)
	require.NoError(t, err)
	s.list[0].clock.least++
	_, err = restored(saved(s), fine)
	require.ErrorContains(t, err, "a lower bound above its upper bound")
}
