package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/delay/assign"
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
	time, used     weighted
	copies, better int       // copies and restarts, and those that won
	at             []float64 // share of its first attempt's time after which each further attempt began
	perTask        []float64 // of each phase: copies and restarts divided by its tasks
}

func (t *tally) add(base, r cluster.Result) {
	weight := base.End.Seconds()
	t.time.add(1-ratio(r.End, base.End), weight)
	t.used.add(1-ratio(r.Used[cluster.Map], base.Used[cluster.Map]), weight)
	t.copies += r.Speculative + r.Restarted
	t.perTask = append(t.perTask, float64(r.Speculative+r.Restarted)/float64(len(base.Runs)))
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

// notHelped returns the share of the phases, by weight, that do not end sooner.
func (t *tally) notHelped() float64 {
	slower := make([]float64, len(t.time.values))
	for i, v := range t.time.values {
		if v <= 0 {
			slower[i] = 1
		}
	}
	return stat.Mean(slower, t.time.weights)
}

func (t *tally) success() float64 { return float64(t.better) / float64(max(1, t.copies)) }

// averagePhase returns the mean over the phases of the copies and restarts a task [Mantri §6.3].
func (t *tally) averagePhase() float64 { return stat.Mean(t.perTask, nil) }

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
	c.Jobs = []cluster.Job{{Phases: []cluster.Phase{{Tasks: sameTasks(len(took), stat.Mean(of, nil))}}}}
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

// generatedPhase returns a phase on slots of its own, with outliers as in Mantri's §3 and §4. Some parameters are not
// in the paper and are choices: a median of 20 slots, a median time of a minute, a scatter of 15 % for tasks that are
// not outliers, and at most 1500 tasks.
func generatedPhase(r *rand.Rand, seed uint64) (cluster.Config, cluster.Phase) {
	slots := int(min(max(math.Round(20*math.Exp(0.8*r.NormFloat64())), 2), 100))
	tasks := int(min(max(math.Round(float64(slots)*tasksPerSlot(r)), 1), 1500))
	typical := 60 * math.Exp(0.7*r.NormFloat64())
	phase := outlierPhase(r, tasks, typical)
	return cluster.Config{
		Seed: seed, Machines: nodes(slots, 1, 0, 1), Interval: interval(typical), Record: true,
		Jobs: []cluster.Job{{Phases: []cluster.Phase{phase}}},
	}, phase
}

// tasksPerSlot draws the number of tasks divided by the number of slots. The log-normal distribution with the paper's
// median of 2.11 and standard deviation of 12.37 has a σ of 1.36 [Mantri §3.1].
func tasksPerSlot(r *rand.Rand) float64 { return 2.11 * math.Exp(1.36*r.NormFloat64()) }

// interval returns the time between two reports (Δ): 10 s, or a tenth of a task's time if that is less [Mantri §5].
func interval(typical float64) time.Duration {
	return min(10*time.Second, time.Duration(typical/10*float64(time.Second)))
}

// outlierPhase draws the share of outliers, the outliers that their data explain, and the tasks.
func outlierPhase(r *rand.Rand, tasks int, typical float64) cluster.Phase {
	share := min(r.ExpFloat64()*0.15/math.Log(4), 1)
	explained := 0.5
	switch kind := r.Float64(); {
	case kind < 0.4:
		explained = 1
	case kind < 0.58:
		explained = 0
	}
	phase := cluster.Phase{Luck: func(r *rand.Rand, _, _, _ int) float64 {
		if r.Float64() < share*(1-explained) {
			return outlier(r)
		}
		return min(math.Exp(0.15*r.NormFloat64()), 1.5)
	}}
	for range tasks {
		data := 1.0
		if r.Float64() < share*explained {
			data = outlier(r)
		}
		phase.Tasks = append(phase.Tasks, cluster.Task{Seconds: typical * data, Work: data})
	}
	return phase
}

// outlier draws the time of an outlier as a multiple of the median.
func outlier(r *rand.Rand) float64 {
	switch kind := r.Float64(); {
	case kind < 0.8:
		return 1.5 + r.Float64()
	case kind < 0.9:
		return 2.5 + 7.5*r.Float64()
	}
	return 10 + 2*r.Float64()
}

// withoutOutliers runs jobs of eight phases and eleven edges, of which half are barriers. They run with all outliers,
// without the outliers that data do not explain, and with tasks that all take the mean of their phase, as in NoSkew.
func withoutOutliers(seed uint64) []float64 {
	var runtime, none weighted
	for i := range 40 {
		r := rand.New(rand.NewPCG(seed, uint64(2000+i)))
		c := dag(r, seed<<8+uint64(i))
		base := must(c)
		weight := base.Used[cluster.Map].Seconds() // "weighs each job by the total cluster time its tasks take to run"
		for k := range c.Jobs[0].Phases {
			c.Jobs[0].Phases[k].Luck = nil
		}
		runtime.add(1-ratio(must(c).End, base.End), weight)
		for k := range c.Jobs[0].Phases {
			p := &c.Jobs[0].Phases[k]
			p.Tasks = sameTasks(len(p.Tasks), meanSeconds(p.Tasks))
		}
		none.add(1-ratio(must(c).End, base.End), weight)
	}
	return []float64{runtime.quantile(0.5), none.quantile(0.5)}
}

// dag returns a job of eight phases. Each phase reads the phase before it, and the last four also read the phase
// before that, which makes eleven edges. A little over half of the phases may begin task by task, as their inputs
// end.
func dag(r *rand.Rand, seed uint64) cluster.Config {
	slots := 20 + r.IntN(60)
	var phases []cluster.Phase
	n := min(max(int(float64(slots)*tasksPerSlot(r)), 4), 1500)
	for k := range 8 {
		p := outlierPhase(r, n, 60*math.Exp(0.5*r.NormFloat64()))
		if k > 0 {
			p.After = []int{k - 1}
			if k >= 4 {
				p.After = append(p.After, k-2)
			}
			if r.Float64() >= 0.47 {
				p.Pattern = assign.OneToOne
			}
		}
		phases = append(phases, p)
	}
	return cluster.Config{Seed: seed, Machines: nodes(slots, 1, 0, 1), Jobs: []cluster.Job{{Phases: phases}}}
}

func meanSeconds(tasks []cluster.Task) float64 {
	sum := 0.0
	for _, t := range tasks {
		sum += t.Seconds
	}
	return sum / float64(len(tasks))
}
