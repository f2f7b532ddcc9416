package skew

import (
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// maxSeconds is the largest time in seconds. It keeps sums of times, and products with sizes, within a float64.
const maxSeconds = 1e280

// Reducer is a reduce task on its worker. SecondsPerUnit or Seconds gives its time.
type Reducer struct {
	// Ready is the time from now until the reduce task can start: the remaining work of its worker, and its own
	// start-up time. A negative time counts as 0.
	Ready time.Duration
	// SecondsPerUnit is the time that the worker takes for one unit of size, in seconds: more than 0 and at most
	// 1e280. It is ignored if Seconds is not nil.
	SecondsPerUnit float64
	// Seconds, if not nil, estimates the time of the reduce task in seconds: the paper's Seconds(S(P_r), r). Its
	// argument is the total size of the task's partitions, so a fixed time counts once. An example is a k-NN estimate
	// from earlier runs of the worker.
	//
	// Seconds is called with sizes above 0. It must return the same time for the same size, and the time should not
	// fall with the size. A time that is NaN, negative or above 1e280 is an error of the assignment.
	Seconds func(size int64) float64
	// KnownTo is the largest size for which Seconds is trusted. For a larger size the time is Seconds(KnownTo) *
	// size/KnownTo. Set KnownTo if the estimate stays constant beyond the largest run that it knows, as k-NN does.
	// Otherwise further partitions seem to take no time, and one worker gets all of them. 0 means that every size is
	// trusted.
	KnownTo int64
	// Deadline is the time from now until the reduce task must end. Choose it so that its own job, and jobs with
	// tasks that wait for the worker, meet their deadlines. 0 means no deadline. A negative deadline has passed
	// already, so no partition fits. If a computed deadline is exactly 0, pass -1. The end of the task is compared
	// with the deadline to the nearest nanosecond.
	Deadline time.Duration
}

// Problem holds the facts for one assignment.
type Problem struct {
	// Sizes holds the paper's S(i): the size of each partition, at least 0, in values or bytes.
	Sizes []int64
	// Reducers holds the reduce tasks: at least one, and at most one for each partition.
	Reducers []Reducer
}

// Policy holds an operator's choices. The zero value follows the paper. A Policy is safe for concurrent use.
type Policy struct {
	// Rule says how partitions are assigned. Zero: [EarliestEnd].
	Rule Rule
	// PlaceAll also assigns the partitions that fit within no deadline, after all other partitions. Each goes to the
	// reduce task that would end first with it. Without PlaceAll these partitions are left to the host, because in
	// the paper a scheduled task must stay within its deadline. PlaceAll has no effect under other rules than
	// EarliestEnd.
	PlaceAll bool
	// Refine improves the plan of EarliestEnd. With a few large partitions, that plan often ends some percent after
	// the best plan. Refine is not in the paper. It has two steps:
	//
	//   - The reduce task that ends last gives up to two partitions to another reduce task, and takes back up to two
	//     partitions. This is repeated while both reduce tasks end sooner than the first did before.
	//   - A branch and bound searches for a better plan, for at most 256 partitions.
	//
	// Both steps observe deadlines, and stop when the plan ends within a thousandth of [Bound].
	Refine bool
}

// Plan says which reduce task gets which partition, and when each reduce task ends. A summary prints as one line:
//
//	partitions=8 reducers=3 ends=22s balance=0.606061 unfit=0
//
// Eight partitions are assigned to three reduce tasks. The last reduce task ends after 22 s, the [Balance] of the
// loads is 0.61, and no partition misses a deadline.
type Plan struct {
	// Reducer holds the index of the reduce task of each partition, or -1 for a partition that was left out.
	Reducer []int
	// Load holds the paper's S(P_r): the total size that each reduce task gets. End holds the time from now in
	// seconds until each reduce task ends, including Ready. End is 0 for a reduce task without a partition.
	Load []int64
	End  []float64
	// Unfit holds the indices of the partitions that fit within no deadline, the largest first. [LoadBalance] and
	// [ByHash] ignore deadlines; with them Unfit holds the partitions after which a reduce task ended beyond its
	// deadline.
	Unfit []int
	// Seconds is the largest End in seconds: the time of the reduce phase, without partitions that were left out.
	Seconds float64
}

// Duration returns Seconds as a time.Duration. The result saturates at the largest duration.
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

// String returns a summary of the plan as one line. LogValue returns the fields of the summary for log/slog.
// MarshalJSON returns the whole plan.
func (p Plan) String() string               { return wire.Line(p.wire) }
func (p Plan) LogValue() slog.Value         { return wire.Log(p.wire) }
func (p Plan) MarshalJSON() ([]byte, error) { return wire.JSON(p.wire) }

// Assign assigns partitions to reduce tasks by the rule of DynamicShare's Simple Partitions [§4.2]. It is short for
// Policy{}.Assign.
func Assign(p Problem) (Plan, error) { return Policy{}.Assign(p) }

// Assign assigns each partition to a reduce task by the policy's rule. Ties go to the lower index, for reduce tasks
// and for equal partitions.
//
// Assign returns an error that names the field, its value and its range in these cases:
//
//   - The rule is unknown.
//   - There is no reduce task, or there are fewer partitions than reduce tasks.
//   - A size is negative, or the sum of the sizes exceeds the largest int64.
//   - SecondsPerUnit or a result of Seconds is out of range.
//
// O(p log p + p R) for p partitions and R reduce tasks, with at most p R calls of Reducer.Seconds. Assign allocates
// the plan and two slices of its size. Refine adds at most 100 R exchanges of O(p log p) each, and a search of at
// most 65,536 nodes, which takes about 10 ms.
func (c Policy) Assign(p Problem) (Plan, error) {
	if err := c.Validate(); err != nil {
		return Plan{}, err
	}
	if err := p.validate(); err != nil {
		return Plan{}, err
	}
	t := newTiming(p.Reducers)
	return c.assign(p.Sizes, &t)
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its
// range.
func (c Policy) Validate() error { return check.Named("skew: Policy", "Rule", c.Rule, ruleNames[:]) }

// MarshalJSON returns the fields that are not zero, with names in kebab case. UnmarshalJSON reads that form.
func (c Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// validate returns an error for the first size or reducer that is out of range.
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

// validateReducers returns an error for the first reducer that is out of range, or for too few partitions.
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
