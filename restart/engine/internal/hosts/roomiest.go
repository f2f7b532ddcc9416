package hosts

import "slices"

// roomiest finds the host with the most free slots, the first of equals, among those that may get something new. It is
// a tree of matches: each node holds the better of its two halves, so a change takes O(log n), and a search that has to
// skip k hosts O(k log n).
type roomiest struct {
	room   []int32 // free slots by host; may be negative
	member []bool  // by host
	best   []int32 // by node, the root at 1, host i at len(best)/2 + i; Nowhere if there is none
}

// grow makes room for n hosts.
func (r *roomiest) grow(n int) {
	if n <= len(r.room) {
		return
	}
	r.room = append(r.room, make([]int32, n-len(r.room))...)
	r.member = append(r.member, make([]bool, n-len(r.member))...)
	leaves := len(r.best) / 2
	if n <= leaves {
		return
	}
	for leaves = max(leaves, 1); leaves < n; leaves *= 2 {
	}
	r.best = slices.Repeat([]int32{Nowhere}, 2*leaves)
	for host, in := range r.member {
		if in {
			r.best[leaves+host] = int32(host)
		}
	}
	for node := leaves - 1; node > 0; node-- {
		r.best[node] = r.better(r.best[2*node], r.best[2*node+1])
	}
}

// set says how much room a host has, and whether it may be found.
func (r *roomiest) set(host, room int, member bool) {
	if r.room[host] == int32(room) && r.member[host] == member {
		return
	}
	r.room[host], r.member[host] = int32(room), member
	node := len(r.best)/2 + host
	r.best[node] = Nowhere
	if member {
		r.best[node] = int32(host)
	}
	for node /= 2; node > 0; node /= 2 {
		r.best[node] = r.better(r.best[2*node], r.best[2*node+1])
	}
}

// better returns the host with more room, a if there is no difference; a has the lower number.
func (r *roomiest) better(a, b int32) int32 {
	if b == Nowhere || a != Nowhere && r.room[a] >= r.room[b] {
		return a
	}
	return b
}

// find returns the roomiest host that is not to be skipped, or Nowhere.
func (r *roomiest) find(skip func(host int) bool) int {
	if len(r.best) == 0 {
		return Nowhere
	}
	return int(r.findBelow(1, skip))
}

func (r *roomiest) findBelow(node int, skip func(host int) bool) int32 {
	best := r.best[node]
	if best == Nowhere || !skip(int(best)) {
		return best
	}
	if 2*node >= len(r.best) {
		return Nowhere
	}
	return r.better(r.findBelow(2*node, skip), r.findBelow(2*node+1, skip))
}
