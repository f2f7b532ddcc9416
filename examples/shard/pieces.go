package main

import (
	"math"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

const (
	// grain x the ideal time is the longest piece of a package that can be cut.
	grain = .125
	// heavy x the overhead of a call is the shortest piece into which a package is cut.
	heavy = 8
)

// pieces returns the units that machines draw: whole packages, and pieces of the packages that take longer than a grain
// of the ideal time. The predicted time of each piece has the overhead of its call.
func pieces(suites []suite, machines []machine) ([]shardqueue.Piece, error) {
	p := packed{suites: suites, machines: machines}
	most := p.ideal() * grain
	var all []shardqueue.Piece
	for i := range suites {
		s := &suites[i]
		longest := max(most, heavy*s.again)
		parts, err := p.cut(s, p.bounded(i, int(math.Ceil(min(s.whole()/longest, 1e6)))))
		if err != nil {
			return nil, err
		}
		for k, part := range parts {
			piece := shardqueue.Piece{Package: s.pkg, Rest: k == 0 && !part.whole, Seconds: part.seconds, Again: s.again}
			if part.whole {
				piece.Seconds += s.again
			} else {
				for _, t := range part.tests {
					piece.Tests = append(piece.Tests, t.name)
				}
			}
			all = append(all, piece)
		}
	}
	return all, nil
}
