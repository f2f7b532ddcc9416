package cluster

import "math"

// network carries flows between racks. Flows share links max-min fairly, as a fluid: no flow can have more unless one
// that has no more than it gives something up. A flow crosses the uplink of its source's rack and the downlink of its
// destination's, none within a rack, and is no faster than its own limit, that of the reader's disk and card.
//
// Only links that could be full hold anyone back, so a change is worked out for the flows that such links connect it to
// and for no others: an idle corner of a large cluster costs nothing.
type network struct {
	links []link
	flows []flow
	free  []int32
	dirty []int32 // links whose flows have changed since the rates were worked out
	news  []int32 // flows without a link that have changed since

	// Scratch of settle.
	queue     []int32
	component []int32 // flows
	open      []int32 // flows of the component without a rate
	moved     []int32 // flows whose rate has changed
	bytes     float64 // carried over links so far, counted when a flow ends or stops
}

type link struct {
	capacity float64 // bytes per second
	flows    []int32
	wanted   float64 // sum of the flows' limits, as of the latest settle
	left     float64 // scratch: capacity that is not given away
	open     int32   // scratch: flows without a rate
	seen     bool    // scratch: part of the component
	full     bool    // scratch: at the present level
	dirty    bool
}

type flow struct {
	up, down     int32 // links; noLink within a rack
	atUp, atDown int32 // places in the links' lists
	copy, next   int32 // who reads, and the next of its flows
	life         uint32
	limit        float64 // bytes per second
	left         float64 // bytes
	total        float64
	rate         float64
	since        int64 // when left was right
	seen         bool  // scratch
	live         bool
}

const noLink = -1

// tight reports whether the link could be full; with a margin, as sums of floats are not exact.
func (l *link) tight() bool { return l.wanted > l.capacity*(1-1e-9) }

// newNetwork returns a network of racks; one without racks has no links.
func newNetwork(racks []Rack) *network {
	n := &network{}
	for _, r := range racks {
		n.links = append(n.links, link{capacity: capacity(r.Up)}, link{capacity: capacity(r.Down)})
	}
	return n
}

// capacity reads 0 as a link that never matters.
func capacity(bytes float64) float64 {
	if bytes == 0 {
		return math.Inf(1)
	}
	return bytes
}

// start adds a flow; its rate is 0 until the next settle.
func (n *network) start(now int64, from, to int32, bytes, limit float64, reader int32) int32 {
	place := int32(len(n.flows))
	if last := len(n.free) - 1; last >= 0 {
		place = n.free[last]
		n.free = n.free[:last]
	} else {
		n.flows = append(n.flows, flow{})
	}
	f := &n.flows[place]
	*f = flow{up: noLink, down: noLink, copy: reader, life: f.life + 1, limit: limit, left: bytes, total: bytes,
		since: now, live: true}
	if from != to && len(n.links) > 0 {
		f.up, f.down = 2*from, 2*to+1
		f.atUp, f.atDown = n.join(f.up, place), n.join(f.down, place)
	} else {
		n.news = append(n.news, place)
	}
	return place
}

// join adds a flow to a link and returns its place there.
func (n *network) join(at, place int32) int32 {
	l := &n.links[at]
	l.flows = append(l.flows, place)
	n.touch(at)
	return int32(len(l.flows) - 1)
}

func (n *network) touch(at int32) {
	if !n.links[at].dirty {
		n.links[at].dirty = true
		n.dirty = append(n.dirty, at)
	}
}

// stop takes a flow out, at its end or before.
func (n *network) stop(now int64, place int32) {
	f := &n.flows[place]
	n.advance(now, f)
	if f.up != noLink {
		n.bytes += f.total - f.left
		n.leave(f.up, f.atUp)
		n.leave(f.down, f.atDown)
	}
	f.live = false
	f.life++
	n.free = append(n.free, place)
}

func (n *network) leave(at, place int32) {
	l := &n.links[at]
	last := len(l.flows) - 1
	moved := l.flows[last]
	l.flows[place] = moved
	l.flows = l.flows[:last]
	if m := &n.flows[moved]; m.up == at {
		m.atUp = place
	} else {
		m.atDown = place
	}
	n.touch(at)
}

// limit changes how fast a flow can be, because its reader's machine has become slower or faster.
func (n *network) limit(place int32, limit float64) {
	f := &n.flows[place]
	if f.up == noLink {
		f.limit = limit
		n.news = append(n.news, place)
		return
	}
	f.limit = limit
	n.touch(f.up)
	n.touch(f.down)
}

// advance brings what is left of a flow up to date.
func (n *network) advance(now int64, f *flow) {
	f.left = max(0, f.left-f.rate*float64(now-f.since)/1e9)
	f.since = now
}

// settle works the rates out anew and returns the flows whose rate is not what it was. The slice is valid until the next
// call. It costs O(rounds * (flows + links)) of the part of the network that has changed.
func (n *network) settle(now int64) []int32 {
	n.moved = n.moved[:0]
	for _, place := range n.news {
		if f := &n.flows[place]; f.live && f.up == noLink {
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

// connect collects the flows whose rates a change can reach: those of the links that have changed, and from there, over
// links that could be full, further. The links are left in queue.
func (n *network) connect() {
	n.queue, n.component = append(n.queue[:0], n.dirty...), n.component[:0]
	for _, at := range n.queue {
		l := &n.links[at]
		l.seen, l.wanted = true, 0
		for _, place := range l.flows {
			l.wanted += n.flows[place].limit // anew each time: taking off what was added leaves rounding behind
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
			n.component = append(n.component, place)
			for _, other := range [2]int32{f.up, f.down} {
				if !n.links[other].seen {
					n.links[other].seen = true
					n.queue = append(n.queue, other)
				}
			}
		}
	}
}

// fill gives the component's flows their rates. The level at which the first link would be full is one that every flow
// can have, so those that want no more than that have what they want; if there are none, the flows of that link stay at
// the level. What is left is shared among the rest in the same way.
func (n *network) fill(now int64) {
	for _, at := range n.queue {
		l := &n.links[at]
		l.left, l.open = l.capacity, 0
	}
	open := append(n.open[:0], n.component...)
	for _, place := range open {
		n.links[n.flows[place].up].open++
		n.links[n.flows[place].down].open++
	}
	for len(open) > 0 {
		level := math.Inf(1)
		for _, at := range n.queue {
			if l := &n.links[at]; l.open > 0 && l.tight() {
				level = min(level, l.left/float64(l.open))
			}
		}
		rest := n.fix(now, open, func(f *flow) bool { return f.limit <= level }, math.Inf(1))
		if len(rest) == len(open) {
			for _, at := range n.queue { // before any of it is given away
				l := &n.links[at]
				l.full = l.open > 0 && l.tight() && l.left/float64(l.open) <= level*(1+1e-12)
			}
			rest = n.fix(now, open, func(f *flow) bool { return n.links[f.up].full || n.links[f.down].full }, level)
		}
		open = rest
	}
	n.open = open
}

// fix gives the flows that it holds for their rate, no more than level, and returns the others, in place.
func (n *network) fix(now int64, open []int32, holds func(*flow) bool, level float64) []int32 {
	rest := open[:0]
	for _, place := range open {
		f := &n.flows[place]
		if !holds(f) {
			rest = append(rest, place)
			continue
		}
		rate := min(level, f.limit)
		for _, at := range [2]int32{f.up, f.down} {
			l := &n.links[at]
			l.left = max(0, l.left-rate)
			l.open--
		}
		n.give(now, place, rate)
	}
	return rest
}

// give sets a flow's rate.
func (n *network) give(now int64, place int32, rate float64) {
	f := &n.flows[place]
	if rate == f.rate {
		return
	}
	n.advance(now, f)
	f.rate = rate
	n.moved = append(n.moved, place)
}

// ends returns when a flow will have carried all it has to, at its present rate.
func (f *flow) ends() (at int64, ever bool) {
	if f.rate <= 0 {
		return 0, false
	}
	ns := math.Ceil(f.left / f.rate * 1e9)
	if ns > math.MaxInt64/4 {
		return 0, false
	}
	return f.since + int64(ns), true
}
