package rules

import (
	"reflect"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/restart"
)

// table is the one place that knows the policies by name: those of this package and of package restart.
var table = [...]struct {
	name  string
	zero  restart.Policy
	reads Facts
}{
	{"mantri", restart.Mantri{}, Interval | Fresh | Left},
	{"never", restart.Never{}, 0},
	{"late", LATE{}, ProgressRates | Machines},
	{"hadoop", Hadoop{}, Scores},
	{"mapreduce", MapReduce{}, 0},
	{"dryad", Dryad{}, Durations},
	{"spark", Spark{}, Durations | Throughput},
	{"flink", Flink{}, Durations | UnitTimes},
	{"least-cost", restart.LeastCost{}, Interval | Fresh | Left | Trials},
	{"sda", SDA{}, Fresh | Left},
	{"ese", ESE{}, Fresh | Left},
}

// Facts are what a policy reads besides the plain facts of a task's copies and the counts of the phase, as a set of
// bits.
type Facts uint16

const (
	// Interval: Phase.Interval, which must be positive then.
	Interval Facts = 1 << iota
	// Fresh: Task.Fresh.
	Fresh
	// Left: Attempt.Left and Attempt.Basis. Without it Attempt.Remaining is plain extrapolation.
	Left
	// Durations: Peers.Durations.
	Durations
	// UnitTimes: Peers.UnitTimes.
	UnitTimes
	// ProgressRates: Peers.ProgressRates.
	ProgressRates
	// Scores: Peers.MeanScore.
	Scores
	// Throughput: Peers.Throughput.
	Throughput
	// Machines: Peers.Machine.
	Machines
	// Trials: Task.Trial, Task.Longest, Attempt.Location, Phase.Trials and Phase.Idle, and a t_new in which the exchange of slots
	// counts. While trials are bounded, a tracker keeps them for every policy.
	Trials

	// AllFacts are all that a tracker can keep. Interval is not among them: it is a choice of the host. Nor is Trials: it
	// changes what t_new is, so a policy that wants it says so.
	AllFacts = Fresh | Left | Durations | UnitTimes | ProgressRates | Scores | Throughput | Machines
)

// Has reports whether all the given facts are among f.
func (f Facts) Has(facts Facts) bool { return f&facts == facts }

// Description is what a tracker wants to know of a policy: which facts to keep, and how to ask. A policy of your own may
// say it by a method Describe() Description; one that wraps another hands on what [Describe] says of that.
type Description struct {
	// Facts are those that it reads. A tracker keeps no others.
	Facts
	// SlowNode is the percentile of the machines' total progress below which a machine gets no copy; 0 for none.
	SlowNode float64
	// CopiesOnly says that it answers Duplicate or Keep and nothing else, and that it refuses a slot to all tasks or to
	// none: by NoFreeSlot, CapReached or SlowMachine. A tracker then asks about one task and not about all.
	CopiesOnly bool
	// Limits are those that it keeps by itself. A tracker takes each of them that its own configuration leaves 0.
	Limits restart.Limits
}

// Describe returns what a policy says of itself. A nil policy is LeastCost{}. One that says nothing is taken to read all
// facts: so it decides as the policy that it may wrap. It allocates.
func Describe(policy restart.Policy) Description {
	i, v := find(policy)
	if i < 0 {
		if own, ok := policy.(interface{ Describe() Description }); ok && !check.Nil(policy) {
			return own.Describe()
		}
		return Description{Facts: AllFacts}
	}
	d := Description{Facts: table[i].reads, CopiesOnly: true}
	switch p := v.Interface().(type) {
	case restart.LeastCost:
		d.CopiesOnly = false
	case restart.Mantri:
		d.CopiesOnly, d.Limits = false, restart.Limits{Restarts: p.MaxRestarts, Copies: p.MaxCopies}
	case LATE:
		d.SlowNode = max(p.Effective().SlowNode, 0)
	}
	return d
}

// find returns the place of a policy in the table and a copy of it that can be set; -1 for one of the host's own.
func find(policy restart.Policy) (int, reflect.Value) {
	if policy == nil {
		policy = restart.LeastCost{}
	}
	of := reflect.ValueOf(policy)
	if of.Kind() == reflect.Pointer && !of.IsNil() {
		of = of.Elem()
	}
	for i := range table {
		if of.Type() == reflect.TypeOf(table[i].zero) {
			v := reflect.New(of.Type()).Elem()
			v.Set(of)
			return i, v
		}
	}
	return -1, reflect.Value{}
}
