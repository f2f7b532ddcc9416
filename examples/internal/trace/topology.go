package trace

import (
	"bytes"
	"io"
)

// readTopology reads the racks and hosts that Rumen writes beside a trace: a tree of names with the hosts at its
// leaves.
func readTopology(in io.Reader, limit int) *builder {
	b := newBuilder(Topology)
	s := newStream(in, limit, func(key []byte) bool { return string(key) == "name" })
	s.each(b.log, func(record []byte) bool {
		c := &cursor{data: record}
		b.branch(c, nil)
		return c.done()
	})
	return b
}

// branch reads a node and the nodes below it. The path has the names from below the root to above the node.
func (b *builder) branch(c *cursor, path [][]byte) {
	var name []byte
	leaf := true
	c.fields(func(key []byte) {
		switch string(key) {
		case "name":
			name = unescape(c.name())
		case "children":
			below := path
			if path == nil {
				below = [][]byte{} // the root is not a rack
			} else {
				below = append(below[:len(below):len(below)], name)
			}
			c.elements(func() {
				leaf = false
				b.branch(c, below)
			})
		}
	})
	if leaf && len(name) > 0 && path != nil {
		b.host(name, bytes.Join(path, []byte("/")))
	}
}

// Place sets unknown racks from another log, such as a topology, and then the localities.
func (l *Log) Place(racks *Log) {
	known := map[string]string{}
	for _, h := range racks.Hosts {
		if h.Rack != "" {
			known[h.Name] = h.Rack
		}
	}
	for i := range l.Hosts {
		if h := &l.Hosts[i]; h.Rack == "" {
			h.Rack = known[h.Name]
		}
	}
	if l.Format.Hadoop() {
		b := builder{log: l}
		b.localities()
	}
}
