package jobs

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config is the configuration of a [Controller]. Only the field Client is required.
type Config struct {
	// Client is the client for the API server. This field is required.
	Client kubernetes.Interface
	// Manager is the name of the controller: it runs the Jobs whose spec.managedBy is this name. "" means [Manager].
	Manager string
	// Namespace is the namespace of the Jobs to run. "" means all namespaces.
	Namespace string
	// Interval is the longest time between two syncs of a Job. At each sync the policy decides about slow pods. A Job
	// may have its own interval in [IntervalAnnotation]. Interval must be 100 ms or more, or 0, which means 10 s.
	Interval time.Duration
	// Policy decides which slow pods are copied or restarted. A Job may have its own policy in [PolicyAnnotation].
	// Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bounds copies and restarts, whatever the policy decides. In the zero value each limit has the default
	// that restart.Limits documents.
	Limits restart.Limits
	// Shadow makes the controller decide about slow pods without acting, for all Jobs without [ShadowAnnotation].
	Shadow bool
	// OnAction is called with each pod that the controller is about to make or delete for a Job by an action of package
	// engine. If a request to the API server fails, the action is repeated. Several goroutines may call OnAction at the
	// same time. Nil means that no function is called.
	OnAction func(job *batchv1.Job, a engine.Action)
	// Journal keeps a journal of each Job. OnEnd gets it.
	Journal bool
	// OnEnd is called when a Job has ended. Several goroutines may call it at the same time. Nil means that no function
	// is called.
	OnEnd func(Summary)
	// Configure is called with the configuration of each Job's phase before the phase begins. It may set the fields
	// that Config does not have, such as Order or Budget. It must not change the Job. Nil changes nothing.
	Configure func(job *batchv1.Job, c *engine.Config)
	// ParsePolicy returns the policy that the text of a [PolicyAnnotation] describes. Nil means the function
	// [ParsePolicy].
	ParsePolicy func(text string) (restart.Policy, error)
	// Knowledge is what the phases of all Jobs learn: how fast each node is, and what Configure gives a Kind. The
	// controller gives each node a number. A node that was removed from the cluster keeps its number. Nil means that
	// the controller makes a Knowledge of its own. It is cleared when more than 1,000 nodes are known and at least half
	// of these nodes were removed from the cluster.
	Knowledge *tracker.Knowledge
	// Evict makes the controller evict slow pods of Jobs that the built-in controller runs, if the Jobs have
	// [EvictAnnotation].
	Evict bool
	// Taint says whether slow nodes get a taint, and for how long. In the zero value, slow nodes get no taint. With
	// Evict, a node from which a pod was evicted always gets a taint for a minute.
	Taint Taint
	// Workers is the number of Jobs that may be synced at the same time. 0 means 8.
	Workers int
	// Events receives the events that the controller records about a Job, such as its decisions. Nil means that they
	// become Event objects in the API server.
	Events record.EventRecorder
	// Registry is the Prometheus registry in which [New] registers the metrics of the controller. Nil means that they
	// are not registered.
	Registry prometheus.Registerer
	// Now returns the present time. Nil means time.Now.
	Now func() time.Time
}

// Summary sums up a Job that has ended.
type Summary struct {
	Job    *batchv1.Job // as it was when it ended
	Ledger tracker.Ledger
	// Bill says how much time the policy would have saved, in shadow mode. See package shadow. Its times begin when the
	// first pod has begun.
	Bill shadow.Bill
	// Journal is the journal, if Config.Journal is set. Packages restart/journal and restart/restarttest read it.
	Journal []byte
}

// Taint says whether slow nodes get the taint [SlowTaint], and for how long. The scheduler and Kueue respect the
// taint, and it shows people which nodes are slow.
type Taint struct {
	// Effect is the effect of the taint: NoSchedule or PreferNoSchedule. "" means that slow nodes get no taint.
	Effect v1.TaintEffect
	// For is how long a taint stays on a node. After that the node gets pods again. If the pods show that the node is
	// still slow, the controller taints it again. 0 means an hour.
	For time.Duration
	// Share limits how many nodes may have the taint at the same time, as a share of all nodes, below 1. One tainted
	// node is always allowed. 0 means 0.1.
	Share float64
}

const (
	defaultInterval = 10 * time.Second
	defaultWorkers  = 8
	defaultTaintFor = time.Hour
	defaultShare    = 0.1
)

// fill sets the defaults of the fields that are zero. It returns an error if a field is out of range.
func (c *Config) fill() error {
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("kubernetes/jobs: Config.%s is %v, want %s", field, value, want)
	}
	t := c.Taint
	switch {
	case c.Client == nil:
		return bad("Client", nil, "a client")
	case c.Interval != 0 && c.Interval < minInterval:
		return bad("Interval", c.Interval, minInterval.String()+" or more, or 0 for the default")
	case c.Workers < 0:
		return bad("Workers", c.Workers, "a positive number, or 0 for the default")
	case t.Effect != "" && t.Effect != v1.TaintEffectNoSchedule && t.Effect != v1.TaintEffectPreferNoSchedule:
		return bad("Taint.Effect", t.Effect, "NoSchedule, PreferNoSchedule, or none")
	case t.For < 0:
		return bad("Taint.For", t.For, "a positive duration, or 0 for the default")
	case !(t.Share >= 0 && t.Share < 1):
		return bad("Taint.Share", t.Share, "a share in (0, 1), or 0 for the default")
	}
	if err := c.Limits.Validate(); err != nil {
		return fmt.Errorf("kubernetes/jobs: Config.Limits: %w", err)
	}
	if err := restart.Validate(c.Policy); err != nil {
		return fmt.Errorf("kubernetes/jobs: Config.Policy: %w", err)
	}
	c.Manager = or(c.Manager, Manager)
	c.Interval = or(c.Interval, defaultInterval)
	c.Workers = or(c.Workers, defaultWorkers)
	c.Taint.For = or(c.Taint.For, defaultTaintFor)
	c.Taint.Share = or(c.Taint.Share, defaultShare)
	if c.ParsePolicy == nil {
		c.ParsePolicy = ParsePolicy
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// or returns value if it is not zero, and else the argument otherwise.
func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
