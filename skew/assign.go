package skew

import (
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// maxSeconds is the largest allowed time of a reduce task, in seconds. With this limit, sums of times and products
// of times and sizes stay within the range of a float64.
const maxSeconds = 1e280

// Reducer is a reduce task on its worker. The time of the reduce task is given by SecondsPerUnit or by Seconds.
type Reducer struct {
	// Ready is the time from now until the reduce task can start: the remaining work of its worker, and the
	// start-up time of the task. A negative time is treated as 0.
	Ready time.Duration
	// SecondsPerUnit is the time that the worker takes for one unit of size, in seconds. It must be more than 0 and
	// at most 1e280. If Seconds is not nil, SecondsPerUnit is ignored.
	SecondsPerUnit float64
	// Seconds estimates the time of the reduce task in seconds. It is optional. The paper writes Seconds(S(P_r),
	// r). The argument size is the total size of the task's partitions, so a fixed time per task is included only a
	// single time. An example is an estimate from the most similar earlier runs of the worker (k-NN).
	//
	// Seconds is called with sizes above 0. It must return the same time for the same size, and a larger size
	// should not give a shorter time. If Seconds returns NaN, a negative time or a time above 1e280, the assignment
	// returns an error.
	Seconds func(size int64) float64
	// KnownTo is the largest size for which Seconds is trusted. For a larger size the time is Seconds(KnownTo) *
	// size/KnownTo. Set KnownTo if the estimate stays constant for sizes above the largest run that it knows, as
	// k-NN does. Without KnownTo, further partitions would seem to take no time, and one worker would get all
	// partitions. 0 means that Seconds is trusted for every size.
	KnownTo int64
	// Deadline is the time from now until the reduce task must end. Choose the deadline so that the job of this
	// task is in time, and so are the other jobs with tasks that wait for the worker. 0 means no deadline. A
	// negative deadline has passed already, so no partition is within it. If a computed deadline is exactly 0, pass
	// -1. The end of the task is compared with the deadline after rounding to nanoseconds.
	Deadline time.Duration
}

// Problem contains the facts for one assignment.
type Problem struct {
	// Sizes is the size of each partition, at least 0, in values or bytes. The paper calls the size of partition i
	// S(i).
	Sizes []int64
	// Reducers are the reduce tasks: at least one, and at most as many as there are partitions.
	Reducers []Reducer
}

// Policy contains an operator's choices. The zero value is the rule of the paper. A Policy is safe for concurrent
// use.
type Policy struct {
	// Rule says how partitions are assigned. The zero value is [EarliestEnd].
	Rule Rule
	// PlaceAll also assigns the partitions that no reduce task can take within its deadline, after all other
	// partitions. Each such partition goes to the reduce task that would end first with this partition. Without
	// PlaceAll these partitions are left to the host, because in the paper a scheduled task must end within its
	// deadline. PlaceAll has no effect under other rules than EarliestEnd.
	PlaceAll bool
	// Refine improves the plan of EarliestEnd. If there are a few large partitions, that plan often ends some
	// percent after the best plan. Refine is not in the paper. It has two steps:
	//
	//   - The reduce task that ends last gives up to two partitions to another reduce task, and takes back up to
	//     two partitions. This is repeated as long as both reduce tasks then end sooner than the last reduce task
	//     ended before.
	//   - For at most 256 partitions, a branch-and-bound search looks for a better plan.
	//
	// Both steps observe deadlines. They stop when the plan ends within a thousandth of the time that [Bound]
	// returns.
	Refine bool
}

// Plan says which reduce task gets which partition, and when each reduce task ends. A summary prints as one line:
//
//	partitions=8 reducers=3 ends=22s balance=0.606061 unfit=0
//
// Eight partitions are assigned to three reduce tasks. The last reduce task ends after 22 s, and the [Balance] of
// the loads is 0.61. No partition is unfit: each is assigned to a reduce task that ends within its deadline.
type Plan struct {
	// Reducer has one entry for each partition: the index of its reduce task, or -1 if the partition was left out.
	Reducer []int
	// Load is the total size of the partitions of each reduce task. The paper calls it S(P_r). End is the time from
	// now, in seconds, until each reduce task ends, including Ready. End is 0 for a reduce task without a
	// partition.
	Load []int64
	End  []float64
	// Unfit contains the indices of the partitions that no reduce task could take within its deadline, the largest
	// first. [LoadBalance] and [ByHash] ignore deadlines. Under these rules Unfit contains the partitions that were
	// given to a reduce task which then ended after its deadline.
	Unfit []int
	// Seconds is the largest End in seconds: the time of the reduce phase, without the partitions that were left
	// out.
	Seconds float64
}

// Duration returns Seconds as a time.Duration. If Seconds is too large, Duration returns the largest duration.
func (p Plan) Duration() time.Duration {
	d, _ := num.Duration(p.Seconds)
	return d
}

// Balance returns how even the loads of the reduce tasks are, as the function [Balance] defines it.
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
// MarshalJSON returns the whole plan as JSON.
func (p Plan) String() string               { return wire.Line(p.wire) }
func (p Plan) LogValue() slog.Value         { return wire.Log(p.wire) }
func (p Plan) MarshalJSON() ([]byte, error) { return wire.JSON(p.wire) }

// Assign assigns partitions to reduce tasks by the rule that the DynamicShare paper calls Simple Partitions [§4.2].
// It is short for Policy{}.Assign.
func Assign(p Problem) (Plan, error) { return Policy{}.Assign(p) }

// Assign assigns each partition to a reduce task by the policy's rule. If two reduce tasks would end at the same
// time, Assign takes the lower index. It takes partitions of equal size in the order of their indices.
//
// Assign returns an error that names the field, its value and its range in these cases:
//
//   - The rule is unknown.
//   - There is no reduce task, or there are fewer partitions than reduce tasks.
//   - A size is negative, or the sum of the sizes is more than the largest int64.
//   - SecondsPerUnit or a result of Seconds is out of range.
//
// Assign takes O(p log p + p R) for p partitions and R reduce tasks, with at most p R calls of Reducer.Seconds. It
// allocates the plan and two slices of the plan's size. Refine adds at most 100 R exchanges of O(p log p) each, and
// a search of at most 65,536 nodes, which takes about 10 ms.
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

// Validate returns an error for the first field that is out of range. The error contains the name of the field, its
// value and its range.
func (c Policy) Validate() error { return check.Named("skew: Policy", "Rule", c.Rule) }

// MarshalJSON returns the fields that are not zero as JSON, with names in kebab case. UnmarshalJSON reads that
// form.
func (c Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// validate returns an error for the first size or reduce task that is out of range.
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

// validateReducers returns an error for the first reduce task that is out of range, and for fewer partitions than
// reduce tasks.
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
