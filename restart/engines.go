package restart

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Dryad duplicates a task once it has run for longer, strictly, than the 75th percentile of its phase's finished tasks,
// as the comparison of [Mantri §6] has it. It does so whether tasks wait or not, which is why it can make a phase longer.
// Gain is the time beyond the percentile. Safe for concurrent use.
type Dryad struct {
	// Percentile of the finished tasks' run times, in (0, 1]. 0 means 0.75.
	Percentile float64
	// MinFinished is how many tasks must have finished before there is a percentile. 0 means 4, the least number of which
	// a quarter is a task; the paper gives none.
	MinFinished int
}

// Effective returns the policy with its defaults filled in, for logs.
func (y Dryad) Effective() Dryad {
	y.Percentile = orDefault(y.Percentile, 0.75)
	if y.MinFinished == 0 {
		y.MinFinished = 4
	}
	return y
}

// Validate reports the first field that is out of range, with its value and its range.
func (y Dryad) Validate() error {
	if y.MinFinished < 0 {
		return badField("Dryad", "MinFinished", y.MinFinished, "a positive number, or 0 for the default")
	}
	return checkShare("Dryad", "Percentile", y.Percentile, false)
}

// Decide says whether the task is a candidate for a copy. One quantile, no allocation.
func (y Dryad) Decide(t Task, p Phase) Decision {
	y = y.Effective()
	if reason := single(t); reason != NoReason {
		return Decision{Reason: reason}
	}
	if p.Finished < y.MinFinished {
		return Decision{Reason: TooFewFinished, Value: float64(p.Finished), Threshold: float64(y.MinFinished)}
	}
	if p.Peers.Durations == nil {
		return Decision{Reason: NoEstimate}
	}
	bar := p.Peers.Durations.Quantile(y.Percentile)
	d := beyond(t.Copies[0].Elapsed.Seconds(), bar, false)
	if d.Action == Duplicate && p.FreeSlots <= 0 {
		return Decision{Reason: NoFreeSlot, Value: d.Value, Threshold: d.Threshold}
	}
	return d.placed(t, p)
}

// Spark is the rule of Apache Spark 4's TaskSetManager. Its zero value has Spark's defaults. Safe for concurrent use.
//
// Once max(floor(Quantile*tasks), 1) tasks have finished, a task with one copy is marked if it has run for longer,
// strictly, than max(Multiplier*median, MinRuntime), where the median of n run times is the one at index n/2, the upper
// of two middle ones; and, if Efficiency is on, if it has run LongRun times that or its
// work per second is below SlowRate times that of the finished tasks. Until any work is known, every task counts as
// inefficient, as in Spark. A phase of one task is left alone. Before enough tasks have finished, Duration applies, if it
// is set, to phases of at most ExecutorSlots tasks. Marked tasks get a copy only when no task waits. A copy avoids every
// machine that ran an attempt. Gain is the time beyond the threshold; Spark itself does not rank.
type Spark struct {
	// Quantile is the share of tasks that must have finished, in (0, 1]. 0 means 0.9 (0.75 before Spark 4).
	Quantile float64
	// Multiplier of the median run time. 0 means 3 (1.5 before Spark 4).
	Multiplier float64
	// MinRuntime is the least threshold. 0 means 100 ms; Off: none.
	MinRuntime time.Duration
	// Duration is spark.speculation.task.duration.threshold. 0, the default, leaves it unset.
	Duration time.Duration
	// ExecutorSlots is how many tasks one executor runs at once; read with Duration only. 0 means 1.
	ExecutorSlots int
	// SlowRate is the efficiency below which a task is slow, against the finished tasks' mean. 0 means 0.75; Off turns
	// the efficiency test off.
	SlowRate float64
	// LongRun is the multiple of the threshold beyond which efficiency is not asked. 0 means 2.
	LongRun float64
}

// Effective returns the policy with its defaults filled in, for logs.
func (s Spark) Effective() Spark {
	s.Quantile = orDefault(s.Quantile, 0.9)
	s.Multiplier = orDefault(s.Multiplier, 3)
	s.SlowRate = orDefault(s.SlowRate, 0.75)
	s.LongRun = orDefault(s.LongRun, 2)
	if s.MinRuntime == 0 {
		s.MinRuntime = 100 * time.Millisecond
	}
	if s.ExecutorSlots == 0 {
		s.ExecutorSlots = 1
	}
	return s
}

// Validate reports the first field that is out of range, with its value and its range.
func (s Spark) Validate() error {
	if err := checkShare("Spark", "Quantile", s.Quantile, false); err != nil {
		return err
	}
	if s.SlowRate != Off {
		if err := checkFactor("Spark", "SlowRate", s.SlowRate); err != nil {
			return err
		}
	}
	if err := checkFactor("Spark", "Multiplier", s.Multiplier); err != nil {
		return err
	}
	if err := checkFactor("Spark", "LongRun", s.LongRun); err != nil {
		return err
	}
	if s.Duration < 0 {
		return badField("Spark", "Duration", s.Duration, "a positive duration, or 0 for none")
	}
	if s.ExecutorSlots < 0 {
		return badField("Spark", "ExecutorSlots", s.ExecutorSlots, "a positive number, or 0 for the default")
	}
	return checkAge("Spark", "MinRuntime", s.MinRuntime)
}

// Decide says whether the task is marked for a copy. Two quantiles at most, no allocation.
func (s Spark) Decide(t Task, p Phase) Decision {
	s = s.Effective()
	if reason := single(t); reason != NoReason {
		return Decision{Reason: reason}
	}
	c := &t.Copies[0]
	elapsed := c.Elapsed.Seconds()
	enough := max(math.Floor(s.Quantile*float64(p.Tasks)), 1)
	var d Decision
	switch {
	case p.Tasks > 1 && float64(p.Finished) >= enough:
		if p.Peers.Durations == nil {
			return Decision{Reason: NoEstimate}
		}
		median := order(p.Peers.Durations, p.Finished/2, p.Finished)
		threshold := max(s.Multiplier*median, max(s.MinRuntime, 0).Seconds())
		d = beyond(elapsed, threshold, false)
		if d.Action == Duplicate && !(elapsed > s.LongRun*threshold) && !s.inefficient(c, p) {
			d = Decision{Reason: NotSlow, Value: d.Value, Threshold: d.Threshold}
		}
	case s.Duration > 0 && p.Tasks <= s.ExecutorSlots:
		d = beyond(elapsed, s.Duration.Seconds(), false)
	default:
		return Decision{Reason: TooFewFinished, Value: float64(p.Finished), Threshold: enough}
	}
	if reason := slot(p); d.Action == Duplicate && reason != NoReason {
		return Decision{Reason: reason, Value: d.Value, Threshold: d.Threshold}
	}
	return d.placed(t, p)
}

func (s Spark) inefficient(c *Copy, p Phase) bool {
	if s.SlowRate == Off || !(p.Peers.Throughput > 0) {
		return true
	}
	return c.Done/c.Elapsed.Seconds() < p.Peers.Throughput*s.SlowRate
}

// order returns the i-th smallest of n values, counted from 0, from their distribution.
func order(d estimate.Distribution, i, n int) float64 {
	if e, ok := d.(*estimate.Empirical); ok {
		return e.At(i)
	}
	return d.Quantile((float64(i) + 0.5) / float64(n))
}

// Flink is the rule of Apache Flink's execution-time based slow-task detector. Its zero value has Flink's defaults. Safe
// for concurrent use.
//
// Once the finished share reaches Ratio, a task with one copy is slow if it has run for at least LowerBound and its key is
// at least Multiplier times the baseline: neither test is strict. The baseline is the middle one, at index k/2, of the k
// = round(tasks*Ratio) smallest keys of finished tasks. The key is the run time, or the time per unit of work where both
// Peers.Rates and the task's work are known. Gain is the time beyond the baseline; Flink itself does not rank. Flink
// keeps new work off the slow task's machine for a minute; Avoid names that machine.
type Flink struct {
	// Ratio is the share of tasks that must have finished, in (0, 1]. 0 means 0.75.
	Ratio float64
	// Multiplier of the baseline. 0 means 1.5.
	Multiplier float64
	// LowerBound is the least run time of a slow task. 0 means a minute; Off: none.
	LowerBound time.Duration
}

// Effective returns the policy with its defaults filled in, for logs.
func (f Flink) Effective() Flink {
	f.Ratio = orDefault(f.Ratio, 0.75)
	f.Multiplier = orDefault(f.Multiplier, 1.5)
	if f.LowerBound == 0 {
		f.LowerBound = time.Minute
	}
	return f
}

// Validate reports the first field that is out of range, with its value and its range.
func (f Flink) Validate() error {
	if err := checkShare("Flink", "Ratio", f.Ratio, false); err != nil {
		return err
	}
	if err := checkFactor("Flink", "Multiplier", f.Multiplier); err != nil {
		return err
	}
	return checkAge("Flink", "LowerBound", f.LowerBound)
}

// Decide says whether the task is slow. One quantile, no allocation.
func (f Flink) Decide(t Task, p Phase) Decision {
	f = f.Effective()
	if reason := single(t); reason != NoReason {
		return Decision{Reason: reason}
	}
	elapsed := t.Copies[0].Elapsed
	keys, key := p.Peers.Durations, elapsed.Seconds()
	if p.Peers.Rates != nil && t.Work > 0 {
		keys, key = p.Peers.Rates, elapsed.Seconds()/t.Work
	}
	if share := finishedShare(p); share <= 0 || share < f.Ratio {
		return Decision{Reason: TooFewFinished, Value: share, Threshold: f.Ratio}
	}
	if keys == nil {
		return Decision{Reason: NoEstimate}
	}
	if elapsed < f.LowerBound {
		return Decision{Reason: TooYoung, Value: elapsed.Seconds(), Threshold: f.LowerBound.Seconds()}
	}
	k := min(math.Floor(f.Ratio*float64(p.Tasks)+0.5), float64(p.Finished))
	d := beyond(key, f.Multiplier*order(keys, int(k)/2, p.Finished), true)
	if d.Action == Duplicate && p.FreeSlots <= 0 {
		return Decision{Reason: NoFreeSlot, Value: d.Value, Threshold: d.Threshold}
	}
	return d.placed(t, p)
}
