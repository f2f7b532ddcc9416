package rules

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Dryad copies a task once it has run for longer, strictly, than the 75th percentile of its phase's finished
// tasks. The rule follows the comparison of [Mantri §6]. Dryad does so whether tasks wait or not, and this can
// make a phase longer. Gain is the time beyond the percentile. The zero value has the published percentile.
// Safe for concurrent use.
type Dryad struct {
	// Percentile is the percentile of the finished tasks' run times, in (0, 1]. 0 means 0.75.
	Percentile float64
	// MinFinished is the number of tasks that must have finished before the rule applies. 0 means 4: of four
	// tasks a quarter is one task. The paper gives no number.
	MinFinished int
}

// Effective returns the policy with its defaults filled in, for logs.
func (y Dryad) Effective() Dryad {
	y.Percentile = check.Or(y.Percentile, 0.75)
	y.MinFinished = check.Or(y.MinFinished, 4)
	return y
}

// Validate reports the first field that is out of range, with its value and its range.
func (y Dryad) Validate() error {
	const place = "restart/rules: Dryad"
	return cmp.Or(
		check.Count(place, "MinFinished", y.MinFinished, false),
		check.Share(place, "Percentile", y.Percentile, false),
	)
}

// Decide returns Copy if the task is a candidate for a copy, and else Keep with the reason. One quantile, no
// allocation.
func (y Dryad) Decide(t restart.Task, p restart.Phase) restart.Decision {
	y = y.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	if p.Finished < y.MinFinished {
		return refuse(restart.TooFewFinished, restart.FinishedTasks, float64(p.Finished), float64(y.MinFinished))
	}
	if p.Peers.Durations == nil {
		return restart.Decision{Reason: restart.NoEstimate}
	}
	bar := p.Peers.Durations.Quantile(y.Percentile)
	d := beyond(restart.RunSeconds, t.Attempts[0].Elapsed.Seconds(), bar, false)
	if d.Action == restart.Copy && p.FreeSlots <= 0 {
		return restart.Decision{Reason: restart.NoFreeSlot}
	}
	return placed(d, t, p)
}

// Spark is the rule of Apache Spark 4's TaskSetManager. Its zero value has Spark's defaults. Safe for
// concurrent use.
//
// Spark copies a task under these conditions:
//
//   - At least max(floor(Quantile*tasks), 1) tasks have finished. A phase of one task is left alone.
//   - The task has one attempt, which has run for longer, strictly, than the threshold max(Multiplier*median,
//     MinRuntime). The median of n run times is the one at index n/2: the upper of two middle ones.
//   - The attempt has run for LongRun times the threshold, or its work per second is below SlowRate times the
//     finished tasks' work per second. If SlowRate is off, or no work is known, this condition holds.
//   - No task waits.
//
// Before enough tasks have finished, a phase of at most ExecutorSlots tasks uses Duration as its threshold, if
// Duration is set. A copy avoids every machine that ran an attempt of the task. Gain is the time beyond the
// threshold; Spark itself does not rank tasks. Spark also copies tasks on machines that will be decommissioned
// soon. This part is left out, because your program knows these machines.
type Spark struct {
	// Quantile is the share of tasks that must have finished, in (0, 1]. 0 means 0.9 (0.75 before Spark 4).
	Quantile float64
	// Multiplier is the threshold in medians of the run times. 0 means 3 (1.5 before Spark 4).
	Multiplier float64
	// MinRuntime is the least threshold. 0 means 100 ms; Off means none.
	MinRuntime time.Duration
	// Duration is Spark's spark.speculation.task.duration.threshold: the threshold before enough tasks have
	// finished. 0, the default, means none.
	Duration time.Duration
	// ExecutorSlots is the number of tasks that one executor runs at once. ExecutorSlots is read only if
	// Duration is set. 0 means 1.
	ExecutorSlots int
	// SlowRate is the share of the finished tasks' work per second below which a task is slow. 0 means 0.75;
	// Off turns this test off.
	SlowRate float64
	// LongRun is the multiple of the threshold after which the work per second does not matter. 0 means 2.
	LongRun float64
}

// Effective returns the policy with its defaults filled in, for logs.
func (s Spark) Effective() Spark {
	s.Quantile = check.Or(s.Quantile, 0.9)
	s.Multiplier = check.Or(s.Multiplier, 3)
	s.SlowRate = check.Or(s.SlowRate, 0.75)
	s.LongRun = check.Or(s.LongRun, 2)
	s.MinRuntime = check.Or(s.MinRuntime, 100*time.Millisecond)
	s.ExecutorSlots = check.Or(s.ExecutorSlots, 1)
	return s
}

// Validate reports the first field that is out of range, with its value and its range.
func (s Spark) Validate() error {
	const place = "restart/rules: Spark"
	if s.SlowRate == restart.Off {
		s.SlowRate = 0
	}
	return cmp.Or(
		check.Share(place, "Quantile", s.Quantile, false),
		check.Factor(place, "SlowRate", s.SlowRate),
		check.Factor(place, "Multiplier", s.Multiplier),
		check.Factor(place, "LongRun", s.LongRun),
		check.Length(place, "Duration", s.Duration),
		check.Count(place, "ExecutorSlots", s.ExecutorSlots, false),
		check.Age(place, "MinRuntime", s.MinRuntime),
	)
}

// Decide returns Copy if the task should get a copy, and else Keep with the reason. At most two quantiles, no
// allocation.
func (s Spark) Decide(t restart.Task, p restart.Phase) restart.Decision {
	s = s.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	c := &t.Attempts[0]
	elapsed := c.Elapsed.Seconds()
	enough := math.Inf(1) // a phase of one task has no other run times
	if p.Tasks > 1 {
		enough = max(math.Floor(s.Quantile*float64(p.Tasks)), 1)
	}
	var d restart.Decision
	switch {
	case float64(p.Finished) >= enough:
		if p.Peers.Durations == nil {
			return restart.Decision{Reason: restart.NoEstimate}
		}
		median := middle(p.Peers.Durations, p.Finished, p.Finished)
		threshold := max(s.Multiplier*median, max(s.MinRuntime, 0).Seconds())
		d = beyond(restart.RunSeconds, elapsed, threshold, false)
		efficient := s.SlowRate != restart.Off && p.Peers.Throughput > 0 && !(elapsed > s.LongRun*threshold)
		if rate, bar := c.Done/elapsed, p.Peers.Throughput*s.SlowRate; d.Action == restart.Copy && efficient && !(rate < bar) {
			d = refuse(restart.NotSlow, restart.WorkRate, rate, bar)
		}
	case s.Duration > 0 && p.Tasks <= s.ExecutorSlots:
		d = beyond(restart.RunSeconds, elapsed, s.Duration.Seconds(), false)
	default:
		return refuse(restart.TooFewFinished, restart.FinishedTasks, float64(p.Finished), enough)
	}
	if reason := slot(p); d.Action == restart.Copy && reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	return placed(d, t, p)
}

// Flink is the rule of Apache Flink's slow-task detector by execution time. Its zero value has Flink's
// defaults. Safe for concurrent use.
//
// A task's key is its run time, or its time per unit of work if Peers.UnitTimes and the task's work are known.
// The baseline is a middle key of the finished tasks: of the k = round(tasks*Ratio) smallest keys, the one at
// index k/2. Flink copies a task under these conditions:
//
//   - The share of finished tasks is at least Ratio.
//   - The task has one attempt, which has run for at least LowerBound.
//   - The task's key is at least Multiplier times the baseline.
//
// No condition is strict. Gain is the time beyond Multiplier times the baseline; Flink itself does not rank
// tasks. Flink keeps all new work off the slow task's machine for a minute. Here Avoid names this machine, and
// only for this copy.
type Flink struct {
	// Ratio is the share of tasks that must have finished, in (0, 1]. 0 means 0.75.
	Ratio float64
	// Multiplier is the threshold in units of the baseline. 0 means 1.5.
	Multiplier float64
	// LowerBound is the least run time of a slow task. 0 means a minute; Off means none.
	LowerBound time.Duration
}

// Effective returns the policy with its defaults filled in, for logs.
func (f Flink) Effective() Flink {
	f.Ratio = check.Or(f.Ratio, 0.75)
	f.Multiplier = check.Or(f.Multiplier, 1.5)
	f.LowerBound = check.Or(f.LowerBound, time.Minute)
	return f
}

// Validate reports the first field that is out of range, with its value and its range.
func (f Flink) Validate() error {
	const place = "restart/rules: Flink"
	return cmp.Or(
		check.Share(place, "Ratio", f.Ratio, false),
		check.Factor(place, "Multiplier", f.Multiplier),
		check.Age(place, "LowerBound", f.LowerBound),
	)
}

// Decide returns Copy if the task is slow, and else Keep with the reason. One quantile, no allocation.
func (f Flink) Decide(t restart.Task, p restart.Phase) restart.Decision {
	f = f.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	elapsed := t.Attempts[0].Elapsed
	of, keys, key := restart.RunSeconds, p.Peers.Durations, elapsed.Seconds()
	weighed := p.Peers.UnitTimes != nil && t.Work > 0
	if weighed {
		of, keys, key = restart.UnitSeconds, p.Peers.UnitTimes, elapsed.Seconds()/t.Work
	}
	if share := finishedShare(p); share <= 0 || share < f.Ratio {
		return refuse(restart.TooFewFinished, restart.FinishedShare, share, f.Ratio)
	}
	if keys == nil {
		return restart.Decision{Reason: restart.NoEstimate}
	}
	if elapsed < f.LowerBound {
		return refuse(restart.TooYoung, restart.RunSeconds, elapsed.Seconds(), f.LowerBound.Seconds())
	}
	smallest := float64(f.Ratio * float64(p.Tasks)) // no fused multiply-add: the same result on every machine
	k := min(math.Floor(smallest+0.5), float64(p.Finished))
	d := beyond(of, key, f.Multiplier*middle(keys, int(k), p.Finished), true)
	if d.Action == restart.Copy && weighed {
		d.Gain, _ = num.Duration((d.Value - d.Threshold) * t.Work)
	}
	if d.Action == restart.Copy && p.FreeSlots <= 0 {
		return restart.Decision{Reason: restart.NoFreeSlot}
	}
	return placed(d, t, p)
}
