package rules

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Dryad copies a task if it has run for longer than three quarters of the finished tasks of its phase (the 75th
// percentile). An equal time is not enough. The Mantri paper compares Mantri with this rule [Mantri §6]. Dryad makes
// copies whether tasks wait for slots or not, and this can make a phase longer. Gain is the time beyond the
// percentile. The zero value has the published percentile. Safe for concurrent use.
type Dryad struct {
	// Percentile is the percentile of the finished tasks' run times that a task must exceed, in (0, 1]. 0 means 0.75.
	Percentile float64 `want:"share"`
	// MinFinished is the number of tasks that must have finished before the rule copies anything. 0 means 4, the
	// smallest number of which a quarter is a whole task. The paper gives no number.
	MinFinished int `want:"count"`
}

// Effective returns the policy with each zero field replaced by its default, for logs.
func (y Dryad) Effective() Dryad {
	y.Percentile = check.Or(y.Percentile, 0.75)
	y.MinFinished = check.Or(y.MinFinished, 4)
	return y
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (y Dryad) Validate() error { return check.Valid(y) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. It computes one quantile,
// and does not allocate.
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

// Spark is the rule of Apache Spark 4's TaskSetManager. Its zero value has Spark's defaults. Safe for concurrent use.
//
// Spark copies a task if all these conditions are true:
//
//   - At least max(floor(Quantile*tasks), 1) tasks have finished. In a phase of one task no task is copied.
//   - The task has one attempt, which has run for longer than the threshold max(Multiplier*median, MinRuntime). An
//     equal time is not enough. The median is the sorted run time at index n/2, counted from 0, if n tasks have
//     finished. If n is even, this is the upper of the two middle values.
//   - The attempt has run for LongRun times the threshold, or its work per second is below SlowRate times the
//     finished tasks' work per second. If SlowRate is Off, or no work is known, this condition is true.
//   - No task waits for a slot.
//
// A phase of at most ExecutorSlots tasks has a special case, if Duration is set: before enough tasks have finished,
// its threshold is Duration. A copy avoids every machine that ran an attempt of the task. Gain is the time beyond the
// threshold; Spark itself does not rank tasks. Spark also copies tasks on machines that will be decommissioned soon.
// This part is left out, because your program knows these machines.
type Spark struct {
	// Quantile is the share of tasks that must have finished, in (0, 1]. 0 means 0.9 (0.75 before Spark 4).
	Quantile float64 `want:"share"`
	// Multiplier is a factor. The threshold is Multiplier times the median run time of the finished tasks. 0 means 3
	// (1.5 before Spark 4).
	Multiplier float64 `want:"factor"`
	// MinRuntime is the smallest possible threshold. 0 means 100 ms; Off means that there is no minimum.
	MinRuntime time.Duration `want:"age"`
	// Duration is Spark's setting spark.speculation.task.duration.threshold: in a small phase, a task that runs
	// longer than this is copied even if too few tasks have finished for the other rule. 0, the default, means that
	// no task is copied before enough tasks have finished.
	Duration time.Duration `want:"length"`
	// ExecutorSlots is the number of tasks that one executor runs at once. It is used only if Duration is set. 0
	// means 1.
	ExecutorSlots int `want:"count"`
	// SlowRate is a share of the finished tasks' work per second. A task is slow if its work per second is below this
	// share. 0 means 0.75; Off turns this test off.
	SlowRate float64 `want:"factor or off"`
	// LongRun is a multiple of the threshold. A task that has run for longer is copied whatever its work per second
	// is. 0 means 2.
	LongRun float64 `want:"factor"`
}

// Effective returns the policy with each zero field replaced by its default, for logs.
func (s Spark) Effective() Spark {
	s.Quantile = check.Or(s.Quantile, 0.9)
	s.Multiplier = check.Or(s.Multiplier, 3)
	s.SlowRate = check.Or(s.SlowRate, 0.75)
	s.LongRun = check.Or(s.LongRun, 2)
	s.MinRuntime = check.Or(s.MinRuntime, 100*time.Millisecond)
	s.ExecutorSlots = check.Or(s.ExecutorSlots, 1)
	return s
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (s Spark) Validate() error { return check.Valid(s) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. It computes at most two
// quantiles, and does not allocate.
func (s Spark) Decide(t restart.Task, p restart.Phase) restart.Decision {
	s = s.Effective()
	if reason := single(t); reason != restart.NoReason {
		return restart.Decision{Reason: reason}
	}
	c := &t.Attempts[0]
	elapsed := c.Elapsed.Seconds()
	// In a phase of one task there are no other run times to compare with.
	enough := math.Inf(1)
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

// Flink is the rule of Apache Flink's slow-task detector that uses execution times. Its zero value has Flink's
// defaults. Safe for concurrent use.
//
// The rule compares a number for each task, called its key. The key is the run time of the task divided by its work,
// if Peers.UnitTimes and the task's work are known. Otherwise the key is the run time. The baseline is a middle key
// of the finished tasks: of the k = round(tasks*Ratio) smallest keys, in ascending order, it is the key at index k/2,
// counted from 0. Flink copies a task if all these conditions are true:
//
//   - The share of finished tasks is at least Ratio.
//   - The task has one attempt, which has run for at least LowerBound.
//   - The task's key is at least Multiplier times the baseline.
//
// In each condition an equal value is enough. Gain is the time beyond Multiplier times the baseline; Flink itself
// does not rank tasks. Flink keeps all new work off the slow task's machine for a minute. Here Avoid contains this
// machine, and only for this copy.
type Flink struct {
	// Ratio is the share of tasks that must have finished, in (0, 1]. 0 means 0.75.
	Ratio float64 `want:"share"`
	// Multiplier is a factor. A task is slow if its run time is at least Multiplier times the baseline, which is a
	// middle run time of the finished tasks. 0 means 1.5.
	Multiplier float64 `want:"factor"`
	// LowerBound is how long a task must have run at least. 0 means a minute; Off means that there is no minimum.
	LowerBound time.Duration `want:"age"`
}

// Effective returns the policy with each zero field replaced by its default, for logs.
func (f Flink) Effective() Flink {
	f.Ratio = check.Or(f.Ratio, 0.75)
	f.Multiplier = check.Or(f.Multiplier, 1.5)
	f.LowerBound = check.Or(f.LowerBound, time.Minute)
	return f
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (f Flink) Validate() error { return check.Valid(f) }

// Decide returns Copy if the task should get a copy, and otherwise Keep with the reason. It computes one quantile,
// and does not allocate.
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
	// The conversion prevents a fused multiply-add, so that every machine gives the same result.
	smallest := float64(f.Ratio * float64(p.Tasks))
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
