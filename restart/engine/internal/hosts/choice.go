package hosts

import "slices"

// eligible says whether a host may get something new, and for how many attempts it has room.
func (s *Set) eligible(h *host) (room int, ok bool) {
	return h.Slots - h.load, !h.down && (!h.idles() || s.last)
}

// idles reports whether a host should get nothing new although it is up.
func (h *host) idles() bool { return h.resting || h.slow || !h.leaves.IsZero() }

// touch brings all that follows from a host's state up to date after it has changed.
func (s *Set) touch(i int) {
	h := &s.list[i]
	room, ok := s.eligible(h)
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

// Room returns the free slots of the hosts that may get something new.
func (s *Set) Room() int { return s.sums.room }

// Eligible reports whether a host may get something new, full or not.
func (s *Set) Eligible(i int) bool {
	_, ok := s.eligible(&s.list[i])
	return ok
}

// AnyUp reports whether a host is up whose name is not in the list; also if there are neither hosts nor names. O(n).
func (s *Set) AnyUp(except []string) bool {
	for i := range s.list {
		if h := &s.list[i]; !h.down && !slices.Contains(except, h.Name) {
			return true
		}
	}
	return len(except) == 0
}

// Pick returns the eligible host with the most free slots of those that are not to be skipped, the first of equals, or
// Nowhere. A full host is picked only if overfull is set; it is open if there is such a host, full or not. O(log n) for
// each host that is skipped.
func (s *Set) Pick(skip func(i int) bool, overfull bool) (i int, open bool) {
	i = s.open.find(skip)
	if i == Nowhere || overfull || s.open.room[i] > 0 {
		return i, i != Nowhere
	}
	return Nowhere, true
}

// Unwanted adds the hosts that should get nothing new to those of a list.
func (s *Set) Unwanted(list []int) []int { return append(append(list, s.resting...), s.slow...) }

// Names returns the names of those hosts of a list that are up and not the chosen one, in the order of their numbers,
// and whether any other host is left; no names if not. Those that are down are no matter of choice. It sorts the list.
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
