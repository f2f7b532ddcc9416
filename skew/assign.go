package skew

import (
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// maxSeconds bounds the times, so that no sum and no product with a size overflows.
const maxSeconds = 1e280

// Reducer is a reduce task on its worker, as of now. How long it takes is given by SecondsPerUnit or by Seconds.
type Reducer struct {
	// Ready is the time until the reduce task can start: what its worker has to do before, and its own start-up. A
	// negative time counts as 0.
	Ready time.Duration
	// SecondsPerUnit is the time that the worker takes for a unit of size; it must be positive. It is not read if
	// Seconds is given.
	SecondsPerUnit float64
	// Seconds, if it is not nil, estimates the time of the reduce task from the size of all of its partitions together,
	// Seconds(S(P_r), r), for example by k-NN from what the worker did before. So what a reduce task costs whatever its
	// size counts once. It is called with sizes above 0, must always give the same answer for the same size, and should
	// not fall with the size. An answer that is NaN, negative or above 1e280 is an error of the assignment.
	Seconds func(size int64) float64
	// KnownTo is the largest size for which Seconds is trusted; beyond it the time grows in proportion,
	// Seconds(KnownTo) * size/KnownTo. Set it with an estimate that levels off after the largest run it knows, as k-NN
	// does: otherwise all further partitions look free, and go to one worker. 0 trusts every size.
	KnownTo int64
	// Deadline is the time from now by which the reduce task must end, so that its own job and those whose tasks wait
	// on the worker meet their deadlines. 0 is none. If it has passed already, a negative one says so: nothing fits.
	// Pass one that is computed and comes out as exactly 0 as -1. Ends are compared with it to the nearest nanosecond.
	Deadline time.Duration
}

// Problem is what an assignment is made for.
type Problem struct {
	// Sizes is S(i), the size of each partition, in values or bytes.
	Sizes []int64
	// Reducers are the reduce tasks, at most as many as there are partitions.
	Reducers []Reducer
}

// Policy holds an operator's choices. Its zero value is the paper's. Safe for concurrent use.
type Policy struct {
	Rule Rule
	// PlaceAll gives also a partition that fits within no deadline to the reduce task that would end it first, after
	// all that fit. Otherwise it is left to the host: the paper asks that what is scheduled already stays within its
	// deadline.
	PlaceAll bool
	// Refine improves what EarliestEnd has made, which is often some percent from the best where few partitions are large;
	// it is not the paper's. The reduce task that ends last gives up to two partitions to another, for up to two of its
	// partitions, as long as both end sooner for it; then a branch and bound looks for better plans of up to 256
	// partitions. Both heed deadlines, and stop within a thousandth of [Bound].
	Refine bool
}

// Plan says who reduces what.
type Plan struct {
	// Reducer is the reduce task of each partition; -1 for one that was left out.
	Reducer []int
	// Load is the size that each reduce task gets, S(P_r), and End the time from now at which it ends, Ready included,
	// in seconds; that of a reduce task without a partition is 0.
	Load []int64
	End  []float64
	// Unfit lists the partitions that fit within no deadline, the largest first; under the rules that heed no
	// deadlines, those that ended beyond the deadline of the reduce task that they were given to.
	Unfit []int
	// Seconds is the largest End: the time of the reduce phase, without what was left out.
	Seconds float64
}

// Duration returns Seconds as a time.Duration. It saturates.
func (p Plan) Duration() time.Duration {
	d, _ := num.Duration(p.Seconds)
	return d
}

// Balance returns the [Balance] of the loads.
func (p Plan) Balance() float64 { return Balance(p.Load) }

func (p *Plan) wire(c *wire.Codec) {
	if c.Brief() {
		partitions, reducers, unfit, ends, balance := len(p.Reducer), len(p.Load), len(p.Unfit), p.Duration(), p.Balance()
		c.When(true).Int("partitions", &partitions)
		c.When(true).Int("reducers", &reducers)
		c.When(true).Duration("ends", &ends)
		c.When(true).Float("balance", &balance)
		c.When(true).Int("unfit", &unfit)
		return
	}
	wire.Numbers(c, "reducer", &p.Reducer)
	wire.Numbers(c, "load", &p.Load)
	c.Floats("end", &p.End)
	wire.Numbers(c, "unfit", &p.Unfit)
	c.Float("seconds", &p.Seconds)
}

// String returns a summary of the plan as one line, and LogValue the same for log/slog; MarshalJSON writes it whole,
// and UnmarshalJSON reads that.
func (p Plan) String() string                   { return wire.Line(p.wire) }
func (p Plan) LogValue() slog.Value             { return wire.Log(p.wire) }
func (p Plan) MarshalJSON() ([]byte, error)     { return wire.JSON(p.wire) }
func (p *Plan) UnmarshalJSON(data []byte) error { return wire.Read(data, p, (*Plan).wire) }

// Assign gives partitions to reduce tasks as DynamicShare's Simple Partitions does [§4.2]. It is short for
// Policy{}.Assign.
func Assign(p Problem) (Plan, error) { return Policy{}.Assign(p) }

// Assign gives each partition to a reduce task. Ties go to the lower index, of reduce tasks as of equal partitions. An
// error names what is out of range: no reduce tasks, fewer partitions than reduce tasks, a negative size, seconds that
// are not positive or an estimate that is negative, either above 1e280, an unknown rule. O(p log p + p R), of which p R
// are calls of Reducer.Seconds; it allocates the plan and two slices of its size. Refine adds at most 100 R exchanges
// in O(p log p) each, and a search of at most 65,536 nodes, some 10 ms.
func (c Policy) Assign(p Problem) (Plan, error) {
	if err := c.Validate(); err != nil {
		return Plan{}, err
	}
	if err := p.validate(); err != nil {
		return Plan{}, err
	}
	t := newTeam(p.Reducers)
	return c.assign(p.Sizes, &t)
}

// Validate reports the first field that is out of range, with its value and its range.
func (c Policy) Validate() error { return check.Named("skew: Policy", "Rule", c.Rule, ruleNames[:]) }

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

func (p Problem) validate() error {
	if err := validateReducers(p.Reducers, len(p.Sizes)); err != nil {
		return err
	}
	var sum int64
	for i, size := range p.Sizes {
		if size < 0 || size > math.MaxInt64-sum {
			at := check.At("Problem.Sizes", i, "")
			return check.Badf("skew", at, size, "0 or more, and at most %d in all", int64(math.MaxInt64))
		}
		sum += size
	}
	return nil
}

func validateReducers(reducers []Reducer, partitions int) error {
	if len(reducers) == 0 {
		return check.Bad("skew", "len(Problem.Reducers)", 0, "1 or more")
	}
	if partitions < len(reducers) {
		return check.Badf("skew", "len(Problem.Sizes)", partitions, "%d or more, one for each of the Reducers", len(reducers))
	}
	for r, reducer := range reducers {
		if reducer.Seconds == nil && !(reducer.SecondsPerUnit > 0 && reducer.SecondsPerUnit <= maxSeconds) {
			at := check.At("Reducers", r, "SecondsPerUnit")
			return check.Badf("skew", at, reducer.SecondsPerUnit, "more than 0 and at most %g", maxSeconds)
		}
		if reducer.KnownTo < 0 {
			return check.Bad("skew", check.At("Reducers", r, "KnownTo"), reducer.KnownTo, "0 or more")
		}
	}
	return nil
}
