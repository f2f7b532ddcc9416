// Package hosts knows the hosts of a cluster by number: which of them may get something new, where there is most room,
// and how far their clocks are off.
//
// A host gets nothing new while it is down. It should get nothing new while it rests after a loss, while it is slow,
// and once it is known to leave; if that holds for all that are up, they get something all the same. This is one test,
// [Set.eligible], and its outcome for each host stands in a tree, in which the roomiest is found in O(log n).
package hosts

import (
	"slices"
	"time"
)

// Nowhere is the number of no host.
const Nowhere = -1

// Host is a host as it is configured.
type Host struct {
	Name  string
	Slots int // how many attempts run on it at once; 0 if the engine knows, and places
}

// Set holds the hosts, numbered in the order in which they were added. Make one by [New].
type Set struct {
	list  []host
	index map[string]int
	rest  time.Duration

	resting []int
	slow    []int
	open    roomiest // hosts that may get something new
	sums    tally    // of all hosts
	last    bool     // no host is left that should get something new, and so all may that are up
	unknown Clock    // of attempts whose host is not known

	// Losses counts the changes of what is down or has lost an attempt, and Departures those of when hosts leave.
	Losses, Departures int
}

type host struct {
	Host
	load      int // attempts that were submitted to it or run there, until they are known to have ended
	restUntil time.Time
	leaves    time.Time // zero if it stays
	resting   bool
	slow      bool
	down      bool
	hidden    bool // for a while, it is not to be picked
	counted   tally
	clock     Clock
}

// tally is what one host, or all, count for.
type tally struct {
	up, idle int // hosts that are not down, and those of them that should get nothing new
	room     int // free slots of those that may get something new
}

// New returns a set without hosts.
func New(rest time.Duration) *Set { return &Set{index: map[string]int{}, rest: rest} }

// Add adds a host, and returns its number.
func (s *Set) Add(h Host) int {
	i := len(s.list)
	s.index[h.Name] = i
	s.list = append(s.list, host{Host: h})
	s.open.grow(i + 1)
	s.touch(i)
	return i
}

// Len returns how many hosts there are.
func (s *Set) Len() int { return len(s.list) }

// Name returns a host's name; that of Nowhere is empty.
func (s *Set) Name(i int) string {
	if i == Nowhere {
		return ""
	}
	return s.list[i].Name
}

// Placing reports whether hosts have slots, so that they are chosen here and not by the engine.
func (s *Set) Placing() bool { return len(s.list) > 0 && s.list[0].Slots > 0 }

// Slots returns how many attempts the hosts may run in all. O(n).
func (s *Set) Slots() (n int) {
	for i := range s.list {
		n += s.list[i].Slots
	}
	return n
}

// Known returns a host's number, if there is one of that name.
func (s *Set) Known(name string) (i int, ok bool) {
	i, ok = s.index[name]
	return i, ok
}

// Number returns a host's number. A name that is new is learned if the engine places, and else is nowhere.
func (s *Set) Number(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	if name == "" || s.Placing() {
		return Nowhere
	}
	return s.Add(Host{Name: name})
}

// Load counts attempts that were submitted to a host or run there, or with a negative number takes them away.
func (s *Set) Load(i, n int) {
	s.list[i].load += n
	s.touch(i)
}

// Hide keeps a host from being picked, until it is shown again.
func (s *Set) Hide(i int, hidden bool) {
	s.list[i].hidden = hidden
	s.touch(i)
}

// SetSlots says how many attempts run on a host at once.
func (s *Set) SetSlots(i, slots int) {
	if s.list[i].Slots != slots {
		s.list[i].Slots = slots
		s.touch(i)
	}
}

// SetDown says that a host is out of order, or is back.
func (s *Set) SetDown(i int, down bool) {
	if s.list[i].down != down {
		s.list[i].down = down
		s.Losses++
		s.touch(i)
	}
}

// SetLeaving says when a host leaves; the zero time, that it stays.
func (s *Set) SetLeaving(i int, at time.Time) {
	if !s.list[i].leaves.Equal(at) {
		s.list[i].leaves = at
		s.Departures++
		s.touch(i)
	}
}

// Leaves returns when a host leaves, or the zero time.
func (s *Set) Leaves(i int) time.Time { return s.list[i].leaves }

// IsSlow reports whether a host was called slow at the last Settle.
func (s *Set) IsSlow(i int) bool { return s.list[i].slow }

// Lose lets a host rest from a time on, since it has lost an attempt. What is heard late does not shorten a rest.
func (s *Set) Lose(i int, from time.Time) {
	h := &s.list[i]
	if until := from.Add(s.rest); !h.resting || until.After(h.restUntil) {
		h.restUntil = until
	}
	if !h.resting {
		h.resting = true
		s.resting = append(s.resting, i)
	}
	s.Losses++
	s.touch(i)
}

// Rests reports whether a host rests. A clock that has stepped back by more than a rest ends it.
func (s *Set) Rests(i int, now time.Time) bool {
	left := s.list[i].restUntil.Sub(now)
	return s.list[i].resting && left > 0 && left/2 <= s.rest
}

// Settle ends the rests that are over, and takes which hosts are slow; numbers of other machines are passed over.
func (s *Set) Settle(now time.Time, slow []int) {
	s.resting = slices.DeleteFunc(s.resting, func(i int) bool {
		if s.Rests(i, now) {
			return false
		}
		s.list[i].resting = false
		s.touch(i)
		return true
	})
	before := len(s.slow)
	for _, i := range slow { // copied: the caller's slice is its own
		if i < len(s.list) {
			s.slow = append(s.slow, i)
		}
	}
	for _, i := range s.slow[:before] {
		s.list[i].slow = false
	}
	for _, i := range s.slow[before:] {
		s.list[i].slow = true
	}
	for _, i := range s.slow {
		s.touch(i)
	}
	s.slow = slices.Delete(s.slow, 0, before)
}
