package skew

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// maxSeconds bounds the times and rates, so that no sum and no product with a size overflows.
const maxSeconds = 1e280

// Rule says how partitions are assigned. The values are stable.
type Rule uint8

const (
	// EarliestEnd is DynamicShare's rule and the zero value: the largest partition first, each to the reduce task that
	// would end it first.
	EarliestEnd Rule = iota
	// LoadBalance is the rule that DynamicShare compares with: the largest partition first, each to the reduce task with
	// the least size so far, whatever its speed. It heeds no limits.
	LoadBalance
	// Hash is plain hashing: partition i to reduce task i mod R. It heeds no limits.
	Hash
)

var ruleNames = [...]string{"earliest-end", "load-balance", "hash"}

// String returns the rule's name.
func (r Rule) String() string {
	return enum.Name(ruleNames[:], int(r), "Rule")
}

// Reducer is a reduce task on its worker, as of now.
type Reducer struct {
	// Ready is the time until the reduce task can start: what its worker has to do before, and its own start-up. A
	// negative time counts as 0.
	Ready time.Duration
	// Rate is the time that the worker takes for a unit of size, in seconds; it must be positive. It is not read if
	// Problem.Seconds is given.
	Rate float64
	// Limit is the time from now by which the reduce task must end, so that its own job and those whose tasks wait on the
	// worker meet their deadlines. 0 is no limit. If it has passed already, a negative limit says so: nothing fits. A limit
	// that is computed and comes out as exactly 0 must be passed as -1. Ends are compared with it to the nearest nanosecond.
	Limit time.Duration
}

// Problem is what an assignment is made for.
type Problem struct {
	// Sizes is S(i), the size of each partition, in values or bytes.
	Sizes []int64
	// Reducers are the reduce tasks, at most as many as there are partitions.
	Reducers []Reducer
	// Seconds, if it is not nil, is the estimated time of each partition on each reduce task, Seconds[reducer][partition],
	// for example from a k-NN estimate for each worker. Otherwise the time is the size times the Rate.
	Seconds [][]float64
}

// Policy holds an operator's choices. Its zero value is the paper's. Safe for concurrent use.
type Policy struct {
	Rule Rule
	// PlaceAll gives also a partition that fits within no limit to the reduce task that would end it first, after all
	// that fit. Otherwise it is left to the host: the paper asks that what is scheduled already stays within its deadline.
	PlaceAll bool
}

// Plan says who reduces what.
type Plan struct {
	// Reducer is the reduce task of each partition; -1 for one that was left out.
	Reducer []int
	// Load is the size that each reduce task gets, S(P_r), and End the time from now at which it ends, Ready included,
	// in seconds; that of a reduce task without a partition is 0.
	Load []int64
	End  []float64
	// Unfit lists the partitions that fit within no limit, the largest first; under the rules that heed no limits, those
	// that ended beyond the limit of the reduce task that they were given to.
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

// String sums the plan up in one line.
func (p Plan) String() string {
	return fmt.Sprintf("partitions=%d reducers=%d ends=%v balance=%.1f%% unfit=%d",
		len(p.Reducer), len(p.Load), p.Duration(), p.Balance(), len(p.Unfit))
}

// LogValue returns what String shows as a group of fields, for log/slog.
func (p Plan) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("partitions", len(p.Reducer)), slog.Int("reducers", len(p.Load)),
		slog.Duration("ends", p.Duration()), slog.Float64("balance", p.Balance()), slog.Int("unfit", len(p.Unfit)))
}

// Assign gives partitions to reduce tasks as DynamicShare's Simple Partitions does [§4.2]. It is short for
// Policy{}.Assign.
func Assign(p Problem) (Plan, error) { return Policy{}.Assign(p) }

// Assign gives each partition to a reduce task. Ties go to the lower index, of reduce tasks as of equal partitions. An
// error names what is out of range: no reduce tasks, fewer partitions than reduce tasks, a negative size, a rate that is
// not positive, a time that is negative, either above 1e280, rows of Seconds that do not match, an unknown rule.
// O(p log p + p R); it allocates the plan and one slice of its size.
func (c Policy) Assign(p Problem) (Plan, error) {
	if err := c.validate(); err != nil {
		return Plan{}, err
	}
	if err := p.validate(); err != nil {
		return Plan{}, err
	}
	return c.assign(p), nil
}

func (c Policy) validate() error {
	if int(c.Rule) >= len(ruleNames) {
		return fmt.Errorf("skew: Rule is %d, want EarliestEnd, LoadBalance or Hash", c.Rule)
	}
	return nil
}

func (p Problem) validate() error {
	if err := validateReducers(p.Reducers, len(p.Sizes), p.Seconds == nil); err != nil {
		return err
	}
	var sum int64
	for i, size := range p.Sizes {
		if size < 0 || size > math.MaxInt64-sum {
			return fmt.Errorf("skew: Sizes[%d] is %d, want 0 or more, and at most %d in all", i, size, int64(math.MaxInt64))
		}
		sum += size
	}
	if p.Seconds == nil {
		return nil
	}
	if len(p.Seconds) != len(p.Reducers) {
		return fmt.Errorf("skew: Seconds has %d rows, want %d, one for each reduce task", len(p.Seconds), len(p.Reducers))
	}
	for r, row := range p.Seconds {
		if len(row) != len(p.Sizes) {
			return fmt.Errorf("skew: Seconds[%d] has %d times, want %d, one for each partition", r, len(row), len(p.Sizes))
		}
		for i, t := range row {
			if !(t >= 0 && t <= maxSeconds) {
				return fmt.Errorf("skew: Seconds[%d][%d] is %v, want 0 to %g", r, i, t, maxSeconds)
			}
		}
	}
	return nil
}

func validateReducers(reducers []Reducer, partitions int, rates bool) error {
	if len(reducers) == 0 {
		return fmt.Errorf("skew: there are no Reducers, want 1 or more")
	}
	if partitions < len(reducers) {
		return fmt.Errorf("skew: there are %d partitions, want %d or more, one for each of the Reducers", partitions, len(reducers))
	}
	for r, reducer := range reducers {
		if rates && !(reducer.Rate > 0 && reducer.Rate <= maxSeconds) {
			return fmt.Errorf("skew: Reducers[%d].Rate is %v, want more than 0 and at most %g", r, reducer.Rate, maxSeconds)
		}
	}
	return nil
}
