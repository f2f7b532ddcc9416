package main

import (
	"math/rand/v2"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/clone/risk"
	"github.com/straggler-go/straggler/delay/assign"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// dollyRuns are the experiments of the rows of Dolly [NSDI 2013].
var dollyRuns = map[string]func(seed uint64) []float64{
	"D1": twoWaysOfCloning,
	"D2": cloneCounts,
	"D3": func(uint64) []float64 {
		gap := func(n int) float64 {
			return straggles(risk.Avoidance, n, 3, 0.08) - straggles(risk.Contention, n, 3, 0.08)
		}
		return []float64{gap(10), gap(20)}
	},
	"D4": func(seed uint64) []float64 {
		f, b := facebookTrace(seed), bingTrace(seed)
		fl, bl := f.sooner(f.dolly, small), b.sooner(b.dolly, small)
		return []float64{fl, f.sooner(f.dolly, all), bl, b.sooner(b.dolly, all), fl - bl, f.extra(f.dolly)}
	},
	"D5": func(seed uint64) []float64 {
		f := facebookTrace(seed)
		with := f.unevenness(f.dolly)
		return []float64{
			stat.Mean(with, nil), stat.Quantile(0.95, stat.Empirical, with, nil), stat.Mean(f.unevenness(f.base), nil),
		}
	},
	"D6": func(seed uint64) []float64 {
		g := twoPhases(seed)
		return []float64{g.delayed, g.contended, g.exclusive, g.delayed - g.contended, g.contended - g.exclusive}
	},
	"D7": func(seed uint64) []float64 {
		two, six := twoPhases(seed), assignments(seed, 6, assign.AllToAll)
		da, cc, cac := two.delayed-six.delayed, two.contended-six.contended, two.exclusive-six.exclusive
		return []float64{six.delayed, da, cac - cc, cc - da}
	},
	"D8": func(seed uint64) []float64 {
		f, b := facebookTrace(seed), bingTrace(seed)
		at := func(t *trace, beta float64) cluster.Result { return t.with(&clone.Config{BudgetShare: beta}, false) }
		three, five := at(f, 0.03), f.sooner(f.dolly, small)
		bing3 := b.sooner(at(b, 0.03), small)
		return []float64{
			f.sooner(three, all), f.sooner(three, small) / five, b.sooner(b.dolly, small) - bing3, bing3,
			f.sooner(at(f, 0.2), small) / five, f.sooner(at(f, 0.005), small) / five,
		}
	},
	"D9": func(seed uint64) []float64 {
		f, b := facebookTrace(seed), bingTrace(seed)
		fp, bp := f.with(&clone.Config{}, true), b.with(&clone.Config{}, true)
		fcfs := f.with(&clone.Config{Shortage: clone.FirstTasks}, false)
		admitted := f.sooner(f.dolly, all)
		return []float64{
			f.sooner(fp, all) - admitted, b.sooner(bp, all) - b.sooner(b.dolly, all), f.preempted(fp), b.preempted(bp),
			f.sooner(fcfs, all) / admitted,
		}
	},
	"D10": func(seed uint64) []float64 {
		f, b := facebookTrace(seed), bingTrace(seed)
		f1, f2 := f.potential(rules.LATE{}, nil)
		b1, b2 := b.potential(restart.Mantri{}, quotas(seed, b.config.Jobs))
		b3, _ := b.potential(restart.Mantri{}, nil)
		return []float64{f1, f2, b1, b2, b3}
	},
	"D11": func(seed uint64) []float64 {
		fs, fa := facebookTrace(seed).overMantri()
		bs, ba := bingTrace(seed).overMantri()
		return []float64{fs, fa, bs, ba}
	},
	"D12": func(seed uint64) []float64 {
		gains := facebookTrace(seed).gainsOfSmall()
		at := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, gains, nil) }
		return []float64{at(0.75), at(0.9), at(0.1), at(0.5)}
	},
	"D13": func(seed uint64) []float64 {
		all, many, one := twoPhases(seed).value(), assignments(seed, 2, assign.ManyToOne).value(), assignments(seed, 2, assign.OneToOne).value()
		return []float64{all - many, all - one, all, many, one}
	},
}

func straggles(s risk.Scheme, n, c int, p float64) float64 {
	x, err := risk.Of(s, n, c, p)
	check(err)
	return x
}

func twoWaysOfCloning(uint64) []float64 {
	var v []float64
	for _, s := range []risk.Scheme{risk.JobLevel, risk.TaskLevel} {
		for c := 1; c <= 5; c++ {
			v = append(v, straggles(s, 10, c, 0.1))
		}
	}
	return v
}

// cloneCounts compares the numbers of clones with numbers that were computed to 80 digits, and measures the remaining
// risk by random draws.
func cloneCounts(seed uint64) []float64 {
	sizes := []int{1, 2, 5, 10, 20, 50, 150, 500, 1000}
	rng := rand.New(rand.NewPCG(seed, 2))
	differ, worst := 0.0, 0.0
	for _, want := range []struct {
		p      float64
		counts []int
	}{
		{.1, []int{2, 2, 2, 3, 3, 3, 4, 4, 5}}, {.05, []int{1, 2, 2, 2, 2, 3, 3, 4, 4}}, {.2, []int{2, 3, 3, 4, 4, 5, 5, 6, 7}},
	} {
		for i, n := range sizes {
			c, err := clone.Count(n, want.p, 0.05)
			check(err)
			if c != want.counts[i] {
				differ++
			}
			worst = max(worst, drawnRisk(rng, n, c, want.p))
		}
	}
	return []float64{differ, worst}
}

// drawnRisk returns the share of 20,000 jobs in which at least one task has only clones that straggle.
func drawnRisk(rng *rand.Rand, n, c int, p float64) float64 {
	const jobs = 20000
	straggled := 0
	for range jobs {
		for range n {
			fine := false
			for range c {
				fine = fine || rng.Float64() >= p
			}
			if !fine {
				straggled++
				break
			}
		}
	}
	return float64(straggled) / jobs
}
