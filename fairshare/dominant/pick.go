package dominant

import (
	"log/slog"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/exact"
	"github.com/straggler-go/straggler/internal/wire"
)

// Pick is whose task is next, and why, as compared with its siblings. It is comparable and holds no NaN.
type Pick struct {
	Pool   int              // a pool without children; -1 if nobody wants to run a task
	Reason fairshare.Reason // as of [fairshare.Index.Next]
	// Resource is the one that was compared: of which the pool has the largest part, of its minimum or of what there is;
	// -1 if it has nothing yet. Share is that part, not divided by the weight, and only of what is above the minimum
	// under [fairshare.AboveMinimum].
	Resource int
	Share    float64
	// Lacking is a resource of which the task does not fit, because Limit, a pool above, would have more than its
	// maximum, or, if Limit is -1, because the cluster has too little left. It is -1 if the task fits.
	Lacking, Limit int
}

// nobody is the pick of no pool.
func nobody() Pick { return Pick{Pool: -1, Resource: -1, Lacking: -1, Limit: -1} }

// Fits reports whether there is a pool whose task fits in what the cluster has and in the maximums above it.
func (p Pick) Fits() bool { return p.Pool >= 0 && p.Lacking < 0 }

func (p *Pick) wire(c *wire.Codec) {
	verb := 0
	switch {
	case p.Lacking >= 0:
		verb = 2
	case p.Pool >= 0:
		verb = 1
	}
	c.Kind(verb, "wait", "serve", "hold")
	c.Word("reason", &p.Reason)
	c.Index("pool", &p.Pool)
	c.Index("resource", &p.Resource)
	c.When(p.Pool >= 0).Float("share", &p.Share)
	c.Index("lacking", &p.Lacking)
	c.Index("limit", &p.Limit)
}

// String returns the pick as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (p Pick) String() string                   { return wire.Line(p.wire) }
func (p Pick) LogValue() slog.Value             { return wire.Log(p.wire) }
func (p Pick) MarshalJSON() ([]byte, error)     { return wire.JSON(p.wire) }
func (p *Pick) UnmarshalJSON(data []byte) error { return wire.Read(data, p, (*Pick).wire) }
func (p *Pick) UnmarshalText(line []byte) error { return wire.Scan(line, p, (*Pick).wire) }

// pick says why the pool at position i of its group is next, and whether its task fits.
func (x *Index) pick(g group, i int32) Pick {
	e := &x.entries[i]
	p := Pick{Pool: int(x.nodes[i].pool), Reason: fairshare.LeastServed, Resource: int(e.resource), Lacking: -1, Limit: -1}
	switch {
	case e.turn == turnNeedy:
		p.Reason = fairshare.BelowMinimum
	case g.discipline == fairshare.FIFO:
		p.Reason = fairshare.InTurn
	case e.turn == turnWeightless:
		p.Reason = fairshare.Leftover
	}
	if p.Resource >= 0 {
		per := x.capacity[p.Resource]
		if e.turn == turnNeedy {
			per = int64(e.unitLo)
		}
		p.Share = float64(e.standing.usage) / float64(per)
	}
	need := x.row(x.needs, i)
	for at := x.nodes[i].parent; at >= 0; at = x.nodes[at].parent {
		if r := lacking(need, x.row(x.usage, at), x.row(x.max, at)); r >= 0 {
			p.Lacking, p.Limit = r, int(x.nodes[at].pool)
			return p
		}
	}
	p.Lacking = lacking(need, x.total, x.capacity)
	return p
}

// lacking returns the first resource of which the need goes beyond the limit; -1 if there is none.
func lacking(need, usage, limit []int64) int {
	for r, n := range need {
		if n > 0 && exact.Add(usage[r], n) > limit[r] {
			return r
		}
	}
	return -1
}
