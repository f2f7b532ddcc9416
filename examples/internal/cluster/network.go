package cluster

import "math"

// network carries flows over links. A link is the uplink or the downlink of a rack, the disk or a direction of the
// network card of a physical machine, or a machine's part of its physical machine's disk. Flows share links max-min
// fairly, as a fluid: a flow can get more only if a flow that has no more loses some. It is never faster than its own
// limit. The machines on a physical machine share it equally, however many flows they have, as virtual machines do
// [LATE §5.1]: a flow has the weight 1/n if its machine's disk has n flows, and the rates of flows are compared by
// weight.
//
// Only links that could be full matter for the rates. So a change is computed only for the flows that such links
// connect. An idle part of a large cluster takes no time.
type network struct {
	racks    int // number of racks, whose links are the first 2*racks links
	machines int // index of the link of the first machine

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
	bytes     float64 // carried between racks so far; a flow is counted when it ends or stops
}

type link struct {
	capacity float64 // bytes per second
	flows    []int32
	wanted   float64 // sum of the limits of its flows, at the latest settle
	left     float64 // scratch: capacity that is not assigned
	open     int32   // scratch: flows without a rate
	weight   float64 // scratch: sum of their weights
	seen     bool    // scratch: part of the component
	full     bool    // scratch: at the present level
	dirty    bool
}

type flow struct {
	on         [mostLinks]use // its links, of which the first n are used
	n          int8
	racks      bool  // it goes from one rack to another
	machine    int32 // the link of the machine whose disk it uses; none if it uses no disk
	weight     float64
	copy, next int32 // the attempt that reads or writes, and the next of its flows
	life       uint32
	limit      float64 // bytes per second
	left       float64 // bytes that are left to carry
	total      float64
	rate       float64
	since      int64 // when left was last updated
	seen       bool  // scratch
	live       bool
}

// use is a link of a flow, and the place of the flow in the list of the link.
type use struct{ link, at int32 }

// mostLinks is the largest number of links of a flow. A read from another machine uses this machine's part of the disk,
// the disk, the card, an uplink, a downlink, and the card of the reader.
const mostLinks = 6

// tight reports whether the link could be full. It has a margin, because sums of floating-point numbers are not
// exact.
func (l *link) tight() bool { return l.wanted > l.capacity*(1-1e-9) }

// newNetwork returns the network of the racks, physical machines and machines. The links of physical machines and
// machines are there only if there are physical machines.
func newNetwork(c *Config) *network {
	n := &network{racks: len(c.Racks), machines: 2*len(c.Racks) + physicalLinks*len(c.Physical)}
	add := func(bytes float64) { n.links = append(n.links, link{capacity: capacity(bytes)}) }
	for _, r := range c.Racks {
		add(r.Up)
		add(r.Down)
	}
	for _, h := range c.Physical {
		add(h.Disk)
		add(h.Card) // out
		add(h.Card) // in
	}
	if len(c.Physical) > 0 {
		for _, m := range c.Machines {
			add(m.DiskRate)
		}
	} else if c.Network > 0 {
		add(c.Network)
		n.machines++
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

// start adds a flow over links. Its rate is 0 until the next settle.
func (n *network) start(now int64, links []int32, bytes, limit float64, reader int32) int32 {
	place := int32(len(n.flows))
	if last := len(n.free) - 1; last >= 0 {
		place = n.free[last]
		n.free = n.free[:last]
	} else {
		n.flows = append(n.flows, flow{})
	}
	f := &n.flows[place]
	*f = flow{
		copy: reader, life: f.life + 1, limit: limit, left: bytes, total: bytes, since: now, live: true, machine: none, weight: 1,
	}
	for _, at := range links {
		l := &n.links[at]
		f.limit = min(f.limit, l.capacity)
		f.on[f.n] = use{at, int32(len(l.flows))}
		f.n++
		f.racks = f.racks || int(at) < 2*n.racks
		if int(at) >= n.machines {
			f.machine = at
		}
		l.flows = append(l.flows, place)
		n.touch(at)
	}
	if f.n == 0 {
		n.news = append(n.news, place)
	}
	return place
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
	if f.racks {
		n.bytes += f.total - f.left
	}
	for _, u := range f.on[:f.n] {
		n.leave(u)
	}
	f.live = false
	f.life++
	n.free = append(n.free, place)
}

func (n *network) leave(u use) {
	l := &n.links[u.link]
	last := len(l.flows) - 1
	moved := l.flows[last]
	l.flows[u.at] = moved
	l.flows = l.flows[:last]
	m := &n.flows[moved]
	for i := range m.on[:m.n] {
		if m.on[i].link == u.link {
			m.on[i].at = u.at
		}
	}
	n.touch(u.link)
}

// limit changes the limit of a flow, after its reader's machine has changed its speed.
func (n *network) limit(place int32, limit float64) {
	f := &n.flows[place]
	f.limit = limit
	if f.n == 0 {
		n.news = append(n.news, place)
	}
	for _, u := range f.on[:f.n] {
		f.limit = min(f.limit, n.links[u.link].capacity)
		n.touch(u.link)
	}
}

// least sets the bytes that a flow over links has still to carry to a number, if they are fewer.
func (n *network) least(now int64, place int32, bytes float64) {
	f := &n.flows[place]
	n.advance(now, f)
	if f.left < bytes {
		f.left, f.rate = bytes, 0
		n.touch(f.on[0].link)
	}
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
