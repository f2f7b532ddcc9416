package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/delay/assign"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// generatedPhase returns a phase on slots of its own, with outliers as in Mantri's §3 and §4. Some parameters are not
// in the paper and are choices: a median of 20 slots, a median time of a minute, a scatter of 15 % for tasks that are
// not outliers, and at most 1500 tasks.
func generatedPhase(r *rand.Rand, seed uint64) (cluster.Config, cluster.Phase) {
	slots := int(min(max(math.Round(20*math.Exp(0.8*r.NormFloat64())), 2), 100))
	tasks := int(min(max(math.Round(float64(slots)*tasksPerSlot(r)), 1), 1500))
	typical := 60 * math.Exp(0.7*r.NormFloat64())
	phase := outlierPhase(r, tasks, typical)
	c := cluster.Config{
		Seed: seed, Interval: interval(typical), Record: true, Jobs: []cluster.Job{{Phases: []cluster.Phase{phase}}},
	}
	for range slots {
		c.Machines = append(c.Machines, cluster.Machine{Slots: [2]int{1}})
	}
	return c, phase
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
	c := cluster.Config{Seed: seed}
	slots := 20 + r.IntN(60)
	for range slots {
		c.Machines = append(c.Machines, cluster.Machine{Slots: [2]int{1}})
	}
	var phases []cluster.Phase
	n := int(float64(slots) * tasksPerSlot(r))
	n = min(max(n, 4), 1500)
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
	c.Jobs = []cluster.Job{{Phases: phases}}
	return c
}

func meanSeconds(tasks []cluster.Task) float64 {
	sum := 0.0
	for _, t := range tasks {
		sum += t.Seconds
	}
	return sum / float64(len(tasks))
}
