// Package cluster holds the machines of a cluster for package engine: which machines may get new attempts,
// which machine has the most free slots, and how far their clocks are off.
//
//	set := cluster.New(time.Minute)
//	a := set.Add(cluster.Machine{Name: "a", Slots: 2})
//	b := set.Add(cluster.Machine{Name: "b", Slots: 4})
//	set.Load(b, 3)                 // 3 attempts on b, so 1 slot is free there
//	best, _ := set.Pick(none, false) // a: it has 2 free slots
//
// A machine gets no new attempts while it is down. A machine should get none while it rests after a loss, while it is
// slow, and once it is known to leave. If this holds for all machines that are up, they get new attempts all
// the same. Only [Set.Eligible] tests these rules. Its result for each machine stands in a tree, which
// finds the machine with the most free slots in O(log n).
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
	Name  string
	Slots int // how many attempts run on it at once; 0 if the engine places
}

// Set holds the machines, numbered in the order in which they were added. Make one by [New].
type Set struct {
	list  []machine
	index map[string]int
	rest  time.Duration // how long a machine rests after a loss

	resting []int    // machines that rest after a loss; may hold some whose rest is over, until Settle
	slow    []int    // slow machines, as the last Settle said
	leaving []int    // machines that leave at a known time
	open    roomiest // machines that may get new attempts
	sums    tally    // over all machines
	last    bool     // every machine that is up should get nothing new, so all may
	unknown Clock    // for attempts whose machine is not known

	// Losses counts the changes of machines that are down or lost an attempt. Departures counts the changes of
	// the times at which machines leave.
	Losses, Departures int
}

// machine is the state of one machine.
type machine struct {
	Machine
	load      int       // attempts that were submitted to it or run there, and are not known to have ended
	restUntil time.Time // zero if it does not rest
	leaves    time.Time // zero if it stays
	slow      bool
	down      bool
	hidden    bool  // Pick skips it
	counted   tally // its share of Set.sums
	clock     Clock
}

// tally is the contribution of one machine to the sums, or the sums over all.
type tally struct {
	up, idle int // machines that are not down; and machines among them that should get nothing new
	room     int // free slots of machines that may get new attempts
}

// New returns a set without machines. A machine rests for the given time after a loss.
func New(rest time.Duration) *Set { return &Set{index: map[string]int{}, rest: rest} }

// Add adds a machine and returns its number. O(log n), amortised.
func (s *Set) Add(m Machine) int { return s.add(machine{Machine: m}) }

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

// Name returns a machine's name; the name of Nowhere is empty.
func (s *Set) Name(i int) string {
	if i == Nowhere {
		return ""
	}
	return s.list[i].Name
}

// Placing reports whether machines have slots. Then this package places attempts; otherwise the engine does.
func (s *Set) Placing() bool { return len(s.list) > 0 && s.list[0].Slots > 0 }

// Slots returns how many attempts the machines may run in all. O(n).
func (s *Set) Slots() (n int) {
	for i := range s.list {
		n += s.list[i].Slots
	}
	return n
}

// Known returns the number of the machine with a name; ok is false if there is none.
func (s *Set) Known(name string) (i int, ok bool) {
	i, ok = s.index[name]
	return i, ok
}

// Number returns the number of the machine with a name. A new name is added if the engine places;
// otherwise it returns Nowhere for a new name.
func (s *Set) Number(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	if name == "" || s.Placing() {
		return Nowhere
	}
	return s.Add(Machine{Name: name})
}

// Load adds n attempts to the load of a machine. A negative n takes attempts away.
func (s *Set) Load(i, n int) {
	s.list[i].load += n
	s.touch(i)
}

// Hide keeps Pick from returning a machine, or shows the machine again.
func (s *Set) Hide(i int, hidden bool) {
	s.list[i].hidden = hidden
	s.touch(i)
}

// SetSlots sets how many attempts run on a machine at once.
func (s *Set) SetSlots(i, slots int) {
	s.list[i].Slots = slots
	s.touch(i)
}

// SetDown says that a machine is down or is up again. A machine that is up again rests no longer.
func (s *Set) SetDown(i int, down bool) {
	m := &s.list[i]
	if m.down == down {
		return
	}
	if m.down = down; !down && m.rests() {
		m.restUntil = time.Unix(0, 0) // the next Settle ends the rest
	}
	s.Losses++
	s.touch(i)
}

// SetLeaving sets when a machine leaves. The zero time says that it stays.
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

// Leaves returns when a machine leaves, or the zero time.
func (s *Set) Leaves(i int) time.Time { return s.list[i].leaves }

// IsSlow reports whether the last Settle called a machine slow.
func (s *Set) IsSlow(i int) bool { return s.list[i].slow }

// Lose makes a machine rest from a time on, because it lost an attempt. A loss that is reported late does not
// shorten a rest.
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

// Rests reports whether a machine rests. A rest of more than twice the usual length means that the clock was
// set back; then the machine does not rest.
func (s *Set) Rests(i int, now time.Time) bool {
	left := s.list[i].restUntil.Sub(now)
	return left > 0 && left/2 <= s.rest
}

// Settle ends the rests that are over, and sets which machines are slow. Numbers of unknown machines are
// ignored.
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
	for _, i := range slow { // copied, because the caller reuses its slice
		if i < len(s.list) {
			s.slow = append(s.slow, i)
		}
	}
	for k, i := range s.slow {
		s.list[i].slow = k >= before
	}
	for _, i := range s.slow {
		s.touch(i)
	}
	s.slow = slices.Delete(s.slow, 0, before)
}

// rests reports whether a machine rests, or has rested and no Settle has ended the rest yet.
func (m *machine) rests() bool { return !m.restUntil.IsZero() }

// idles reports whether a machine should get nothing new although it is up.
func (m *machine) idles() bool { return m.rests() || m.slow || !m.leaves.IsZero() }

// touch updates the sums and the tree after a machine's state has changed.
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
		t.room = max(room, 0)
	}
	s.sums.up += t.up - m.counted.up
	s.sums.idle += t.idle - m.counted.idle
	s.sums.room += t.room - m.counted.room
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

// Room returns the free slots of the machines that may get new attempts.
func (s *Set) Room() int { return s.sums.room }

// Eligible reports whether a machine may get new attempts, with or without a free slot.
func (s *Set) Eligible(i int) bool {
	m := &s.list[i]
	return !m.down && (!m.idles() || s.last)
}

// AnyUp reports whether a machine is up whose name is not in the list. AnyUp is also true if the list is empty and
// there are no machines. O(n).
func (s *Set) AnyUp(except []string) bool {
	for i := range s.list {
		if m := &s.list[i]; !m.down && !slices.Contains(except, m.Name) {
			return true
		}
	}
	return len(except) == 0
}

// Pick returns the eligible machine with the most free slots, among the machines that are not to be skipped.
// Among equals it returns the first. A machine without a free slot is returned only if overfull is set.
// Otherwise Pick returns Nowhere. The result open reports whether an eligible machine exists, with or without a
// free slot. O(log n) for each machine that is skipped.
func (s *Set) Pick(skip func(i int) bool, overfull bool) (i int, open bool) {
	i = s.open.find(skip)
	if i == Nowhere || overfull || s.open.room[i] > 0 {
		return i, i != Nowhere
	}
	return Nowhere, true
}

// Unwanted appends the machines that rest, are slow or leave to a list.
func (s *Set) Unwanted(list []int) []int {
	return append(append(append(list, s.resting...), s.slow...), s.leaving...)
}

// Names returns the names of the machines in a list, without the chosen machine and without machines that are
// down, in the order of their numbers. The result left reports whether any other machine that is up remains. If
// none remains, Names returns no names. Names sorts the list.
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

// roomiest finds the machine with the most free slots among the machines that may get new attempts; among
// equals the first. roomiest is a tournament tree: each node holds the better of its two children. A change takes
// O(log n), and a search that skips k machines takes O(k log n).
type roomiest struct {
	room []int32 // by machine: free slots, may be negative; none for a machine that must not be found
	best []int32 // by node: the root is 1, and machine i is at len(room) + i
}

// none is the room of a machine that must not be found.
const none = math.MinInt32

// grow makes room for n machines.
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

// set sets a machine's free slots and whether it may be found.
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

// better returns the machine with more room; among equals a, which has the lower number.
func (r *roomiest) better(a, b int32) int32 {
	if b == Nowhere || a != Nowhere && r.room[a] >= r.room[b] {
		return a
	}
	return b
}

// find returns the roomiest machine that is not to be skipped, or Nowhere.
func (r *roomiest) find(skip func(machine int) bool) int {
	if len(r.best) == 0 {
		return Nowhere
	}
	return int(r.findBelow(1, skip))
}

// findBelow is find in the subtree of a node.
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

// Clock bounds how far a machine's clock is ahead of the caller's, from the machine's own reports. Two facts
// give the bounds: a report cannot arrive before the reported moment, and nothing happens to an attempt before
// it was submitted.
//
// While 0 lies between the bounds, the clock counts as right. Otherwise the nearer bound is the offset. So a
// right clock is never corrected, and a wrong clock is corrected to within the shortest delay that was seen.
// The zero value knows nothing.
type Clock struct {
	least, most time.Duration // bounds of the offset: the machine's clock minus the caller's
	told        bool          // some report gave bounds
}

// Tell takes a reading of the clock, for a moment that lies between after and before by the caller's clock. A
// zero time is no bound. If the reading contradicts all readings before it, it replaces them: the clock was
// set.
func (c *Clock) Tell(shown, after, before time.Time) {
	least, most := num.MinDuration, time.Duration(math.MaxInt64)
	if !before.IsZero() {
		least = shown.Sub(before)
	}
	if !after.IsZero() {
		most = shown.Sub(after)
	}
	switch {
	case least > most: // no moment lies between after and before
	case c.told && max(least, c.least) <= min(most, c.most):
		c.least, c.most = max(least, c.least), min(most, c.most)
	default:
		*c = Clock{least: least, most: most, told: true}
	}
}

// Offset returns how far the clock is ahead of the caller's; 0 if it may be right.
func (c *Clock) Offset() time.Duration {
	if !c.told {
		return 0
	}
	return min(max(0, c.least), c.most)
}

// Clock returns the clock of a machine; for Nowhere, the clock of attempts whose machine is unknown.
func (s *Set) Clock(i int) *Clock {
	if i == Nowhere {
		return &s.unknown
	}
	return &s.list[i].clock
}

// ForgetClocks forgets all offsets, because the caller's own clock was set.
func (s *Set) ForgetClocks() {
	s.unknown = Clock{}
	for i := range s.list {
		s.list[i].clock = Clock{}
	}
}
