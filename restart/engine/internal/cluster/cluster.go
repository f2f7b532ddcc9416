// Package cluster contains the machines of a cluster, for package engine. It knows which machines may get new
// attempts, which machine has the most free slots, and how wrong the clocks of the machines are.
//
//	set := cluster.New(time.Minute, 0)
//	a := set.Add(cluster.Machine{Name: "a", Slots: 2})
//	b := set.Add(cluster.Machine{Name: "b", Slots: 4})
//	set.Load(b, 3)                 // 3 attempts on b, so 1 slot is free there
//	best, _ := set.Pick(none, 0) // a: it has 2 free slots
//
// A machine gets no new attempts while it is down. In three cases a machine should get none: it rests because it lost
// an attempt, it is slow, or it is known to leave. If this is true for all machines that are up, these machines get
// new attempts all the same. Only [Set.Eligible] applies these rules. A tree contains the result of Eligible for each
// machine. It finds the machine with the most free slots in O(log n).
package cluster

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Nowhere is the number of an unknown machine.
const Nowhere = -1

// Machine is a machine as it was configured.
type Machine struct {
	Name string
	// Slots is how many attempts run on the machine at once; 0 if the engine places attempts.
	Slots int
}

// Set contains the machines, numbered in the order in which they were added. Create a Set with [New].
type Set struct {
	list  []machine
	index map[string]int
	// How long a machine rests after it has lost an attempt.
	rest time.Duration
	// How many attempts may wait on each machine, in addition to the attempts that run there.
	prefetch int

	// The machines that rest: they get no new attempts for a while, because they lost an attempt. Until the next
	// Settle, the list may contain machines whose rest is over.
	resting []int
	// The slow machines, as passed to the last call of Settle.
	slow []int
	// The machines that will leave at a known time.
	leaving []int
	// The machines that may get new attempts, with their free slots.
	open roomiest
	// The sums over all machines.
	sums tally
	// True if every machine that is up should get no new attempts. Then all machines that are up may get new
	// attempts.
	last bool
	// The clock of attempts whose machine is not known.
	unknown Clock

	// Losses is increased when a machine goes down, comes up, loses an attempt or becomes slow. Departures is increased
	// when the time at which a machine leaves is changed.
	Losses, Departures int
}

// machine is the state of one machine.
type machine struct {
	Machine
	// The number of attempts that run on the machine or were submitted to it, and are not known to have ended.
	load int
	// The time until which the machine rests: it gets no new attempts, because it lost an attempt. Zero means that it
	// does not rest.
	restUntil time.Time
	// The time at which the machine will leave; zero if it stays.
	leaves time.Time
	slow   bool
	down   bool
	// True if Pick must not return the machine.
	hidden bool
	// The part of Set.sums that comes from this machine.
	counted tally
	clock   Clock
}

// tally is the part of one machine in the sums over all machines, or the sums themselves.
type tally struct {
	// Field up is the number of machines that are not down. Field idle is the number of machines that are not down
	// but should get no new attempts.
	up, idle int
	// The number of free slots of machines that may get new attempts, and the number of attempts that these machines
	// may get if some attempts wait there.
	room, places int
	// The number of attempts that exceed the slots of their machine.
	behind int
}

// New returns a set without machines. Argument rest is how long a machine gets no new attempts after it has lost an
// attempt. Argument prefetch is how many attempts may wait on each machine, in addition to the attempts that run there.
func New(rest time.Duration, prefetch int) *Set {
	return &Set{index: map[string]int{}, rest: rest, prefetch: prefetch}
}

// Add adds a machine and returns its number. O(log n) amortised.
func (s *Set) Add(m Machine) int { return s.add(machine{Machine: m}) }

// add adds a machine with its state and returns its number.
func (s *Set) add(m machine) int {
	i := len(s.list)
	s.index[m.Name] = i
	s.list = append(s.list, m)
	if m.rests() {
		s.resting = append(s.resting, i)
	}
	if !m.leaves.IsZero() {
		s.leaving = append(s.leaving, i)
	}
	s.open.grow(i + 1)
	s.touch(i)
	return i
}

// Len returns the number of machines.
func (s *Set) Len() int { return len(s.list) }

// Name returns a machine's name. For Nowhere it returns the empty string.
func (s *Set) Name(i int) string {
	if i == Nowhere {
		return ""
	}
	return s.list[i].Name
}

// Placing reports whether the machines have slots. If they have, this package chooses the machine of each attempt;
// otherwise the engine does.
func (s *Set) Placing() bool { return len(s.list) > 0 && s.list[0].Slots > 0 }

// Slots returns how many attempts all machines together may run at once. O(n).
func (s *Set) Slots() (n int) {
	for i := range s.list {
		n += s.list[i].Slots
	}
	return n
}

// SlotsOf returns how many attempts a machine may run at once.
func (s *Set) SlotsOf(i int) int { return s.list[i].Slots }

// Known returns the number of the machine with the given name. Result ok is false if there is no such machine.
func (s *Set) Known(name string) (i int, ok bool) {
	i, ok = s.index[name]
	return i, ok
}

// Number returns the number of the machine with the given name. If the name is new and the engine places attempts,
// the machine is added. If the name is new and the engine does not place attempts, Number returns Nowhere.
func (s *Set) Number(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	if name == "" || s.Placing() {
		return Nowhere
	}
	return s.Add(Machine{Name: name})
}

// Load adds n to the number of attempts on a machine. A negative n subtracts attempts.
func (s *Set) Load(i, n int) {
	s.list[i].load += n
	s.touch(i)
}

// Hide sets whether Pick must not return the machine.
func (s *Set) Hide(i int, hidden bool) {
	s.list[i].hidden = hidden
	s.touch(i)
}

// SetSlots sets how many attempts run on a machine at once.
func (s *Set) SetSlots(i, slots int) {
	s.list[i].Slots = slots
	s.touch(i)
}

// SetDown sets whether a machine is down. A machine that comes up again no longer rests.
func (s *Set) SetDown(i int, down bool) {
	m := &s.list[i]
	if m.down == down {
		return
	}
	if m.down = down; !down && m.rests() {
		// The next Settle ends this rest, because it is in the past.
		m.restUntil = time.Unix(0, 0)
	}
	s.Losses++
	s.touch(i)
}

// SetLeaving sets the time at which a machine will leave. The zero time means that the machine stays.
func (s *Set) SetLeaving(i int, at time.Time) {
	m := &s.list[i]
	if m.leaves.Equal(at) {
		return
	}
	switch {
	case m.leaves.IsZero():
		s.leaving = append(s.leaving, i)
	case at.IsZero():
		s.leaving = slices.DeleteFunc(s.leaving, func(k int) bool { return k == i })
	}
	m.leaves = at
	s.Departures++
	s.touch(i)
}

// Leaves returns the time at which a machine will leave, or the zero time if it stays.
func (s *Set) Leaves(i int) time.Time { return s.list[i].leaves }

// IsSlow reports whether a machine is slow: the last call of Settle had the machine in its list of slow machines.
func (s *Set) IsSlow(i int) bool { return s.list[i].slow }

// Lose records that a machine lost an attempt at the time from. The machine rests from then on. A loss that is
// reported late does not shorten the present rest.
func (s *Set) Lose(i int, from time.Time) {
	m := &s.list[i]
	if !m.rests() {
		s.resting = append(s.resting, i)
	}
	if until := from.Add(s.rest); until.After(m.restUntil) {
		m.restUntil = until
	}
	s.Losses++
	s.touch(i)
}

// Rests reports whether a machine rests because it lost an attempt. A rest that would last more than twice as long as
// usual shows that the clock was set back. Then Rests returns false.
func (s *Set) Rests(i int, now time.Time) bool {
	left := s.list[i].restUntil.Sub(now)
	return left > 0 && left/2 <= s.rest
}

// Settle ends the rests that are over at the time now. A machine rests (gets no new attempts) for a while after it
// has lost an attempt. Settle also replaces the list of slow machines. Numbers of unknown machines are ignored.
func (s *Set) Settle(now time.Time, slow []int) {
	s.resting = slices.DeleteFunc(s.resting, func(i int) bool {
		if s.Rests(i, now) {
			return false
		}
		s.list[i].restUntil = time.Time{}
		s.touch(i)
		return true
	})
	before := len(s.slow)
	// The list is copied, because the caller uses its slice again.
	for _, i := range slow {
		if i < len(s.list) {
			s.slow = append(s.slow, i)
		}
	}
	for k, i := range s.slow {
		if k >= before && !slices.Contains(s.slow[:before], i) {
			s.Losses++
		}
		s.list[i].slow = k >= before
	}
	for _, i := range s.slow {
		s.touch(i)
	}
	s.slow = slices.Delete(s.slow, 0, before)
}

// rests reports whether a machine rests: it gets no new attempts for a while, because it lost an attempt. A rest that
// is over is included until the next Settle ends it.
func (m *machine) rests() bool { return !m.restUntil.IsZero() }

// idles reports whether a machine should get no new attempts, even if it is up.
func (m *machine) idles() bool { return m.rests() || m.slow || !m.leaves.IsZero() }

// touch updates the sums and the tree after the state of machine i has changed.
func (s *Set) touch(i int) {
	m := &s.list[i]
	room, ok := m.Slots-m.load, s.Eligible(i)
	var t tally
	if !m.down {
		t.up = 1
		if m.idles() {
			t.idle = 1
		}
	}
	if ok {
		t.room, t.places = max(room, 0), max(room+s.prefetch, 0)
	}
	if m.Slots > 0 {
		t.behind = max(-room, 0)
	}
	s.sums.up += t.up - m.counted.up
	s.sums.idle += t.idle - m.counted.idle
	s.sums.room += t.room - m.counted.room
	s.sums.places += t.places - m.counted.places
	s.sums.behind += t.behind - m.counted.behind
	m.counted = t
	s.open.set(i, room, ok && !m.hidden)
	if last := s.sums.up == s.sums.idle; last != s.last {
		s.last = last
		for k := range s.list {
			if s.list[k].idles() {
				s.touch(k)
			}
		}
	}
}

// Room returns the number of free slots of the machines that may get new attempts.
func (s *Set) Room() int { return s.sums.room }

// Places returns how many attempts the machines may get that may get new attempts: their free slots, and the attempts
// that may wait on them.
func (s *Set) Places() int { return s.sums.places }

// AnyBehind reports whether a machine has more attempts than slots, so that an attempt waits there. Behind returns the
// number of attempts that wait on machine i for this reason.
func (s *Set) AnyBehind() bool  { return s.sums.behind > 0 }
func (s *Set) Behind(i int) int { return s.list[i].counted.behind }

// Eligible reports whether a machine may get new attempts. The machine need not have a free slot.
func (s *Set) Eligible(i int) bool {
	m := &s.list[i]
	return !m.down && (!m.idles() || s.last)
}

// AnyUp reports whether any machine is up whose name is not in the list except. If there are no machines and the list
// is empty, AnyUp also returns true. O(n).
func (s *Set) AnyUp(except []string) bool {
	for i := range s.list {
		if m := &s.list[i]; !m.down && !slices.Contains(except, m.Name) {
			return true
		}
	}
	return len(except) == 0
}

// Pick returns the eligible machine with the most free slots. It leaves out machines for which skip returns true. If
// several machines have the most free slots, it returns the machine with the lowest number. A machine without a free
// slot is returned only if fewer than beyond attempts wait there; otherwise Pick returns Nowhere. Result open reports
// whether an eligible machine exists, with or without a free slot. O(log n) for each machine that is left out.
func (s *Set) Pick(skip func(i int) bool, beyond int) (i int, open bool) {
	i = s.open.find(skip)
	if i == Nowhere || int(s.open.room[i]) > -beyond {
		return i, i != Nowhere
	}
	return Nowhere, true
}

// Prefetch returns how many attempts may wait on each machine, in addition to the attempts that run there.
func (s *Set) Prefetch() int { return s.prefetch }

// Unwanted appends the machines that rest, are slow or will leave to a list.
func (s *Set) Unwanted(list []int) []int {
	return append(append(append(list, s.resting...), s.slow...), s.leaving...)
}

// Names returns the names of the machines in a list, in the order of their numbers. The chosen machine and machines
// that are down are left out. Result left reports whether any machine that is up remains outside of these names. If
// no such machine remains, Names returns no names. Names sorts the list.
func (s *Set) Names(list []int, chosen int) (names []string, left bool) {
	slices.Sort(list)
	list = slices.Compact(list)
	list = slices.DeleteFunc(list, func(i int) bool { return i == chosen || s.list[i].down })
	if len(list) == 0 || len(list) >= s.sums.up {
		return nil, len(list) == 0
	}
	names = make([]string, len(list))
	for k, i := range list {
		names[k] = s.list[i].Name
	}
	return names, true
}

// roomiest finds the machine with the most free slots among the machines that may get new attempts. If several
// machines have the most free slots, it finds the machine with the lowest number. It is a tournament tree: each node
// contains the better machine of its two children. A change takes O(log n), and a search that leaves out k machines
// takes O(k log n).
type roomiest struct {
	// For each machine, the number of its free slots, which may be negative. For a machine that must not be found, it
	// is none.
	room []int32
	// For each node of the tree, the best machine below it. The root is node 1, and the leaf of machine i is node
	// len(room) + i.
	best []int32
}

// none is the value of roomiest.room for a machine that must not be found.
const none = math.MinInt32

// grow enlarges the tree, so that it can contain n machines.
func (r *roomiest) grow(n int) {
	if n <= len(r.room) {
		return
	}
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	r.room = append(r.room, slices.Repeat([]int32{none}, leaves-len(r.room))...)
	r.best = make([]int32, 2*leaves)
	for machine := range leaves {
		r.best[leaves+machine] = int32(machine)
	}
	for node := leaves - 1; node > 0; node-- {
		r.best[node] = r.better(r.best[2*node], r.best[2*node+1])
	}
}

// set sets the number of a machine's free slots (room), and whether the machine may be found (member).
func (r *roomiest) set(machine, room int, member bool) {
	if !member {
		room = none
	}
	if r.room[machine] == int32(room) {
		return
	}
	r.room[machine] = int32(room)
	for node := (len(r.room) + machine) / 2; node > 0; node /= 2 {
		r.best[node] = r.better(r.best[2*node], r.best[2*node+1])
	}
}

// better returns the machine with more free slots of the two machines a and b. If both have the same number, it
// returns a, which has the lower machine number.
func (r *roomiest) better(a, b int32) int32 {
	if b == Nowhere || a != Nowhere && r.room[a] >= r.room[b] {
		return a
	}
	return b
}

// find returns the machine with the most free slots. It leaves out machines for which skip returns true, and returns
// Nowhere if no machine is left.
func (r *roomiest) find(skip func(machine int) bool) int {
	if len(r.best) == 0 {
		return Nowhere
	}
	return int(r.findBelow(1, skip))
}

// findBelow does the work of find for the machines below one node of the tree.
func (r *roomiest) findBelow(node int, skip func(machine int) bool) int32 {
	best := r.best[node]
	switch {
	case r.room[best] == none:
		return Nowhere
	case !skip(int(best)):
		return best
	case 2*node >= len(r.best):
		return Nowhere
	}
	return r.better(r.findBelow(2*node, skip), r.findBelow(2*node+1, skip))
}

// Clock estimates how far a machine's clock is ahead of the caller's clock. It uses only the machine's own reports.
// Two facts give bounds of the offset: a report cannot arrive before the reported moment, and nothing happens to an
// attempt before the attempt was submitted.
//
// As long as an offset of 0 is between the bounds, the clock is taken to be right. Otherwise the bound nearer to 0 is
// the offset. So a right clock is never corrected. A wrong clock is corrected with an error of at most the shortest
// delay that was seen. The zero value knows nothing.
type Clock struct {
	// Bounds of the offset: the time of the machine's clock minus the time of the caller's clock.
	least, most time.Duration
	// True if a report has given bounds.
	told bool
}

// Tell records a reading of the machine's clock (shown). By the caller's clock, the moment of the reading was between
// after and before. A zero time gives no bound. If the reading contradicts the earlier readings, the clock was set;
// then the earlier readings are dropped.
func (c *Clock) Tell(shown, after, before time.Time) {
	least, most := num.MinDuration, time.Duration(math.MaxInt64)
	if !before.IsZero() {
		least = shown.Sub(before)
	}
	if !after.IsZero() {
		most = shown.Sub(after)
	}
	switch {
	// No moment is between after and before, so the reading is ignored.
	case least > most:
	case c.told && max(least, c.least) <= min(most, c.most):
		c.least, c.most = max(least, c.least), min(most, c.most)
	default:
		*c = Clock{least: least, most: most, told: true}
	}
}

// Offset returns how far the machine's clock is ahead of the caller's clock. It returns 0 if the machine's clock may
// be right.
func (c *Clock) Offset() time.Duration {
	if !c.told {
		return 0
	}
	return min(max(0, c.least), c.most)
}

// Clock returns the clock of a machine. For Nowhere it returns the clock that is used for attempts whose machine is
// unknown.
func (s *Set) Clock(i int) *Clock {
	if i == Nowhere {
		return &s.unknown
	}
	return &s.list[i].clock
}

// ForgetClocks drops the offsets of all clocks, because the caller's own clock was set.
func (s *Set) ForgetClocks() {
	s.unknown = Clock{}
	for i := range s.list {
		s.list[i].clock = Clock{}
	}
}
