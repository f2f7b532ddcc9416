package clone

import (
	"cmp"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// EstimatorConfig is the configuration of an [Estimator]. Its zero value has the paper's parameters.
type EstimatorConfig struct {
	// Period is the time for which an estimate is valid before a new estimate replaces it. 0 means one hour.
	Period time.Duration
	// Slow is a share of the median progress rate of a phase, in (0, 1]. A task with a rate below this share is a
	// straggler. 0 means 0.5.
	Slow float64
	// MinTasks is the number of tasks that an estimate needs, at least 1. A period with fewer tasks continues into the
	// next. 0 means 100. The paper states no value; with 100 tasks, the standard error of p = 0.1 is 0.03.
	MinTasks int
}

// Effective returns the configuration with its defaults filled in.
func (c EstimatorConfig) Effective() EstimatorConfig {
	c.Period = check.Or(c.Period, time.Hour)
	c.Slow = check.Or(c.Slow, 0.5)
	c.MinTasks = check.Or(c.MinTasks, 100)
	return c
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (c EstimatorConfig) Validate() error {
	const place = "clone: EstimatorConfig"
	return cmp.Or(
		check.Length(place, "Period", c.Period),
		check.Share(place, "Slow", c.Slow, false),
		check.Count(place, "MinTasks", c.MinTasks, false),
	)
}

// String returns the configuration in one line. LogValue, for log/slog, and MarshalJSON have the same fields. UnmarshalJSON
// reads the JSON.
func (c EstimatorConfig) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c EstimatorConfig) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c EstimatorConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *EstimatorConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Estimator learns p, the probability that a task straggles, from the progress rates of finished phases. p is the share of
// tasks with a rate below half the median rate of their phase. A new estimate is made every hour [Dolly §2.1.1, §3.2].
//
// The zero value is an Estimator with the defaults. The host supplies all times. If its clock steps back, no time passes
// at the step, and the next time is measured from there. Not safe for concurrent use; a cluster needs one Estimator.
type Estimator struct {
	config      EstimatorConfig
	period      period
	slow, tasks int     // stragglers and tasks in the current period
	p           float64 // the estimate of the latest period with enough tasks
	known       bool
	sorted      []float64 // scratch
}

// NewEstimator returns an Estimator without an estimate. The error names the field that is out of range.
func NewEstimator(c EstimatorConfig) (*Estimator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Estimator{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (e *Estimator) Config() EstimatorConfig { return e.config.Effective() }

// Observe records the progress rates of all attempts of a phase that has ended. The result is the rate below which an
// attempt of this phase straggled. With this rate the host can tell [Blacklist.Observe] whether each attempt
// straggled. A phase with fewer than two rates does not count, and its result is 0.
//
// A progress rate is work divided by time, in any unit. Include the killed attempts with their work so far over their
// age. Without the killed attempts, the estimate would miss the stragglers that were killed because another clone was
// faster. Observe ignores rates that are negative or not finite. The median of an even number of rates is the mean of
// the middle two.
//
// O(k log k) for k rates; it allocates only for a phase that is larger than every phase before.
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

// P returns p and whether p is known. p comes from the latest period with enough tasks. Before the first such period,
// p comes from the current period if this period has MinTasks tasks or more. An unknown p is NaN, and [Budget.Admit]
// then clones no job. O(1), no allocation.
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

// roll closes the current period if the period is over and has enough tasks.
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
