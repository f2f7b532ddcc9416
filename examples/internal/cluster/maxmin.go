package cluster

import "math"

// settle computes the rates again and returns the flows with a changed rate. The slice is valid until the next call.
// It takes O(rounds * (flows + links)) of the part of the network that has changed.
func (n *network) settle(now int64) []int32 {
	n.moved = n.moved[:0]
	for _, place := range n.news {
		if f := &n.flows[place]; f.live && f.n == 0 {
			n.give(now, place, f.limit)
		}
	}
	n.news = n.news[:0]
	if len(n.dirty) == 0 {
		return n.moved
	}
	n.connect()
	n.fill(now)
	for _, at := range n.queue {
		n.links[at].seen = false
	}
	for _, place := range n.component {
		n.flows[place].seen = false
	}
	for _, at := range n.dirty {
		n.links[at].dirty = false
	}
	n.dirty = n.dirty[:0]
	return n.moved
}

// connect collects the flows that a change can affect: the flows on changed links, and from there the flows on all
// links that could be full. The links are left in queue.
func (n *network) connect() {
	n.queue, n.component = append(n.queue[:0], n.dirty...), n.component[:0]
	for _, at := range n.queue {
		l := &n.links[at]
		l.seen, l.wanted = true, 0
		for _, place := range l.flows {
			l.wanted += n.flows[place].limit // summed again, because subtracting would leave rounding errors
		}
	}
	for i := 0; i < len(n.queue); i++ {
		l := &n.links[n.queue[i]]
		// A changed link is looked into in any case: it may have been full before the change.
		if !l.tight() && !l.dirty {
			continue
		}
		for _, place := range l.flows {
			f := &n.flows[place]
			if f.seen {
				continue
			}
			f.seen = true
			if f.machine != none {
				f.weight = 1 / float64(len(n.links[f.machine].flows))
			}
			n.component = append(n.component, place)
			for _, u := range f.on[:f.n] {
				if other := &n.links[u.link]; !other.seen {
					other.seen = true
					n.queue = append(n.queue, u.link)
				}
			}
		}
	}
}

// fill sets the rates of the collected flows. It computes the level at which the first link would be full. Every flow
// can have this rate by weight. Flows that want no more get what they want. If there are none, the flows on this link
// get the level. The rest of the bandwidth is divided among the other flows in the same way.
func (n *network) fill(now int64) {
	for _, at := range n.queue {
		l := &n.links[at]
		l.left, l.open, l.weight = l.capacity, 0, 0
	}
	open := append(n.open[:0], n.component...)
	for _, place := range open {
		f := &n.flows[place]
		for _, u := range f.on[:f.n] {
			n.links[u.link].open++
			n.links[u.link].weight += f.weight
		}
	}
	for len(open) > 0 {
		level := math.Inf(1)
		for _, at := range n.queue {
			if l := &n.links[at]; l.open > 0 && l.tight() {
				level = min(level, l.left/l.weight)
			}
		}
		rest := n.fix(now, open, func(f *flow) bool { return f.limit <= level*f.weight }, math.Inf(1))
		if len(rest) == len(open) {
			for _, at := range n.queue { // before any of it is given away
				l := &n.links[at]
				l.full = l.open > 0 && l.tight() && l.left/l.weight <= level*(1+1e-12)
			}
			rest = n.fix(now, open, n.held, level)
		}
		open = rest
	}
	n.open = open
}

// held reports whether a flow uses a link that is full at the present level.
func (n *network) held(f *flow) bool {
	for i := range f.n { // slices.ContainsFunc is slower here: see BenchmarkNetwork
		if n.links[f.on[i].link].full {
			return true
		}
	}
	return false
}

// fix sets the rates of the flows for which holds is true, to at most level, and returns the others, in place.
func (n *network) fix(now int64, open []int32, holds func(*flow) bool, level float64) []int32 {
	rest := open[:0]
	for _, place := range open {
		f := &n.flows[place]
		if !holds(f) {
			rest = append(rest, place)
			continue
		}
		rate := min(level*f.weight, f.limit)
		for _, u := range f.on[:f.n] {
			l := &n.links[u.link]
			l.left = max(0, l.left-rate)
			l.open--
			l.weight -= f.weight
		}
		n.give(now, place, rate)
	}
	return rest
}

// give sets the rate of a flow.
func (n *network) give(now int64, place int32, rate float64) {
	f := &n.flows[place]
	if rate == f.rate {
		return
	}
	n.advance(now, f)
	f.rate = rate
	n.moved = append(n.moved, place)
}
