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

// EstimatorConfig holds the choices of an [Estimator]. Its zero value has the paper's parameters.
type EstimatorConfig struct {
	// Period is how long the estimate stands before a new one is made. 0 means an hour.
	Period time.Duration
	// Slow is the share of the median progress rate of its phase below which a task is a straggler, in (0, 1]. 0 means
	// 0.5.
	Slow float64
	// MinTasks is how many tasks an estimate needs; a period with fewer runs on into the next. 0 means 100. The paper
	// gives none; with 100 tasks a p of 0.1 is known to about 0.03.
	MinTasks int
}

// Effective returns the configuration with its defaults filled in.
func (c EstimatorConfig) Effective() EstimatorConfig {
	c.Period = check.Or(c.Period, time.Hour)
	c.Slow = check.Or(c.Slow, 0.5)
	c.MinTasks = check.Or(c.MinTasks, 100)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c EstimatorConfig) Validate() error {
	const place = "clone: EstimatorConfig"
	return cmp.Or(
		check.Length(place, "Period", c.Period),
		check.Share(place, "Slow", c.Slow, false),
		check.Count(place, "MinTasks", c.MinTasks, false),
	)
}

// String returns the configuration as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON,
// which UnmarshalJSON reads, have the same fields.
func (c EstimatorConfig) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c EstimatorConfig) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c EstimatorConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *EstimatorConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
func (c *EstimatorConfig) UnmarshalText(line []byte) error { return wire.Scan(line, c, wire.Struct) }

// Estimator learns p, the probability that a task straggles, from the progress rates of finished phases: the share of
// tasks that progressed at less than half the median rate of their phase, made again every hour [Dolly §2.1.1, §3.2].
//
// The zero value is an Estimator with the defaults. Times come from the host; time goes on from where its clock steps
// back to. Not safe for concurrent use; one per cluster.
type Estimator struct {
	config      EstimatorConfig
	period      period
	slow, tasks int     // in the present period
	p           float64 // of the latest period that was long enough
	known       bool
	sorted      []float64 // scratch
}

// NewEstimator returns an Estimator without an estimate, or an error that names the field that is out of range.
func NewEstimator(c EstimatorConfig) (*Estimator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Estimator{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (e *Estimator) Config() EstimatorConfig { return e.config.Effective() }

// Observe records the progress rates of all copies of a phase that has ended, and returns the rate below which a copy
// of this phase straggled, as [Blacklist.Observe] takes it for each; 0 if the phase says nothing. A
// progress rate is work done per time, in any unit. A copy that was killed has one too, its work so far over its age:
// leave those out and cloning hides the stragglers that it saved the job from. Rates that are negative or not finite
// are no rates, and a phase with fewer than two rates says nothing. The median of an even number is the mean of the
// middle two.
//
// O(k log k) with k rates; allocates only when a phase is larger than any before.
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

// P returns p, and whether it is known: of the latest period that was long enough, or before there is one, of what was
// seen so far if that is MinTasks or more. It is NaN if it is not known, which [Budget.Admit] understands. O(1), no
// allocation.
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

// roll closes the present period if it is over and has seen enough.
func (e *Estimator) roll(now time.Time) {
	if e.config.Period == 0 { // of the zero Estimator
		e.config = e.Config()
	}
	if e.period.roll(now, e.config.Period) == 0 || e.tasks < e.config.MinTasks {
		return
	}
	e.p, e.known = float64(e.slow)/float64(e.tasks), true
	e.slow, e.tasks = 0, 0
}
