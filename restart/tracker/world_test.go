package tracker_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// everything hides the type of a policy from the Tracker, so that the Tracker computes all facts.
type everything struct{ restart.Policy }

func (e everything) Describe() rules.Description {
	d := rules.Describe(e.Policy)
	return rules.Description{
		Facts: rules.AllFacts &^ rules.Left, SlowNode: d.SlowNode, CopiesOnly: d.CopiesOnly,
	}
}

// certain is a policy that gets the remaining time as a single number, and not as a distribution. The reason is that
// the oracle knows no distributions and no trials.
type certain struct{ restart.Policy }

func (c certain) Describe() rules.Description {
	d := rules.Describe(c.Policy)
	d.Facts &^= rules.Left | rules.Trials
	return d
}

// world sends the same random events to a Tracker, to a Tracker that computes all facts, and to the oracle.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	policy  restart.Policy
	tracker *tracker.Tracker // under test
	whole   *tracker.Tracker // the same policy, but all facts are kept
	oracle  *oracle
	queues  bool // attempts are submitted too, and begin later
	saves   bool // tasks have checkpoints
	small   bool // progress has too small a unit
	now     time.Time
	log     []note
	acted   int // decisions to copy or to restart a task
}

// note is a line of the log of a world. It becomes text only if the test fails.
type note struct {
	at     time.Duration
	format string
	args   []any
}

func newWorld(t *testing.T, policy restart.Policy, seed uint64) *world {
	if rules.Describe(policy).Has(rules.Left) {
		policy = certain{policy}
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	w := &world{t: t, rng: rng, policy: policy, now: start, queues: seed%2 > 0, saves: seed%3 == 0, small: seed%5 == 0}
	work := make([]float64, 1+rng.IntN(14))
	for i := range work {
		work[i] = float64(1 + rng.IntN(4)) // equal works are common
	}
	limits := rules.Describe(policy).Limits
	limits.LossShare = restart.Off
	config := tracker.Config{
		Work: work, Slots: 1 + rng.IntN(8), Machines: rng.IntN(7), Interval: 5 * time.Second, Lag: time.Second,
		Policy: policy, Limits: limits,
	}
	if w.small { // so that some are detected
		config.Interval = time.Second / 4
	}
	if rng.IntN(3) == 0 {
		config.UnitTimes.MinSamples = 1
	}
	var err error
	w.tracker, err = tracker.New(config)
	require.NoError(t, err)
	config.Policy = everything{policy}
	w.whole, err = tracker.New(config)
	require.NoError(t, err)
	w.oracle = newOracle(w.tracker, work)
	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, note{w.now.Sub(start), format, args})
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	for _, n := range w.log[max(0, len(w.log)-40):] {
		w.t.Log(n.at, fmt.Sprintf(n.format, n.args...))
	}
	w.t.Fatalf(format, args...)
}

// attempt returns a running attempt most of the time, and otherwise numbers that make no sense.
func (w *world) attempt() (task, attempt int) {
	var running []*oracleAttempt
	for i := range w.oracle.tasks {
		running = append(running, w.oracle.running(i)...)
	}
	if len(running) == 0 || w.rng.IntN(20) == 0 {
		return w.rng.IntN(20) - 2, w.rng.IntN(6) - 2
	}
	c := running[w.rng.IntN(len(running))]
	return c.task, c.attempt
}

// queued returns an attempt that has not begun most of the time, and any attempt otherwise.
func (w *world) queued() (task, attempt int) {
	var queued []*oracleAttempt
	for i := range w.oracle.tasks {
		for _, c := range w.oracle.running(i) {
			if !c.begun {
				queued = append(queued, c)
			}
		}
	}
	if len(queued) == 0 || w.rng.IntN(10) == 0 {
		return w.attempt()
	}
	c := queued[w.rng.IntN(len(queued))]
	return c.task, c.attempt
}

func (w *world) progress(task, attempt int) tracker.Report {
	rubbish := []float64{math.NaN(), math.Inf(1), -1, 1e308}
	p := tracker.Report{}
	switch w.rng.IntN(10) {
	case 0:
		p.Done = rubbish[w.rng.IntN(len(rubbish))]
	case 1:
		p.Score = rubbish[w.rng.IntN(len(rubbish))]
	case 2:
		p.Remaining = time.Duration(w.rng.IntN(60)-5) * time.Second
		p.Done = w.rng.Float64()
	case 3:
		p.Score = float64(w.rng.IntN(6)) / 5
	default: // an honest report: each attempt has a speed of its own; an attempt that has not begun has a head start
		if task >= 0 && task < len(w.oracle.tasks) && attempt >= 0 && attempt < len(w.oracle.tasks[task].attempts) {
			c := w.oracle.tasks[task].attempts[attempt]
			p.Done = w.oracle.work[task] * (w.now.Sub(start) - c.start).Seconds() / float64(10+(task*7+attempt*13)%50)
			p.Done = max(p.Done, 0)
			if w.small {
				p.Done /= 100
			}
			if w.saves && w.rng.IntN(3) == 0 { // the checkpoint of the next attempt, sometimes more than the work
				p.Saved = p.Done * (0.5 + w.rng.Float64()*0.55)
			}
			if w.saves && w.rng.IntN(3) > 0 { // most attempts that resume count the checkpoint in Done
				p.Done += c.resumed
			}
		}
	}
	return p
}

func (w *world) report(task, attempt int) {
	p := w.progress(task, attempt)
	w.note("report %d/%d %+v", task, attempt, p)
	d, whole := w.tracker.Report(w.now, task, attempt, p), w.whole.Report(w.now, task, attempt, p)
	known := w.oracle.report(w.now, task, attempt, p)
	w.compare(task, known, d, whole)
}

// step applies one random event to all three, and compares the answers.
func (w *world) step() {
	if w.rng.IntN(3) > 0 {
		w.now = w.now.Add(time.Duration(w.rng.IntN(16)-2) * time.Second / 2) // now and then the clock steps back
	}
	o, n := w.oracle, len(w.oracle.tasks)
	switch k := w.rng.IntN(100); {
	case k < 22 && (!w.queues || k%2 == 0):
		task, machine := w.rng.IntN(n+1)-w.rng.IntN(2), w.rng.IntN(8)-1
		w.note("start %d on %d", task, machine)
		got, whole, want := w.tracker.Start(w.now, task, machine), w.whole.Start(w.now, task, machine), o.start(w.now, task, machine)
		if got != want || whole != want {
			w.fatal("Start = %d, %d, want %d", got, whole, want)
		}
	case k < 22:
		task, machine := w.rng.IntN(n+1)-w.rng.IntN(2), w.rng.IntN(8)-1
		w.note("submit %d for %d", task, machine)
		got, whole, want := w.tracker.Submit(w.now, task, machine), w.whole.Submit(w.now, task, machine), o.submit(w.now, task, machine)
		if got != want || whole != want {
			w.fatal("Submit = %d, %d, want %d", got, whole, want)
		}
	case k < 28 && w.queues:
		task, attempt := w.queued()
		machine := w.rng.IntN(8) - 1
		w.note("begin %d/%d on %d", task, attempt, machine)
		w.tracker.Begin(w.now, task, attempt, machine)
		w.whole.Begin(w.now, task, attempt, machine)
		o.begin(w.now, task, attempt, machine)
	case k < 67:
		w.report(w.attempt())
	case k < 75:
		task, attempt := w.attempt()
		if w.small { // and shows that little is known to be done
			w.report(task, attempt)
		}
		w.note("finish %d/%d", task, attempt)
		got, whole := w.tracker.Finish(w.now, task, attempt), w.whole.Finish(w.now, task, attempt)
		if want := o.finish(w.now, task, attempt); !slices.Equal(got, want) || !slices.Equal(whole, want) {
			w.fatal("Finish = %v, %v, want %v", got, whole, want)
		}
	case k < 78:
		task, attempt := w.attempt()
		w.note("fail %d/%d", task, attempt)
		w.tracker.Fail(w.now, task, attempt)
		w.whole.Fail(w.now, task, attempt)
		o.kill(w.now, task, attempt, "failed")
	case k < 81:
		task, attempt := w.attempt()
		w.note("kill %d/%d", task, attempt)
		w.tracker.Kill(w.now, task, attempt)
		w.whole.Kill(w.now, task, attempt)
		o.kill(w.now, task, attempt, "killed")
	case k < 84:
		task, attempt := w.attempt()
		w.note("restart %d/%d", task, attempt)
		w.tracker.Restart(w.now, task, attempt)
		w.whole.Restart(w.now, task, attempt)
		o.kill(w.now, task, attempt, "restarted")
	case k < 85:
		machine := w.rng.IntN(8) - 1
		w.note("lose machine %d", machine)
		got, whole := w.tracker.LoseMachine(w.now, machine), w.whole.LoseMachine(w.now, machine)
		want := o.loseMachine(w.now, machine)
		if !slices.Equal(got, want) || !slices.Equal(whole, want) {
			w.fatal("LoseMachine = %v, %v, want %v", got, whole, want)
		}
	case k < 87:
		task := w.rng.IntN(n+2) - 1
		w.note("lose output %d", task)
		w.tracker.LoseOutput(w.now, task)
		w.whole.LoseOutput(w.now, task)
		o.loseOutput(w.now, task)
	case k < 88:
		slots := w.rng.IntN(10) - 1
		w.note("slots %d", slots)
		w.tracker.SetSlots(slots)
		w.whole.SetSlots(slots)
		o.config.Slots = max(slots, 0)
	case k < 89:
		task, dup, restart := w.rng.IntN(n), w.rng.IntN(2) > 0, w.rng.IntN(2) > 0
		w.note("eligible %d %t %t", task, dup, restart)
		w.tracker.SetEligible(task, dup, restart)
		w.whole.SetEligible(task, dup, restart)
		o.tasks[task].noCopy, o.tasks[task].noRestart = !dup, !restart
	case k < 93:
		w.sweep()
	default:
		w.next()
	}
}
