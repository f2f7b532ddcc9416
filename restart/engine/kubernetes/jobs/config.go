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

// Config says which Jobs to run, and how.
type Config struct {
	// Client talks to the API server. It is required.
	Client kubernetes.Interface
	// Manager is the spec.managedBy of the Jobs to run. "" means [Manager].
	Manager string
	// Namespace is where to look. "" means everywhere.
	Namespace string
	// Interval is how often the attempts of a Job are looked at, unless it says so itself. 0 means 10 s.
	Interval time.Duration
	// Policy decides about the Jobs that name none. Nil is the default of package restart.
	Policy restart.Policy
	// Limits hold around every policy. The zero value protects; see restart.Limits.
	Limits restart.Limits
	// ParsePolicy reads [PolicyAnnotation]. Nil means [ParsePolicy].
	ParsePolicy func(text string) (restart.Policy, error)
	// Record is what is known of the nodes, whose numbers are the controller's: a node that is gone keeps its own. Nil:
	// a record of its own, which is begun anew when most of a thousand nodes or more are gone.
	Record tracker.MachineRecord
	// Evict has the controller look after Jobs with [EvictAnnotation] that the built-in controller runs, too.
	Evict bool
	// Taint is how nodes are marked that the record calls slow. Its zero value marks none.
	Taint Taint
	// Workers is how many Jobs are worked on at once. 0 means 8.
	Workers int
	// Events takes what is decided, as events of the Job. Nil: events of the API server.
	Events record.EventRecorder
	// Registry takes the metrics. Nil: they are counted and not shown.
	Registry prometheus.Registerer
	// Now is the clock. Nil: the machine's.
	Now func() time.Time
}

// Taint says how slow nodes are marked, for the scheduler, for Kueue, and for people.
type Taint struct {
	// Effect is NoSchedule, or PreferNoSchedule, or "": no node is tainted.
	Effect v1.TaintEffect
	// For is how long a taint stays. Then the node may show that it is better, and has its taint again if not. 0 means
	// an hour.
	For time.Duration
	// Share is how many of the nodes may be tainted at once, at least one. 0 means 0.1.
	Share float64
}

const (
	defaultInterval = 10 * time.Second
	defaultWorkers  = 8
	defaultTaintFor = time.Hour
	defaultShare    = 0.1
)

func (c *Config) fill() error {
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("kubernetes/jobs: Config: %s is %v, want %s", field, value, want)
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

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
