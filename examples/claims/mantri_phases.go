package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// The policies of Figure 14, as indexes.
const (
	mantri = iota
	late
	hadoop
	mapReduce
	dryad
	early
)

var policies = []restart.Policy{
	restart.Mantri{}, rules.LATE{}, rules.Hadoop{}, rules.MapReduce{}, rules.Dryad{}, rules.LATE{Early: true},
}

// survey has the results of many phases under each policy, compared with no action. Mantri starts the largest waiting
// task first, as line 8 of its Pseudocode 1 does. The other policies start tasks in the order of the phase.
type survey struct {
	policies         [6]tally
	noSkew, chopTail tally
	// The two parts of Mantri alone: its restarts, and the order by size [Mantri §5.4].
	restarts, order tally
	// Of the phases of which data explain no outlier.
	pureMantri, pureNoSkew tally
}

// tally has the results of one policy. The values are weighted by the time of the phase, as in the paper.
type tally struct {
	time, used                      weighted
	tasks, copies, restarts, better int
	at                              []float64 // share of its first attempt's time after which each further attempt began
}

func (t *tally) add(base, r cluster.Result) {
	weight := base.End.Seconds()
	t.time.add(1-ratio(r.End, base.End), weight)
	t.used.add(1-ratio(r.Used[cluster.Map], base.Used[cluster.Map]), weight)
	t.copies += r.Speculative
	t.restarts += r.Restarted
	t.better += r.Won
}

// acts records when further attempts began. In base, each task has one attempt, with the luck of the first attempt in
// r.
func (t *tally) acts(base, r cluster.Result) {
	took, begun := make([]time.Duration, len(base.Runs)), make([]time.Duration, len(base.Runs))
	for _, run := range base.Runs {
		took[run.Task], begun[run.Task] = run.End-run.Begin, math.MaxInt64
	}
	for _, run := range r.Runs {
		begun[run.Task] = min(begun[run.Task], run.Begin)
	}
	for _, run := range r.Runs {
		if run.Begin > begun[run.Task] {
			t.at = append(t.at, ratio(run.Begin-begun[run.Task], took[run.Task]))
		}
	}
}

// before returns the part of the further attempts that began before a share of the first attempt's time.
func (t *tally) before(share float64) float64 {
	n := 0
	for _, at := range t.at {
		if at < share {
			n++
		}
	}
	return float64(n) / float64(max(1, len(t.at)))
}

func (t *tally) sooner(p float64) float64 { return t.time.quantile(p) }

func (t *tally) saved(p float64) float64 { return t.used.quantile(p) }

func (t *tally) meanSaved() float64 { return t.used.mean() }

// notHelped returns the share of the phases, by weight, that do not end sooner.
func (t *tally) notHelped() float64 {
	sum, all := 0.0, 0.0
	for _, v := range t.time {
		all += v.weight
		if v.value <= 0 {
			sum += v.weight
		}
	}
	return sum / all
}

func (t *tally) success() float64 { return float64(t.better) / float64(max(1, t.copies+t.restarts)) }

func (t *tally) perTask() float64 { return float64(t.copies+t.restarts) / float64(t.tasks) }

const phasesPerSeed = 400

// phasesOf runs the phases of a seed under every policy, only once for all rows.
var phasesOf = oncePerSeed(func(seed uint64) *survey {
	s := new(survey)
	for i := range phasesPerSeed {
		c, phase := generatedPhase(rand.New(rand.NewPCG(seed, uint64(i))), seed<<16+uint64(i))
		base := must(c)
		for k, p := range policies {
			with := c
			with.Restart, with.LargestFirst = p, k == mantri
			s.policies[k].tasks += len(phase.Tasks)
			r := must(with)
			s.policies[k].add(base, r)
			s.policies[k].acts(base, r)
			if k == mantri && !dataOutliers(phase) {
				s.pureMantri.add(base, r)
			}
		}
		part := c
		part.Restart = restart.Mantri{}
		s.restarts.add(base, must(part))
		part.Restart, part.LargestFirst = nil, true
		s.order.add(base, must(part))
		var took []float64
		for _, run := range base.Runs {
			took = append(took, (run.End - run.Begin).Seconds())
		}
		slices.Sort(took)
		even := evenPhase(c, took, took)
		s.noSkew.add(base, even)
		if !dataOutliers(phase) {
			s.pureNoSkew.add(base, even)
		}
		s.chopTail.add(base, evenPhase(c, took, took[:len(took)-len(took)/4]))
	}
	return s
})

func dataOutliers(p cluster.Phase) bool {
	return slices.ContainsFunc(p.Tasks, func(t cluster.Task) bool { return t.Work > 1 })
}

// evenPhase runs a phase in which every task takes the mean of some times.
func evenPhase(c cluster.Config, took, of []float64) cluster.Result {
	sum := 0.0
	for _, t := range of {
		sum += t
	}
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{{Tasks: sameTasks(len(took), sum/float64(len(of)))}}}}
	return must(c)
}

// oncePerSeed returns a function that calls f only once for each seed.
func oncePerSeed[T any](f func(seed uint64) T) func(seed uint64) T {
	var lock sync.Mutex
	known := map[uint64]func() T{}
	return func(seed uint64) T {
		lock.Lock()
		get := known[seed]
		if get == nil {
			get = sync.OnceValue(func() T { return f(seed) })
			known[seed] = get
		}
		lock.Unlock()
		return get()
	}
}
