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
