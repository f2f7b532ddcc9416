package cluster

import "math"

// network carries flows between racks. Flows share links max-min fairly, as a fluid: a flow can get more only if a
// flow that has no more loses some. A flow uses the uplink of its source rack and the downlink of its destination
// rack, and no link within a rack. It is never faster than its own limit, which comes from the disk and the network
// card of the reader.
//
// Only links that could be full matter for the rates. So a change is computed only for the flows that such links
// connect. An idle part of a large cluster takes no time.
type network struct {
	links []link
	flows []flow
	free  []int32
	dirty []int32 // links with changed flows since the rates were computed
	news  []int32 // changed flows without a link, since the rates were computed

	// The next fields are scratch space of settle.
	queue     []int32
	component []int32 // flows
	open      []int32 // flows of the component without a rate
	moved     []int32 // flows whose rate has changed
	bytes     float64 // carried over links so far; a flow is counted when it ends or stops
}

type link struct {
	capacity float64 // bytes per second
	flows    []int32
	wanted   float64 // sum of the limits of its flows, at the latest settle
	left     float64 // scratch: capacity that is not assigned
	open     int32   // scratch: flows without a rate
	seen     bool    // scratch: part of the component
	full     bool    // scratch: at the present level
	dirty    bool
}

type flow struct {
	up, down     int32 // its links; noLink within a rack
	atUp, atDown int32 // its places in the lists of the links
	copy, next   int32 // the attempt that reads, and the next of its flows
	life         uint32
	limit        float64 // bytes per second
	left         float64 // bytes that are left to carry
	total        float64
	rate         float64
	since        int64 // when left was last updated
	seen         bool  // scratch
	live         bool
}

const noLink = -1

// tight reports whether the link could be full. It has a margin, because sums of floating-point numbers are not
// exact.
func (l *link) tight() bool { return l.wanted > l.capacity*(1-1e-9) }

// newNetwork returns the network of the racks. Without racks it has no links.
func newNetwork(racks []Rack) *network {
	n := &network{}
	for _, r := range racks {
		n.links = append(n.links, link{capacity: capacity(r.Up)}, link{capacity: capacity(r.Down)})
	}
	return n
}

// capacity returns the capacity of a link; 0 bytes means infinite.
func capacity(bytes float64) float64 {
	if bytes == 0 {
		return math.Inf(1)
	}
	return bytes
}

// start adds a flow. Its rate is 0 until the next settle.
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

// join adds a flow to a link, and returns its place there.
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

// stop removes a flow, at its end or earlier.
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

// limit changes the limit of a flow, after its reader's machine has changed its speed.
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

// advance updates the bytes that a flow has still to carry.
func (n *network) advance(now int64, f *flow) {
	f.left = max(0, f.left-f.rate*float64(now-f.since)/1e9)
	f.since = now
}

// ends returns when the flow ends at its present rate; false if its rate is 0.
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
