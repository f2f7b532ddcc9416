// Package cluster knows the machines of a cluster by number: which of them may get something new, where there is most room,
// and how far their clocks are off.
//
// A machine gets nothing new while it is down. It should get nothing new while it rests after a loss, while it is slow,
// and once it is known to leave; if that holds for all that are up, they get something all the same. This is one test,
// [Set.Eligible], and its outcome for each machine stands in a tree, in which the roomiest is found in O(log n).
package cluster

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Nowhere is the number of no machine.
const Nowhere = -1

// Machine is a machine as it is configured.
type Machine struct {
	Name  string
	Slots int // how many attempts run on it at once; 0 if the engine knows, and places
}

// Set holds the machines, numbered in the order in which they were added. Make one by [New].
type Set struct {
	list  []machine
	index map[string]int
	rest  time.Duration

	resting []int    // since they lost an attempt
	slow    []int    // as the last Settle says
	open    roomiest // machines that may get something new
	sums    tally    // of all machines
	last    bool     // no machine is left that should get something new, and so all may that are up
	unknown Clock    // of attempts whose machine is not known

	// Losses counts the changes of what is down or has lost an attempt, and Departures those of when machines leave.
	Losses, Departures int
}

type machine struct {
	Machine
	load      int       // attempts that were submitted to it or run there, until they are known to have ended
	restUntil time.Time // zero if it does not rest
	leaves    time.Time // zero if it stays
	slow      bool
	down      bool
	hidden    bool // for a while, it is not to be picked
	counted   tally
	clock     Clock
}

// tally is what one machine, or all, count for.
type tally struct {
	up, idle int // machines that are not down, and those of them that should get nothing new
	room     int // free slots of those that may get something new
}

// New returns a set without machines.
func New(rest time.Duration) *Set { return &Set{index: map[string]int{}, rest: rest} }

// Add adds a machine, and returns its number.
func (s *Set) Add(h Machine) int { return s.add(machine{Machine: h}) }

func (s *Set) add(h machine) int {
	i := len(s.list)
	s.index[h.Name] = i
	s.list = append(s.list, h)
	if h.rests() {
		s.resting = append(s.resting, i)
	}
	s.open.grow(i + 1)
	s.touch(i)
	return i
}

// Len returns how many machines there are.
func (s *Set) Len() int { return len(s.list) }

// Name returns a machine's name; that of Nowhere is empty.
func (s *Set) Name(i int) string {
	if i == Nowhere {
		return ""
	}
	return s.list[i].Name
}

// Placing reports whether machines have slots, so that they are chosen here and not by the engine.
func (s *Set) Placing() bool { return len(s.list) > 0 && s.list[0].Slots > 0 }

// Slots returns how many attempts the machines may run in all. O(n).
func (s *Set) Slots() (n int) {
	for i := range s.list {
		n += s.list[i].Slots
	}
	return n
}

// Known returns a machine's number, if there is one of that name.
func (s *Set) Known(name string) (i int, ok bool) {
	i, ok = s.index[name]
	return i, ok
}

// Number returns a machine's number. A name that is new is learned if the engine places, and else is nowhere.
func (s *Set) Number(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	if name == "" || s.Placing() {
		return Nowhere
	}
	return s.Add(Machine{Name: name})
}

// Load counts attempts that were submitted to a machine or run there, or with a negative number takes them away.
func (s *Set) Load(i, n int) {
	s.list[i].load += n
	s.touch(i)
}

// Hide keeps a machine from being picked, until it is shown again.
func (s *Set) Hide(i int, hidden bool) {
	s.list[i].hidden = hidden
	s.touch(i)
}

// SetSlots says how many attempts run on a machine at once.
func (s *Set) SetSlots(i, slots int) {
	s.list[i].Slots = slots
	s.touch(i)
}

// SetDown says that a machine is out of order, or is back. A machine that is back has no rest left from before.
func (s *Set) SetDown(i int, down bool) {
	h := &s.list[i]
	if h.down == down {
		return
	}
	if h.down = down; !down && h.rests() {
		h.restUntil = time.Unix(0, 0) // the next Settle ends the rest
	}
	s.Losses++
	s.touch(i)
}

// SetLeaving says when a machine leaves; the zero time, that it stays.
func (s *Set) SetLeaving(i int, at time.Time) {
	if !s.list[i].leaves.Equal(at) {
		s.list[i].leaves = at
		s.Departures++
		s.touch(i)
	}
}

// Leaves returns when a machine leaves, or the zero time.
func (s *Set) Leaves(i int) time.Time { return s.list[i].leaves }

// IsSlow reports whether a machine was called slow at the last Settle.
func (s *Set) IsSlow(i int) bool { return s.list[i].slow }

// Lose lets a machine rest from a time on, since it has lost an attempt. What is heard late does not shorten a rest.
func (s *Set) Lose(i int, from time.Time) {
	h := &s.list[i]
	if !h.rests() {
		s.resting = append(s.resting, i)
	}
	if until := from.Add(s.rest); until.After(h.restUntil) {
		h.restUntil = until
	}
	s.Losses++
	s.touch(i)
}

// Rests reports whether a machine rests. A clock that has stepped back by more than a rest ends it.
func (s *Set) Rests(i int, now time.Time) bool {
	left := s.list[i].restUntil.Sub(now)
	return left > 0 && left/2 <= s.rest
}

// Settle ends the rests that are over, and takes which machines are slow; numbers of other machines are passed over.
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
	for _, i := range slow { // copied: the caller's slice is its own
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

// rests reports whether a machine rests, or has rested and no Settle has ended that.
func (h *machine) rests() bool { return !h.restUntil.IsZero() }

// idles reports whether a machine should get nothing new although it is up.
func (h *machine) idles() bool { return h.rests() || h.slow || !h.leaves.IsZero() }

// touch brings all that follows from a machine's state up to date after it has changed.
func (s *Set) touch(i int) {
	h := &s.list[i]
	room, ok := h.Slots-h.load, s.Eligible(i)
	var t tally
	if !h.down {
		t.up = 1
		if h.idles() {
			t.idle = 1
		}
	}
	if ok {
		t.room = max(room, 0)
	}
	s.sums.up += t.up - h.counted.up
	s.sums.idle += t.idle - h.counted.idle
	s.sums.room += t.room - h.counted.room
	h.counted = t
	s.open.set(i, room, ok && !h.hidden)
	if last := s.sums.up == s.sums.idle; last != s.last {
		s.last = last
		for k := range s.list {
			if s.list[k].idles() {
				s.touch(k)
			}
		}
	}
}

// Room returns the free slots of the machines that may get something new.
func (s *Set) Room() int { return s.sums.room }

// Eligible reports whether a machine may get something new, full or not.
func (s *Set) Eligible(i int) bool {
	h := &s.list[i]
	return !h.down && (!h.idles() || s.last)
}

// AnyUp reports whether a machine is up whose name is not in the list; also if there are neither machines nor names. O(n).
func (s *Set) AnyUp(except []string) bool {
	for i := range s.list {
		if h := &s.list[i]; !h.down && !slices.Contains(except, h.Name) {
			return true
		}
	}
	return len(except) == 0
}

// Pick returns the eligible machine with the most free slots of those that are not to be skipped, the first of equals, or
// Nowhere. A full machine is picked only if overfull is set; it is open if there is such a machine, full or not. O(log n) for
// each machine that is skipped.
func (s *Set) Pick(skip func(i int) bool, overfull bool) (i int, open bool) {
	i = s.open.find(skip)
	if i == Nowhere || overfull || s.open.room[i] > 0 {
		return i, i != Nowhere
	}
	return Nowhere, true
}

// Unwanted adds the machines that should get nothing new to those of a list.
func (s *Set) Unwanted(list []int) []int { return append(append(list, s.resting...), s.slow...) }

// Names returns the names of those machines of a list that are up and not the chosen one, in the order of their numbers,
// and whether any other machine is left; no names if not. Those that are down are no matter of choice. It sorts the list.
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

// roomiest finds the machine with the most free slots, the first of equals, among those that may get something new. It is
// a tree of matches: each node holds the better of its two halves, so a change takes O(log n), and a search that has to
// skip k machines O(k log n).
type roomiest struct {
	room []int32 // free slots by machine, may be negative; none for a machine that is not to be found, or that there is not
	best []int32 // by node, the root at 1, machine i at len(room) + i
}

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

// set says how much room a machine has, and whether it may be found.
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

// better returns the machine with more room, a if there is no difference; a has the lower number.
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

// Clock is how far a machine's clock is off, as far as its own reports show: nothing is heard before it has happened, and
// nothing happens to an attempt before it was asked for. Either bounds the offset from one side. As long as 0 lies
// between the bounds the clock is taken to be right, and else as wrong as the nearer bound says. So a right clock is
// never corrected, and a wrong one to within the shortest delay seen. The zero value knows nothing.
type Clock struct {
	least, most time.Duration // of what it shows more than the caller's
	told        bool
}

// Tell takes what the clock showed at a moment that, by the caller's, lies between two others; the zero time does not
// bound it. What contradicts all before it stands in its place: the clock was set.
func (c *Clock) Tell(shown, after, before time.Time) {
	least, most := num.MinDuration, time.Duration(math.MaxInt64)
	if !before.IsZero() {
		least = shown.Sub(before)
	}
	if !after.IsZero() {
		most = shown.Sub(after)
	}
	switch {
	case least > most: // the moment is none
	case c.told && max(least, c.least) <= min(most, c.most):
		c.least, c.most = max(least, c.least), min(most, c.most)
	default:
		*c = Clock{least: least, most: most, told: true}
	}
}

// Offset is what the clock shows more than the caller's; 0 if that may be.
func (c *Clock) Offset() time.Duration {
	if !c.told {
		return 0
	}
	return min(max(0, c.least), c.most)
}

// Clock returns that of a machine, or of those that are not known.
func (s *Set) Clock(i int) *Clock {
	if i == Nowhere {
		return &s.unknown
	}
	return &s.list[i].clock
}

// ForgetClocks forgets how far the clocks are off: the caller's own was set.
func (s *Set) ForgetClocks() {
	s.unknown = Clock{}
	for i := range s.list {
		s.list[i].clock = Clock{}
	}
}
