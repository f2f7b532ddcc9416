package hedge

import (
	"cmp"
	"log/slog"
	"math"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// rounding is the relative error that sums of probabilities may have. Two probabilities that differ by less are equal:
// 0.9 of ten samples are nine samples, although 0.9 has no exact binary form. More than a million samples are needed
// for two probabilities that differ by so little.
const rounding = 1e-11

// mostRequests is the largest number of requests of one operation. A plan takes O(Need (Of + Extra)) for each sample.
const mostRequests = 1024

// Problem contains the facts from which [Problem.Best] and [Problem.Least] make a plan. All times have one unit, such
// as seconds.
//
// For example, a service answers in 1 to 10 ms, and every tenth time in 100 ms. Percentile is 0.95 and Budget is 0.1.
// The best plan sends a second request after 10 ms: all but 1 % of the answers then come within 20 ms.
type Problem struct {
	// First is the distribution of the times of first requests. Observe each time with ended = true. Observe the age
	// of each cancelled request with ended = false. Then call Fit. Times beyond the longest observed time are taken
	// for infinite.
	First *survival.Curve
	// Second is the distribution of the times of second requests, from the moment when the request is sent. Nil means
	// that second requests take as long as first requests.
	Second *survival.Curve
	// Pairs are times of first and second requests for the same work. They are needed where the two times depend on
	// each other. If there are pairs, First and Second must be nil, and Of must be at most 1.
	Pairs []Pair
	// Percentile is the share of operations that must be answered in time, in (0, 1). For example, 0.99 is the 99th
	// percentile.
	Percentile float64
	// Budget is the largest number of second requests for each first request, in [0, Extra/Of]. For example, 0.05
	// allows one second request for twenty first requests.
	Budget float64
	// Fanout is the number of operations that must all be answered. The percentile is then a percentile of the last
	// answer. 0 means 1.
	Fanout int
	// An operation sends Of requests at once, and needs the answers of Need. After the delay, Extra more requests are
	// sent if fewer than Need have come. 0 means 1 for each. For example, an erasure code with 10 data blocks and 4
	// parity blocks may send 10 requests, need 10, and send up to 4 more: {Need: 10, Of: 10, Extra: 4}.
	Need, Of, Extra int
}

// Pair contains the times of a first and a second request for the same work.
type Pair struct{ First, Second float64 }

// Validate returns an error for the first field that is out of range, or nil.
func (p Problem) Validate() error {
	const place = "restart/hedge: Problem"
	switch {
	case !(p.Percentile > 0 && p.Percentile < 1):
		return check.Bad(place, "Percentile", p.Percentile, "a probability in (0, 1)")
	case len(p.Pairs) > 0 && (p.First != nil || p.Second != nil):
		return check.Bad(place, "First", "a curve", "nil beside Pairs")
	case len(p.Pairs) == 0 && p.First == nil:
		return check.Bad(place, "First", "nil", "a curve, or Pairs")
	case len(p.Pairs) > 0 && p.Of > 1:
		return check.Bad(place, "Of", p.Of, "at most 1 beside Pairs")
	}
	for i, of := range p.Pairs {
		if !(of.First >= 0) || !(of.Second >= 0) {
			return check.Bad(place, check.At("Pairs", i, ""), of, "times of at least 0")
		}
	}
	p = p.effective()
	err := cmp.Or(
		check.Within(place, "Fanout", p.Fanout, 1, math.MaxInt32),
		check.Within(place, "Of", p.Of, 1, mostRequests),
		check.Within(place, "Need", p.Need, 1, p.Of),
		check.Within(place, "Extra", p.Extra, 1, mostRequests),
	)
	if most := p.most(); err == nil && !(p.Budget >= 0 && p.Budget <= most) {
		err = check.Badf(place, "Budget", p.Budget, "0 to %v", most)
	}
	return err
}

// most returns the number of second requests for each first request if all are sent.
func (p *Problem) most() float64 { return float64(p.Extra) / float64(p.Of) }

// effective returns the problem with each zero count replaced by its default.
func (p Problem) effective() Problem {
	p.Fanout, p.Need, p.Of, p.Extra = check.Or(p.Fanout, 1), check.Or(p.Need, 1), check.Or(p.Of, 1), check.Or(p.Extra, 1)
	return p
}

// Plan says when to send a second request, and what that gains and costs. The zero value sends none. All times have
// the unit of the problem.
type Plan struct {
	// Send says that second requests help. If it is false, Delay, Probability and Load are 0.
	Send bool
	// Delay is how long after the first request the second request is sent, if there is no answer yet.
	Delay float64
	// Probability is the probability with which it is sent then.
	Probability float64
	// Load is the expected number of second requests for each first request.
	Load float64
	// Time is the percentile with the plan, and Alone the percentile without second requests. +Inf means a time beyond
	// every observed time.
	Time, Alone float64
}

func (p *Plan) wire(c *wire.Codec) {
	c.Flag("send", &p.Send, "none", "send")
	c.Float("delay", &p.Delay)
	c.Float("probability", &p.Probability)
	c.Float("load", &p.Load)
	c.Float("time", &p.Time)
	c.Float("alone", &p.Alone)
}

// String returns the plan as one line.
func (p Plan) String() string { return wire.Line(p.wire) }

// LogValue returns the plan as a group of fields for log/slog.
func (p Plan) LogValue() slog.Value { return wire.Log(p.wire) }

// MarshalJSON returns a JSON object with the fields that String prints.
func (p Plan) MarshalJSON() ([]byte, error) { return wire.JSON(p.wire) }

// Best returns the plan with the shortest percentile within the budget. Several plans may reach this percentile. Best
// returns the plan with the least load, and at equal load the plan with the shortest delay.
//
// The second request is sent after the delay d with the probability q [Kaler et al., SingleR]. Let X and Y be the
// times of a first and a second request. The operation takes min(X, d+Y) if the second request is sent, so
//
//	P(T <= t) = P(X <= t) + q P(X > t) P(Y <= t-d)    for t >= d
//
// The load is q P(X > d), and must be at most the budget. The best delay is 0 or an observed time of a first request:
// between two such times P(X > d) is constant, and an earlier second request is never later. Best tries them all. It
// also returns an error if a field is out of range. O(n log n) for n samples, and O(n) where they are sorted, as in a
// curve. Each sample takes O(Need (Of+Extra)). It allocates O(Need) memory, and O(n) for pairs.
func (p Problem) Best() (Plan, error) {
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	return p.plan(-1), nil
}

// Least returns the plan with the least load that reaches the percentile within the given time. Plan.Time is then at
// most this time. If no second request is needed, the plan sends none, and Plan.Time is the time without one. If no
// plan within the budget is enough, Least returns the plan of Best: the caller sees that Plan.Time exceeds the time.
// The cost and the errors are the same as for Best.
func (p Problem) Least(time float64) (Plan, error) {
	if !(time >= 0) {
		return Plan{}, check.Bad("restart/hedge", "time", time, "at least 0")
	}
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	return p.plan(time), nil
}

// plan returns the plan with the least load for the time target. If target is negative or out of reach, plan returns
// the best plan.
func (p *Problem) plan(target float64) Plan {
	*p = p.effective()
	s := sweep{need: p.Need, of: p.Of, extra: p.Extra}
	if len(p.Pairs) > 0 {
		s.joint = newJoint(p.Pairs)
		s.first, s.second = s.joint.first, s.joint.second
	} else {
		s.first.at, s.first.above = p.First.Steps()
		if s.second = s.first; p.Second != nil {
			s.second.at, s.second.above = p.Second.Steps()
		}
	}
	return s.plan(root(p.Percentile, p.Fanout), p.Budget, target)
}
