package rules

import (
	"reflect"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/restart"
)

// table names the policies of this package and of package restart, and the facts that each reads.
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

// Facts is a set of bits for the facts that a policy reads. Every policy also gets the plain facts of a task's
// attempts and the counts of the phase, which have no bits. The zero value is the empty set.
type Facts uint16

const (
	// Interval: Phase.Interval, which must be positive for such a policy.
	Interval Facts = 1 << iota
	// Fresh: Task.Fresh.
	Fresh
	// Left: Attempt.Left and Attempt.Basis. Without this bit, Attempt.Remaining is plain extrapolation.
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
	// Trials: Task.Trial, Task.Longest, Attempt.Location, Phase.Trials and Phase.Idle, and a t_new that counts
	// the exchange of slots. If the loss by trials is bounded, a tracker keeps these facts for every policy.
	Trials

	// AllFacts are the facts that a tracker can keep for any policy. Interval is not among them, because your
	// program chooses it. Trials is not among them, because it changes t_new; a policy that wants it must ask
	// for it.
	AllFacts = Fresh | Left | Durations | UnitTimes | ProgressRates | Scores | Throughput | Machines
)

// Has reports whether f contains all the given facts.
func (f Facts) Has(facts Facts) bool { return f&facts == facts }

// Description tells a tracker which facts a policy reads and how to ask it. A custom policy may give its own by
// a method Describe() Description. A policy that wraps another policy should return [Describe] of the wrapped
// one. The zero value reads no facts.
type Description struct {
	// Facts are the facts that the policy reads. A tracker keeps no others.
	Facts
	// SlowNode is the percentile of the machines' total progress, in [0, 1], below which a machine gets no
	// copy. 0: no such percentile.
	SlowNode float64
	// CopiesOnly says two things about the policy: it answers only Copy or Keep, and it refuses a slot either
	// to all tasks or to none, by NoFreeSlot, CapReached or SlowMachine. Then a tracker asks about one task
	// instead of all.
	CopiesOnly bool
	// Limits are the limits that the policy keeps by itself. A tracker takes each limit that its own
	// configuration leaves 0.
	Limits restart.Limits
}

// Describe returns the description of a policy. A nil policy is LeastCost{}. A policy without a description of
// its own counts as reading all facts; so a wrapper without a description decides like the policy that it
// wraps. Describe allocates.
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

// find returns a policy's index in the table and a copy that can be set; -1 for a custom policy.
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
