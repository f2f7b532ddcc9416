package clone

import (
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// EstimatorConfig is the configuration of an [Estimator]. The zero value has the paper's parameters.
type EstimatorConfig struct {
	// Period is the time after which a new estimate replaces the old estimate. Zero means one hour.
	Period time.Duration `want:"length" default:"1h"`
	// Slow is a share of the median progress rate of a phase, in (0, 1]. A task straggles if its progress rate is
	// below this share of the median. Zero means 0.5.
	Slow float64 `want:"share" default:"0.5"`
	// MinTasks is the number of tasks that an estimate needs, at least 1. If a period has fewer tasks, they are
	// included in the next period. Zero means 100. The paper states no value. With 100 tasks, an estimate of 0.1
	// has the standard error 0.03.
	MinTasks int `want:"count" default:"100"`
}

// Effective returns the configuration with its zero fields replaced by their defaults.
func (c EstimatorConfig) Effective() EstimatorConfig { return check.Filled(c) }

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c EstimatorConfig) Validate() error { return check.Valid(c) }

// String returns the configuration as one line. LogValue returns the same fields for log/slog. MarshalJSON writes the
// same fields, and UnmarshalJSON reads the JSON.
func (c EstimatorConfig) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c EstimatorConfig) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c EstimatorConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *EstimatorConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Estimator estimates the probability that a task straggles, which the paper calls p. The estimate is the share of
// tasks whose progress rate was below half the median rate of their phase. The Estimator makes a new estimate
// every hour [Dolly §2.1.1, §3.2].
//
// The zero value is an Estimator with the default configuration. The host passes the time to each call. If its
// clock steps back, no time has passed, and the next time is measured from the new instant. An Estimator is not
// safe for concurrent use. Use one Estimator for each cluster.
type Estimator struct {
	config      EstimatorConfig
	period      period
	slow, tasks int     // stragglers, and all tasks, in the current period
	p           float64 // the estimate from the latest period with enough tasks
	known       bool
	sorted      []float64 // scratch space
}

// NewEstimator returns an Estimator that has no estimate yet. It returns an error for the first field of c that is
// out of range.
func NewEstimator(c EstimatorConfig) (*Estimator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Estimator{config: c.Effective()}, nil
}

// Config returns the configuration with its zero fields replaced by their defaults.
func (e *Estimator) Config() EstimatorConfig { return e.config.Effective() }

// Observe records the progress rates of all attempts of a phase that has ended. The result is a progress rate: an
// attempt of this phase straggled if its rate is below the result. Use the result to call [Blacklist.Observe] for
// each attempt. A phase with fewer than two rates is ignored, and its result is 0.
//
// A progress rate is work divided by time, in any unit. Include attempts that were killed: their rate is the work
// that they had done, divided by their age. Otherwise the estimate would not include stragglers that were killed
// because another clone was faster. Observe ignores rates that are negative or not finite. The median of an even
// number of rates is the mean of the two middle rates.
//
// Cost: O(k log k) for k rates. Observe allocates only for a phase that is larger than every phase before.
func (e *Estimator) Observe(now time.Time, rates []float64) (slow float64) {
	e.roll(now)
	e.sorted = e.sorted[:0]
	for _, r := range rates {
		if r >= 0 && !math.IsInf(r, 1) {
			e.sorted = append(e.sorted, r)
		}
	}
	k := len(e.sorted)
	if k < 2 {
		return 0
	}
	slices.Sort(e.sorted)
	median := float64(e.sorted[(k-1)/2]/2) + float64(e.sorted[k/2]/2)
	slow = e.config.Slow * median
	stragglers, _ := slices.BinarySearch(e.sorted, slow)
	e.slow += stragglers
	e.tasks += k
	return slow
}

// P returns the probability p that a task straggles, and whether p is known. p is the estimate from the latest
// period with enough tasks. Before the first such period, p comes from the current period if it has at least
// MinTasks tasks. If p is unknown, it is NaN, and [Budget.Admit] then clones no job. Cost: O(1), no allocation.
func (e *Estimator) P(now time.Time) (p float64, known bool) {
	e.roll(now)
	switch {
	case e.known:
		return e.p, true
	case e.tasks >= e.config.MinTasks:
		return float64(e.slow) / float64(e.tasks), true
	}
	return math.NaN(), false
}

// roll makes a new estimate and starts a new period, if the current period is over and has enough tasks.
func (e *Estimator) roll(now time.Time) {
	if e.config.Period == 0 { // true only for the zero Estimator
		e.config = e.Config()
	}
	if e.period.roll(now, e.config.Period) == 0 || e.tasks < e.config.MinTasks {
		return
	}
	e.p, e.known = float64(e.slow)/float64(e.tasks), true
	e.slow, e.tasks = 0, 0
}
