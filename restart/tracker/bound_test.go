package tracker_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// greedy is a policy that wants to copy or to restart every task at every report. It declares no facts. For the last
// task it stores three numbers that the comment of restart.Trials defines: whether a trial is a guess, the bound B on
// lost slot time, and the stake s of the trial.
type greedy struct {
	guess        bool
	bound, stake float64
}

func (g *greedy) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	d.Action, d.Reason, d.Gain = restart.Copy, restart.IdleSlot, time.Second
	if len(t.Attempts) == 1 && int(t.Attempts[0].Elapsed/time.Second)%3 == 0 {
		d.Action, d.Reason = restart.Restart, restart.FreshSooner
	}
	fastest, oldest := (*restart.Attempt)(nil), t.Attempts[0]
	for i, c := range t.Attempts {
		if c.Elapsed > oldest.Elapsed {
			oldest = c
		}
		if c.Remaining != estimate.Unknown && (fastest == nil || c.Remaining < fastest.Remaining) {
			fastest = &t.Attempts[i]
		}
	}
	typical := restart.Typical(&t.Fresh)
	if math.IsInf(t.Fresh.Quantile(.5), 1) {
		typical = max(oldest.Elapsed, p.Interval)
	}
	silent := fastest == nil || fastest.Basis == restart.ByAge
	shows := t.Fresh.Lag.Seconds() + max(1.5*typical.Seconds(), oldest.Elapsed.Seconds()/4)
	if !silent {
		shows = (2*p.Interval + t.Fresh.Lag).Seconds()
	}
	g.bound, g.stake = .03*float64(p.Tasks)*typical.Seconds()+4*shows, shows
	if !silent {
		g.bound = max(g.bound, fastest.Remaining.Seconds())
	}
	stuck := false
	if d.Action == restart.Restart {
		g.stake, stuck = oldest.Elapsed.Seconds(), p.Stuck(t.Longest)
	}
	bad := max(oldest.Location, 1) >= 3*max(t.Fresh.Location, 1)
	g.guess = (fastest == nil || fastest.Left != nil) && !bad && !stuck
	return d
}

// bounded applies the events of a history to a tracker, and carries out every action of a greedy policy that the
// tracker allows. After each event it checks the theorem in the comment of restart.Trials.
type bounded struct {
	t          *testing.T
	greedy     greedy
	tr         *tracker.Tracker
	now        time.Time
	runs       map[int][]int        // the running attempts of each task
	began      map[[2]int]time.Time // when an attempt of a task began
	most       float64              // B + s, the bound plus the stake, when the latest guess began
	over       float64              // an upper bound of e: the run time of attempts that ended since that guess
	acted      map[restart.Action]int
	held, seen int
}

func newBounded(t *testing.T, c tracker.Config) *bounded {
	b := &bounded{t: t, runs: map[int][]int{}, began: map[[2]int]time.Time{}, acted: map[restart.Action]int{}}
	c.Policy, c.Limits, c.Budget = &b.greedy, restart.Limits{Restarts: 1000, Copies: 1000}, nil
	b.tr = newTracker(t, c)
	return b
}

// apply applies an event, and carries out the answer.
func (b *bounded) apply(e tracker.Event) {
	b.now = e.Time
	before := b.risk()
	a := b.tr.Apply(e)
	b.check()
	if a.Reason == restart.LossBound {
		b.held++
		if got, least := before+b.greedy.stake, b.greedy.bound*(1-1e-9); !(got >= least) {
			b.t.Fatalf("a trial is held back at %v, want at least %v", got, least)
		}
	}
	switch a.Action {
	case restart.Copy:
		b.allowed(a)
		b.start(a.Task)
	case restart.Restart:
		b.allowed(a)
		b.ends(a.Task, a.Attempt)
		b.tr.Restart(b.now, a.Task, a.Attempt)
		b.check()
		b.start(a.Task)
	}
}

// allowed stores the bound B at the time at which a trial was allowed.
func (b *bounded) allowed(a tracker.Answer) {
	b.acted[a.Action]++
	if b.greedy.guess {
		require.Less(b.t, b.risk(), b.greedy.bound*(1+1e-9))
		b.most, b.over = b.greedy.bound+b.greedy.stake, 0
	}
}

func (b *bounded) risk() float64 {
	p := b.tr.Phase()
	return (p.Trials.Cost + p.Trials.AtRisk).Seconds()
}

func (b *bounded) check() {
	b.seen++
	if got, most := b.risk(), (b.most+b.over)*(1+1e-9)+1e-6; !(got <= most) {
		b.t.Fatalf("the risk is %v, want at most %v", got, most)
	}
}

func (b *bounded) start(task int) {
	if attempt := b.tr.Start(b.now, task, -1); attempt >= 0 {
		b.runs[task] = append(b.runs[task], attempt)
		b.began[[2]int{task, attempt}] = b.now
	}
	b.check()
}

// ends removes an attempt from the running attempts.
func (b *bounded) ends(task, attempt int) {
	b.over += b.now.Sub(b.began[[2]int{task, attempt}]).Seconds()
	b.runs[task] = slices.DeleteFunc(b.runs[task], func(a int) bool { return a == attempt })
}

// finish ends a task with the success of its first attempt, or of its last.
func (b *bounded) finish(now time.Time, task int, last bool) {
	runs := b.runs[task]
	if len(runs) == 0 {
		return
	}
	winner := runs[0]
	if b.now = now; last {
		winner = runs[len(runs)-1]
	}
	for len(b.runs[task]) > 0 {
		b.ends(task, b.runs[task][0])
	}
	b.tr.Finish(now, task, winner)
	b.check()
}

// The journals in testdata are replayed under a greedy policy. At every prefix of a journal the theorem in the
// comment of restart.Trials holds.
func TestTheBoundHoldsInJournals(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.txt")
	require.NoError(t, err)
	queues, err := filepath.Glob("../engine/testdata/queue/*.txt")
	require.NoError(t, err)
	acted, held := 0, 0
	for _, file := range append(files, queues...) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		phases, err := journal.Parse(data)
		require.NoError(t, err)
		for _, phase := range phases {
			b := newBounded(t, phase.Config)
			for _, e := range phase.Events {
				runs := b.runs[e.Task]
				switch e.Kind {
				case tracker.Started, tracker.Submitted:
					if b.now = e.Time; len(runs) == 0 {
						b.start(e.Task)
					}
				case tracker.Begun, tracker.Killed, tracker.Restarted, tracker.Failed: // greedy's attempts go on
				case tracker.Finished:
					b.finish(e.Time, e.Task, false)
				case tracker.Reported, tracker.Recorded:
					if len(runs) > 0 {
						e.Kind, e.Attempt = tracker.Reported, runs[0]
						b.apply(e)
					}
				default:
					b.apply(e)
				}
				for _, task := range slices.Sorted(maps.Keys(b.runs)) {
					if !e.Time.IsZero() && len(b.runs[task]) > 0 {
						b.apply(tracker.Event{Kind: tracker.Asked, Time: e.Time, Task: task})
					}
				}
			}
			acted, held = acted+b.acted[restart.Copy]+b.acted[restart.Restart], held+b.held
		}
	}
	assert.Greater(t, acted, 100)
	assert.Greater(t, held, 100)
}

// The theorem also holds for random histories. Attempts report or are silent, take any time, fail, and are lost with
// their machines.
func TestTheBoundHoldsForRandomHistories(t *testing.T) {
	acted, held := map[restart.Action]int{}, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 9))
		b := newBounded(t, tracker.Config{Tasks: 30, Slots: 40, Machines: 10, Interval: time.Second, Lag: time.Second})
		took := make([]float64, 30)
		for i := range took {
			took[i] = 30 * math.Exp(rng.NormFloat64())
			b.now = at(0)
			b.start(i)
		}
		for s := 1; s < 200; s++ {
			for task := range took {
				runs := b.runs[task]
				switch {
				case len(runs) == 0:
				case float64(s) > took[task]:
					b.finish(at(float64(s)), task, rng.IntN(3) == 0)
				case seed%2 == 0:
					b.apply(tracker.Event{
						Kind: tracker.Reported, Time: at(float64(s)), Task: task, Attempt: runs[0],
						Report: tracker.Report{Done: float64(s) / took[task]},
					})
				default:
					b.apply(tracker.Event{Kind: tracker.Asked, Time: at(float64(s)), Task: task})
				}
				if runs = b.runs[task]; len(runs) > 1 && rng.IntN(20) == 0 {
					attempt := runs[rng.IntN(len(runs))]
					b.ends(task, attempt)
					b.apply(tracker.Event{
						Kind: []tracker.EventKind{tracker.Failed, tracker.Killed}[rng.IntN(2)], Time: at(float64(s)), Task: task, Attempt: attempt,
					})
				}
			}
		}
		held += b.held
		acted[restart.Copy] += b.acted[restart.Copy]
		acted[restart.Restart] += b.acted[restart.Restart]
	}
	assert.Greater(t, acted[restart.Copy], 300)
	assert.Greater(t, acted[restart.Restart], 30)
	assert.Greater(t, held, 3000)
}
