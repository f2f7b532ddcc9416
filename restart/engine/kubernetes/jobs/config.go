package jobs

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config is the configuration of a [Controller]. Only Client is required.
type Config struct {
	// Client talks to the API server. Client is required.
	Client kubernetes.Interface
	// Manager is the spec.managedBy of the Jobs to run. "" means [Manager].
	Manager string
	// Namespace is the namespace of the Jobs to run. "" means all namespaces.
	Namespace string
	// Interval is the time between two polls of a Job without [IntervalAnnotation]. Interval is at least 100 ms. 0 means
	// 10 s.
	Interval time.Duration
	// Policy decides about slow attempts of Jobs without [PolicyAnnotation]. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bound every policy. The zero value is the protective default of each limit; see restart.Limits.
	Limits restart.Limits
	// ParsePolicy reads [PolicyAnnotation]. Nil means [ParsePolicy].
	ParsePolicy func(text string) (restart.Policy, error)
	// Record is the record of the nodes. The controller numbers the nodes, and a node that is gone keeps its number. Nil
	// means a record of the controller's own, which begins anew when more than 1,000 nodes are known and most nodes among
	// these are gone.
	Record tracker.MachineRecord
	// Evict makes the controller evict slow pods of the built-in controller's Jobs with [EvictAnnotation].
	Evict bool
	// Taint says how slow nodes are tainted. The zero value taints none.
	Taint Taint
	// Workers is how many Jobs are synced at once. 0 means 8.
	Workers int
	// Events receives the decisions, as events of the Job. Nil means events of the API server.
	Events record.EventRecorder
	// Registry registers the metrics. Nil means that nobody reads them.
	Registry prometheus.Registerer
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Taint says how slow nodes are tainted. The scheduler and Kueue respect the taint, and people see it.
type Taint struct {
	// Effect is NoSchedule or PreferNoSchedule. "" means that no node is tainted.
	Effect v1.TaintEffect
	// For is how long a taint stays. After that the node gets pods again, and is tainted again if it is still slow. 0 means
	// an hour.
	For time.Duration
	// Share is the share of the nodes that may be tainted at once, below 1. One node may always be tainted. 0 means 0.1.
	Share float64
}

const (
	defaultInterval = 10 * time.Second
	defaultWorkers  = 8
	defaultTaintFor = time.Hour
	defaultShare    = 0.1
)

// fill fills in the defaults, and returns an error for the first field that is out of range.
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

// or returns value, or otherwise if value is zero.
func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
