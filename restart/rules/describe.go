package rules

import (
	"reflect"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/restart"
)

// table contains the policies of this package and of package restart: the name, the zero value, and the facts that
// the policy reads.
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

// Facts is a set of facts that a policy reads, with one bit for each fact. Some facts have no bit, because every
// policy receives them: the plain facts of a task's attempts, and the numbers of tasks and slots of the phase. The
// zero value is the empty set.
type Facts uint16

const (
	// Interval: the policy reads Phase.Interval, the time between progress reports. It must be positive for such a
	// policy.
	Interval Facts = 1 << iota
	// Fresh: the policy reads Task.Fresh, the time of a new attempt.
	Fresh
	// Left: the policy reads Attempt.Left and Attempt.Basis, the remaining time as a distribution. Without this bit,
	// Attempt.Remaining is a plain extrapolation of the progress.
	Left
	// Durations: the policy reads Peers.Durations, the run times of the finished tasks.
	Durations
	// UnitTimes: the policy reads Peers.UnitTimes, the run times of the finished tasks divided by their work.
	UnitTimes
	// ProgressRates: the policy reads Peers.ProgressRates, the progress of the phase's tasks divided by their age.
	ProgressRates
	// Scores: the policy reads Peers.MeanScore, the mean progress score of the phase's tasks.
	Scores
	// Throughput: the policy reads Peers.Throughput, the work that finished tasks did per second.
	Throughput
	// Machines: the policy reads Peers.Machine, the progress of the machine that asks for work.
	Machines
	// Trials: the policy reads Task.Longest, Attempt.Location, Phase.Trials and Phase.Idle. With this
	// bit, the time of a new attempt (t_new) takes into account that a kill on a slow machine gives the slot there to
	// a waiting task: while tasks wait, t_new is computed for at least the slowness of that machine. If the limits
	// bound the slot time that trials may lose, a tracker computes these facts for every policy.
	Trials

	// AllFacts contains the facts that a tracker can compute for any policy. Interval is left out, because your
	// program chooses the interval. Trials is left out, because it changes t_new; a policy that needs this fact must
	// ask for it.
	AllFacts = Fresh | Left | Durations | UnitTimes | ProgressRates | Scores | Throughput | Machines
)

// Has reports whether f contains all the given facts.
func (f Facts) Has(facts Facts) bool { return f&facts == facts }

// Description tells a tracker which facts a policy reads, and how to ask the policy. To describe a policy of your
// own, give it a method Describe() Description. If your policy wraps another policy, return [Describe] of the wrapped
// policy. The zero value reads no facts.
type Description struct {
	// Facts are the facts that the policy reads. A tracker does not compute other facts.
	Facts
	// SlowNode is a percentile, in [0, 1], of the total progress of the machines. A machine whose total is below the
	// percentile gets no copy. 0 means that every machine may get copies.
	SlowNode float64
	// CopiesOnly says two things about the policy. It returns only Copy or Keep. And if it refuses a slot by
	// NoFreeSlot, CapReached or SlowMachine, it refuses the slot to all tasks. Then a tracker asks about one task
	// instead of all tasks.
	CopiesOnly bool
	// Limits are the limits that the policy enforces by itself. A tracker uses each of these limits that is 0 in its
	// own configuration.
	Limits restart.Limits
}

// Describe returns the description of a policy. A nil policy means LeastCost{}. If a policy has no description of its
// own, it is assumed to read all facts. So a wrapper without a description makes the same decisions as the wrapped
// policy. Describe allocates.
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

// Effective returns a policy with each zero field replaced by its default, as the method Effective of its type does. A
// nil policy means LeastCost{}. A policy that is not in this package or package restart is returned as it is. Effective
// allocates.
func Effective(policy restart.Policy) restart.Policy {
	i, v := find(policy)
	if i < 0 {
		return policy
	}
	if method := v.MethodByName("Effective"); method.IsValid() {
		v = method.Call(nil)[0]
	}
	return v.Interface().(restart.Policy)
}

// find returns the index of a policy in the table, and a copy of the policy that can be changed. For a policy that is
// not in the table, the index is -1.
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
