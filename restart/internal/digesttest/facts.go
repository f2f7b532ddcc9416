package digesttest

import (
	"encoding"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Decision returns the fields of a decision, and its sentence.
func Decision(d restart.Decision) Object {
	if d == (restart.Decision{}) {
		return Object{}
	}
	avoid := make([]int, d.Avoid.Len())
	for i := range avoid {
		avoid[i] = d.Avoid.At(i)
	}
	return Object{
		"action", d.Action.String(), "reason", d.Reason.String(), "attempt", d.Attempt, "basis", d.Basis.String(),
		"remaining", d.Remaining, "fresh", d.Fresh, "bar", d.Bar, "measure", d.Measure.String(), "value", d.Value,
		"threshold", d.Threshold, "won", d.Won, "tried", d.Tried, "gain", d.Gain, "avoid", avoid, "sentence", d.Sentence(),
	}
}

// Answer returns the fields of a tracker's answer, and its sentence.
func Answer(a tracker.Answer) Object {
	found := make([]Object, len(a.Found))
	for i := range found {
		found[i] = Answer(a.Found[i])
	}
	o := Object{
		"task", a.Task, "ignored", a.Ignored, "overtaken", a.Overtaken, "waiting", a.Waiting, "found", found,
		"decision", Decision(a.Decision),
	}
	if a.Reason != restart.NoReason || len(a.Overtaken) > 0 {
		o = append(o, "sentence", a.Sentence())
	}
	return o
}

// Event returns the fields of an event, except Delta, whose format may change. Its times are counted from begin.
func Event(e tracker.Event, begin time.Time) Object {
	o := Object{"kind", e.Kind.String(), "at", since(e.Time, begin), "task", e.Task, "attempt", e.Attempt, "machine", e.Machine}
	switch e.Kind {
	case tracker.Reported, tracker.Recorded:
		return append(o, "done", e.Report.Done, "score", e.Report.Score, "left", e.Report.Remaining, "saved", e.Report.Saved)
	case tracker.MachineLeaves:
		return append(o, "leaves", since(e.Leaves, begin))
	case tracker.SlotsSet:
		return append(o, "slots", e.Slots)
	case tracker.EligibleSet:
		return append(o, "no-copy", e.NoCopy, "no-restart", e.NoRestart)
	}
	return o
}

// since returns the time from begin to t; nil if t is the zero time.
func since(t, begin time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Sub(begin)
}

// Observe returns a function for OnEvent that writes each event and its answer.
func Observe(x *Text, begin time.Time) func(tracker.Event, tracker.Answer) {
	return func(e tracker.Event, a tracker.Answer) { x.Line("event", Event(e, begin), "answer", Answer(a)) }
}

// Ledger returns the fields of a ledger.
func Ledger(l tracker.Ledger) Object {
	return Object{
		"started", l.Started, "finished", l.Finished, "copies", l.Copies, "restarts", l.Restarts, "clones", l.Clones,
		"won", l.Won, "lost", l.Lost, "pruned", l.Pruned, "failed", l.Failed, "late", l.Late, "ignored", l.Ignored,
		"bad-units", l.BadUnits, "bad-answers", l.BadAnswers, "small-units", l.SmallUnits, "clock-steps", l.ClockSteps,
		"used", l.Used, "wasted", l.Wasted,
	}
}

// Limits returns the fields of limits.
func Limits(l restart.Limits) Object {
	return Object{"restarts", l.Restarts, "copies", l.Copies, "free-trials", l.FreeTrials, "loss-share", l.LossShare}
}

// Distribution returns the mean and five quantiles of a distribution; nil for none.
func Distribution(d estimate.Distribution) any {
	if d == nil {
		return nil
	}
	numbers := []float64{d.Mean()}
	for _, p := range []float64{0.05, 0.3, 0.5, 0.9, 1} {
		numbers = append(numbers, d.Quantile(p))
	}
	return numbers
}

// Phase returns the facts of a phase that a policy gets.
func Phase(p restart.Phase) Object {
	return Object{
		"interval", p.Interval, "tasks", p.Tasks, "finished", p.Finished, "waiting", p.Waiting, "slots", p.Slots,
		"free-slots", p.FreeSlots, "copies", p.Copies, "silent", p.Silent, "idle", p.Idle, "machines", p.Machines,
		"stream", p.Stream, "won", p.Trials.Won, "lost", p.Trials.Lost, "cost", p.Trials.Cost, "at-risk", p.Trials.AtRisk,
		"longest", p.Trials.Longest, "limits", Limits(p.Limits), "durations", Distribution(p.Peers.Durations),
		"unit-times", Distribution(p.Peers.UnitTimes), "rates", Distribution(p.Peers.ProgressRates),
		"mean-score", p.Peers.MeanScore, "throughput", p.Peers.Throughput, "total", p.Peers.Machine.Total,
		"totals", Distribution(p.Peers.Machine.Of),
	}
}

// Task returns the facts of a task that a policy gets.
func Task(t restart.Task) Object {
	attempts := make([]Object, len(t.Attempts))
	for i, a := range t.Attempts {
		attempts[i] = Object{
			"machine", a.Machine, "elapsed", a.Elapsed, "remaining", a.Remaining, "location", a.Location,
			"left", Distribution(a.Left), "basis", a.Basis.String(), "score", a.Score, "done", a.Done, "resumed", a.Resumed,
		}
	}
	return Object{
		"attempts", attempts, "fresh", Distribution(t.Fresh.UnitTime), "fresh-work", t.Fresh.Work, "place", t.Fresh.Location,
		"lag", t.Fresh.Lag, "work", t.Work, "clones", t.Clones, "restarts", t.Restarts, "copies", t.Copies,
		"since-copy", t.SinceCopy, "past", t.PastMachines, "longest", t.Longest, "no-copy", t.NoCopy, "no-restart", t.NoRestart,
	}
}

// Restored returns the value that a snapshot of the old value gives; nil for nil.
func Restored[T any, P interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}](t *testing.T, old P) P {
	t.Helper()
	if old == nil {
		return nil
	}
	data, err := old.MarshalBinary()
	require.NoError(t, err)
	fresh := P(new(T))
	require.NoError(t, fresh.UnmarshalBinary(data))
	return fresh
}
