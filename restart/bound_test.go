package restart_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// subject is a task with its trial.
type subject struct {
	restart.Task
	trial restart.Trial
}

// history is a phase in which a policy wants to copy or restart a task at every step, whatever the facts are. It
// computes the quantities of the theorem on [restart.Trials] by itself, in seconds.

type history struct {
	t     *testing.T
	rng   *rand.Rand
	phase restart.Phase
	tasks []subject
	bound float64 // B, of the latest guess
	stake float64 // s, of the latest guess
	over  float64 // e, since the latest guess began
	began [2]int  // copies and restarts that were guesses
	held  int     // trials that the bound has refused
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 5)), tasks: make([]subject, 12)}
	h.phase = restart.Phase{
		Interval: time.Duration(h.rng.IntN(20)) * second, Tasks: 12 + h.rng.IntN(500), FreeSlots: 3,
		Limits: restart.Limits{Restarts: 1000, Copies: 1000, FreeTrials: h.rng.IntN(5) - 1, LossShare: h.rng.Float64() / 20},
	}
	for i := range h.tasks {
		h.tasks[i].Attempts = []restart.Attempt{{}}
	}
	return h
}

// setFacts sets the facts of a task: t_rem is unknown, or known by progress, or by age.
func (h *history) setFacts(task *subject) {
	typical := 20 + 100*h.rng.Float64()
	task.Fresh = estimate.Fresh{Lag: time.Duration(h.rng.IntN(3)) * second}
	if h.rng.IntN(4) > 0 {
		task.Fresh.UnitTime, task.Fresh.Work = distuv.Uniform{Min: typical, Max: 2 * typical}, 1
	}
	knows := h.rng.IntN(4)
	for i := range task.Attempts {
		c := &task.Attempts[i]
		left := 1 + 900*h.rng.Float64()
		c.Remaining, c.Left, c.Basis = estimate.Unknown, nil, restart.NoBasis
		if knows > 0 {
			c.Remaining, c.Left = time.Duration(left*1e9), distuv.Uniform{Min: left / 2, Max: 3 * left / 2}
			c.Basis = []restart.Basis{restart.ByAge, restart.ByProgress}[h.rng.IntN(2)]
		}
	}
}

// mayLose returns the bound B of the theorem on restart.Trials, and the stake of a copy or a restart (the slot time
// that it puts at risk).
func (h *history) mayLose(task *subject, action restart.Action) (bound, stake float64) {
	p, fastest, age := &h.phase, (*restart.Attempt)(nil), time.Duration(0)
	for i := range task.Attempts {
		c := &task.Attempts[i]
		age = max(age, c.Elapsed)
		if c.Remaining != estimate.Unknown && (fastest == nil || c.Remaining < fastest.Remaining) {
			fastest = c
		}
	}
	typical := max(age, p.Interval).Seconds()
	if d, ok := task.Fresh.UnitTime.(distuv.Uniform); ok {
		typical = d.Min + .3*(d.Max-d.Min) + task.Fresh.Lag.Seconds()
	}
	reports := fastest != nil && fastest.Basis == restart.ByProgress
	shows := task.Fresh.Lag.Seconds() + max(1.5*typical, age.Seconds()/4)
	if reports {
		shows = task.Fresh.Lag.Seconds() + 2*p.Interval.Seconds()
	}
	l := p.Limits.Effective()
	bound = l.LossShare*float64(p.Tasks)*typical + float64(max(l.FreeTrials, 0))*shows
	if reports {
		bound = max(bound, fastest.Remaining.Seconds())
	}
	if action == restart.Restart {
		return bound, age.Seconds()
	}
	return bound, shows
}

// atRisk returns Cost + AtRisk, in seconds.
func (h *history) atRisk() float64 { return (h.phase.Trials.Cost + h.phase.Trials.AtRisk).Seconds() }

// begin copies or restarts a task, unless Hold refuses.
func (h *history) begin(task *subject) {
	h.setFacts(task)
	want := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot}
	if len(task.Attempts) == 1 && h.rng.IntN(2) == 0 {
		want = restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner}
	}
	bound, stake := h.mayLose(task, want.Action)
	d := restart.Hold(want, task.Task, h.phase)
	if d.Action == restart.Keep {
		h.held++
		switch {
		case d.Reason != restart.LossBound || !(d.Value >= d.Threshold):
			h.t.Fatalf("%v, want a value above the threshold of %v", d, restart.LossBound)
		case !(math.Abs(max(0, bound-h.atRisk())-d.Threshold) <= 1e-6):
			h.t.Fatalf("the threshold is %v, want %v less %v", d.Threshold, bound, h.atRisk())
		case !(h.atRisk()+stake >= bound-1e-6):
			h.t.Fatalf("Hold refuses a trial that loses at most %v and %v, and the bound is %v", h.atRisk(), stake, bound)
		}
		return
	}
	if d != want || !(h.atRisk() < bound+1e-6) {
		h.t.Fatalf("%v, want %v; %v s are at risk, and the bound is %v", d, want, h.atRisk(), bound)
	}
	before, trial := h.atRisk(), task.trial
	h.phase.Trials.Begin(&task.trial, &task.Task, &h.phase, want.Action)
	if !(math.Abs(before+stake-h.atRisk()) <= 1e-6) {
		h.t.Fatalf("%v s are at risk, want %v and a stake of %v of %v after the trial %v", h.atRisk(), before, stake, want, trial)
	}
	h.bound, h.stake, h.over = bound, stake, 0
	if want.Action == restart.Restart {
		h.began[1]++
		task.Attempts[0] = restart.Attempt{}
	} else {
		h.began[0]++
		task.Attempts = append(task.Attempts, restart.Attempt{})
	}
}

// end ends a copy or an old attempt. If the trial is lost, end adds the amount by which its cost exceeds its stake to
// the sum e of the theorem.
func (h *history) end(task *subject) {
	a, x := &h.phase.Trials, &task.trial
	part := x.Stake.Seconds() / float64(max(x.Copies, 1))
	i := h.rng.IntN(len(task.Attempts))
	ran := task.Attempts[i].Elapsed
	old := i == 0 && x.State == restart.CopyOnTrial
	lost := func(ran time.Duration) { h.over += max(ran.Seconds()-part, 0) }
	switch h.rng.IntN(5) {
	case 0, 1:
		a.Finish(x, ran, old)
		for j, c := range task.Attempts {
			if j != i {
				if x.State == restart.CopyOvertaken && j > 0 {
					lost(c.Elapsed)
				}
				a.Kill(x, &task.Task, &h.phase, j, j == 0)
			}
		}
		task.Attempts = []restart.Attempt{{}} // another task takes its place
		*x = restart.Trial{}
	case 2, 3:
		if len(task.Attempts) > 1 {
			if x.State == restart.CopyOnTrial && !old {
				lost(ran)
			}
			a.Kill(x, &task.Task, &h.phase, i, old)
			task.Attempts = append(task.Attempts[:i], task.Attempts[i+1:]...)
		}
	default:
		if len(task.Attempts) > 1 && i > 0 {
			a.Fail(x)
			task.Attempts = append(task.Attempts[:i], task.Attempts[i+1:]...)
		}
	}
}

// play takes the given number of steps, and checks the theorem after each.
func (h *history) play(steps int) {
	for step := range steps {
		for i := range h.tasks {
			for j := range h.tasks[i].Attempts {
				h.tasks[i].Attempts[j].Elapsed += time.Duration(h.rng.Float64() * 30e9)
			}
		}
		task := &h.tasks[h.rng.IntN(len(h.tasks))]
		if h.rng.IntN(3) > 0 {
			h.begin(task)
		} else {
			h.end(task)
		}
		if !(h.atRisk() <= h.bound+h.stake+h.over+1e-6) {
			h.t.Fatalf("the theorem fails at step %d: %v > %v + %v + %v", step, h.atRisk(), h.bound, h.stake, h.over)
		}
	}
}

// The theorem on Trials holds after each step of random histories, in which a policy wants to act at every report.
func TestTrialsLoseNoMoreThanTheBound(t *testing.T) {
	began, held := [2]int{}, 0
	for seed := range uint64(300) {
		h := newHistory(t, seed)
		h.play(400)
		began[0], began[1], held = began[0]+h.began[0], began[1]+h.began[1], held+h.held
	}
	assert.Greater(t, began[0], 3000, "many copies begin")
	assert.Greater(t, began[1], 1000, "many restarts begin")
	assert.Greater(t, held, 10_000, "many trials are refused")
}

func FuzzTrialsLoseNoMoreThanTheBound(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed, uint16(300))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) { newHistory(t, seed).play(int(steps)) })
}
