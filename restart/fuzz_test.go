package restart_test

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
)

// rubbish reads random facts from the bytes of a fuzzer.
type rubbish struct{ policytest.Reader }

// wild is a distribution with arbitrary answers, as a host's own distribution may have.
type wild struct{ mean, cdf, quantile float64 }

func (w wild) Mean() float64 { return w.mean }

func (w wild) CDF(float64) float64 { return w.cdf }

func (w wild) Quantile(float64) float64 { return w.quantile }

func (r *rubbish) distribution() estimate.Distribution {
	switch r.Byte() % 4 {
	case 0:
		return nil
	case 1:
		return wild{r.Float(), r.Float(), r.Float()}
	}
	e := new(estimate.Empirical)
	for range r.Byte() % 8 {
		e.Insert(r.Float())
	}
	return e
}

func (r *rubbish) task() restart.Task {
	t := restart.Task{
		Fresh: estimate.Fresh{UnitTime: r.distribution(), Work: r.Float(), Location: r.Float(), Lag: r.Duration()},
		Work:  r.Float(), Restarts: r.Int(), SinceCopy: r.Duration(), NoCopy: r.Byte()&1 != 0, NoRestart: r.Byte()&1 != 0,
	}
	for range r.Byte() % 5 {
		t.Attempts = append(t.Attempts, restart.Attempt{
			Machine: r.Int(), Elapsed: r.Duration(), Remaining: r.Duration(), Score: r.Float(), Done: r.Float(),
		})
	}
	for range r.Byte() % 5 {
		t.PastMachines = append(t.PastMachines, r.Int())
	}
	return t
}

func (r *rubbish) phase() restart.Phase {
	return restart.Phase{
		Interval: r.Duration(), Tasks: r.Int(), Finished: r.Int(), Waiting: r.Int(), Slots: r.Int(), FreeSlots: r.Int(),
		Copies: r.Int(), Machines: r.Int(),
		Peers: restart.Peers{
			Durations: r.distribution(), UnitTimes: r.distribution(), ProgressRates: r.distribution(), MeanScore: r.Float(),
			Throughput: r.Float(), Machine: restart.MachineProgress{Total: r.Float(), Of: r.distribution()},
		},
	}
}

// decisionLine matches every line that a decision may print.
var decisionLine = regexp.MustCompile(`^(keep|copy|restart|kill|start) [a-z-]+( attempt=\d+)?( basis=(progress|age))?` +
	`( remaining=(\?|inf|-?[0-9.e+-]+s))?( fresh=(\?|inf|-?[0-9.e+-]+s))?( bar=(inf|-?[0-9.e+-]+s))?` +
	`( [a-z-]+=-?[0-9.e+-]+ threshold=-?[0-9.e+-]+)?( won=\d+ tried=\d+)?( gain=(inf|[0-9.e+-]+s))?( avoid=\d+(,\d+)*)?$`)

// sane checks rules that hold for every decision of every policy.
func sane(t *testing.T, d restart.Decision, task restart.Task, p restart.Phase) {
	t.Helper()
	switch {
	case d != d, d.Value-d.Value != 0, d.Threshold-d.Threshold != 0:
		t.Fatalf("the decision cannot be compared, or a number is not finite: %+v", d)
	case d.Reason == restart.NoReason:
		t.Fatalf("the decision has no reason: %+v", d)
	case !decisionLine.MatchString(d.String()):
		t.Fatalf("the line has an unknown form: %q", d)
	case !decides(d):
		t.Fatalf("the numbers do not agree with the action: %v", d)
	case d.Attempt < 0 || d.Attempt >= max(len(task.Attempts), 1):
		t.Fatalf("the task has no such attempt: %+v", d)
	case d.Action == restart.Kill && len(task.Attempts) < 2:
		t.Fatalf("the last attempt is killed: %+v", d)
	case d.Action == restart.Start, d.Action != restart.Keep && len(task.Attempts) == 0:
		t.Fatalf("no attempt runs, but the decision is %v", d)
	case d.Action == restart.Copy && task.NoCopy, d.Action == restart.Restart && task.NoRestart:
		t.Fatalf("the task may not have the action %v", d)
	case d.Action == restart.Keep && d.Gain != 0, d.Gain < 0:
		t.Fatalf("the gain %v is wrong in %v", d.Gain, d)
	case p.Machines > 0 && d.Avoid.Len() >= p.Machines:
		t.Fatalf("the decision avoids all %d machines: %v", p.Machines, d)
	}
	if attrs := d.LogValue().Group(); len(attrs) < 2 || attrs[0].Value.String() != d.Action.String() {
		t.Fatalf("the log fields have no action: %v", attrs)
	}
}

// atMost lists the measures that must not exceed the threshold for an action. Every other measure must not be below
// it.
var atMost = []restart.Measure{
	restart.LostSlotSeconds, restart.PastRestarts, restart.PastCopies, restart.RunningAttempts, restart.CopyShare,
	restart.ProgressScore, restart.ProgressRate, restart.WorkRate, restart.SlowFactor,
}

// decides reports whether the numbers of a decision agree with its action. A refusal never shows a comparison that
// passed.
func decides(d restart.Decision) bool {
	const rounding = 1e-9
	if slices.Contains(atMost, d.Measure) == (d.Action == restart.Keep) {
		return d.Value >= d.Threshold-rounding
	}
	return d.Value <= d.Threshold+rounding
}

func FuzzDecide(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x02\x07\x40\x40\x40\x40\x40\x40\x02\x30\x02\x10\x02\x01\x02\x02\x00\x00\x01\x02\x02\x20\x02\x90\x02\x08"))
	f.Add([]byte(strings.Repeat("\x01\x09\x11\x19\x21\x29\x31\x39", 20)))
	// Facts for which some policy kills, copies or restarts.
	f.Add([]byte("\x10\x03\x03\x02\x02\x03\x03T\x01\x01\x01\x10@@\x10\x03@\v\x8f@"))
	f.Add([]byte("\x01\xaf\x81\r\x03\x01\x03\x10\x0f\x15\x03\x01v\x02\x01\x03\xaa\x86\x03\x01% "))
	f.Add([]byte("\x01\x02\x02\x01\xc70\x1a2\x02\x01\x01\x02 \x02\x10j @\x03 @\x01=0\x10\x01\x01\x02\x01@\x03@\x030\x03"))
	all := policytest.Policies()
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func() (restart.Task, restart.Phase) {
			r := rubbish{policytest.Reader{Data: data}}
			return r.task(), r.phase()
		}
		task, phase := read()
		for name, policy := range all {
			d := policy.Decide(task, phase)
			sane(t, d, task, phase)
			sameTask, samePhase := read()
			if again := policy.Decide(sameTask, samePhase); again != d {
				t.Fatalf("%s decides %v, and %v for the same facts", name, d, again)
			}
		}
		i, d := restart.Next(nil, []restart.Task{task, task}, []float64{phase.Peers.MeanScore, 1}, phase)
		if i < -1 || i > 1 || (i < 0) != (d.Action == restart.Keep) {
			t.Fatalf("Next returns the task %d with the decision %v", i, d)
		}
	})
}

// A larger t_new never turns Keep into Restart, and a larger t_rem never turns Restart into Keep. Both hold while
// tasks wait and while slots are idle.
func FuzzDecideIsMonotone(f *testing.F) {
	f.Add(int64(60e9), int64(1), int64(30e9), int64(1), int64(10e9), byte(1), byte(0), 0.5)
	f.Add(int64(math.MaxInt64-1), int64(1), int64(math.MaxInt64), int64(5), int64(1), byte(2), byte(3), 1.0)
	f.Fuzz(func(t *testing.T, remaining, later, freshNs, longer, interval int64, attempts, flags byte, spread float64) {
		if remaining == math.MinInt64 || !(spread >= 0 && spread < 1e6) {
			return // an unknown t_rem is no time
		}
		longerRemaining := max(remaining, remaining+max(later, 0)) // after an overflow, the larger of the two is used
		mean := math.Abs(float64(freshNs)) / 1e9
		longerMean := mean + math.Abs(float64(longer))/1e9
		facts := func(remaining int64, mean float64) restart.Task {
			t := restart.Task{Restarts: int(flags>>2) % 5, SinceCopy: time.Duration(flags) * time.Second}
			t.Fresh = estimate.Fresh{UnitTime: spreadOut{mean, spread}, Work: 1}
			for i := range int(attempts % 4) {
				t.Attempts = append(t.Attempts, restart.Attempt{Machine: i, Elapsed: minute, Remaining: time.Duration(remaining)})
			}
			return t
		}
		p := restart.Phase{Interval: time.Duration(interval), Waiting: int(flags & 1), FreeSlots: int(flags >> 1 & 1)}
		for name, m := range map[string]restart.Mantri{"default": {}, "raised": {RaisedBar: 2, CopyThreshold: 0.5, FastestKept: 3}} {
			d := m.Decide(facts(remaining, mean), p)
			if d.Action == restart.Keep {
				if slower := m.Decide(facts(remaining, longerMean), p); slower.Action == restart.Restart {
					t.Fatalf("%s: with t_new %v the decision is %v, and with t_new %v %v", name, mean, d, longerMean, slower)
				}
			}
			if d.Action == restart.Restart {
				if longer := m.Decide(facts(longerRemaining, mean), p); longer.Action == restart.Keep {
					t.Fatalf("%s: with t_rem %v the decision is %v, and with t_rem %v %v", name, remaining, d, longerRemaining, longer)
				}
			}
		}
	})
}

// spreadOut is a uniform distribution around its mean.
type spreadOut struct{ mean, half float64 }

func (u spreadOut) Mean() float64 { return u.mean }

func (u spreadOut) Quantile(p float64) float64 { return u.mean - u.half + 2*u.half*p }

func (u spreadOut) CDF(x float64) float64 {
	if u.half == 0 {
		return policytest.Certain(u.mean).CDF(x)
	}
	return min(max((x-u.mean+u.half)/(2*u.half), 0), 1)
}
