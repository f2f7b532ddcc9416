package main

import (
	"math/rand/v2"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/clone/risk"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// Dolly [NSDI 2013].

func dollyRows() []row {
	return []row{
		{
			id: "D1", name: "job clones, task clones", where: "Fig. 3", tier: exact, seeds: 1,
			claim: "a job straggles with 1-(1-p)^n to the c by job clones, 1-(1-p^c)^n by task clones",
			measures: []measure{
				is("job clones, c=1", ".651", .651, 5e-4), is("c=2", ".424", .424, 5e-4), is("c=3", ".276", .276, 5e-4),
				is("c=4", ".180", .180, 5e-4), is("c=5", ".117", .117, 5e-4),
				is("task clones, c=1", ".651", .651, 5e-4), is("c=2", ".0956", .0956, 5e-5),
				is("c=3", ".0100", .01, 5e-5),
				is("c=4", ".0010", .001, 5e-5), is("c=5", ".0001", .0001, 5e-5),
			},
			run: twoWaysOfCloning,
		},
		{
			id: "D2", name: "number of clones", where: "Pseudocode 1", tier: exact, seeds: 1, quick: true,
			claim: "c = ceil(log(1-(1-ε)^(1/n)) / log p), ε = 5 %",
			measures: []measure{
				is("counts that differ, of 27", "0", 0, 0), below("worst risk in 20,000 draws each", "5 %", 0.0535),
			},
			run: cloneCounts,
		},
		{
			id: "D3", name: "contention or avoidance, formula", where: "Fig. 5, eq. 1-3", tier: exact, seeds: 1,
			claim: "with three clones CAC straggles over 10 % and 30 % more than CC for n = 10 and 20",
			measures: []measure{
				input("gap at n=10", "> 10 %"), above("gap at n=20", "> 30 %", 0.3),
			},
			run: func(uint64) []float64 {
				gap := func(n int) float64 {
					return straggles(risk.Avoidance, n, 3, 0.08) - straggles(risk.Contention, n, 3, 0.08)
				}
				return []float64{gap(10), gap(20)}
			},
		},
		{
			id: "D4", name: "Dolly over LATE", where: "§5.2", tier: experiment, quick: true,
			claim: "jobs end 42 % (Facebook) and 27 % (Bing) sooner than with LATE, small ones 46 % and 37 %, with 5 % of the slots",
			measures: []measure{
				gain("Facebook, small", "46 %", 0.46), gain("all", "42 %", 0.42),
				gain("Bing, small", "37 %", 0.37), gain("all", "27 %", 0.27),
				gain("small, Facebook less Bing", "9 points", 0.09),
				below("slots used beyond, Facebook", "< 5 %", 0.05),
			},
			run: func(seed uint64) []float64 {
				f, b := traceOf(facebook, seed), traceOf(bing, seed)
				fl, bl := f.sooner(f.dolly, small), b.sooner(b.dolly, small)
				return []float64{fl, f.sooner(f.dolly, all), bl, b.sooner(b.dolly, all), fl - bl, f.extra(f.dolly)}
			},
		},
		{
			id: "D5", name: "uneven small jobs", where: "Fig. 9", tier: experiment, quick: true,
			claim: "a job's median over its slowest task's rate falls from over 5 to 1.06, at the 95th percentile 1.17",
			measures: []measure{
				times("with clones", "1.06", 1.06), times("at p95", "1.17", 1.17), above("without", "> 5", 5),
			},
			run: func(seed uint64) []float64 {
				f := traceOf(facebook, seed)
				with := f.unevenness(f.dolly)
				return []float64{
					stat.Mean(with, nil), stat.Quantile(0.95, stat.Empirical, with, nil), stat.Mean(f.unevenness(f.base), nil),
				}
			},
		},
		{
			id: "D6", name: "delay assignment, CC, CAC", where: "Fig. 11", tier: experiment, seeds: 10,
			claim: "on Bing's small jobs delay assignment gains 37 % over LATE, CC 26 %, CAC 17 %",
			measures: []measure{
				gain("delay assignment", "37 %", 0.37), gain("CC", "26 %", 0.26), gain("CAC", "17 %", 0.17),
				gain("delay assignment less CC", "11 points", 0.11), gain("CC less CAC", "9 points", 0.09),
			},
			run: func(seed uint64) []float64 {
				g := assignments(seed, 2)
				return []float64{g.delayed, g.contended, g.exclusive, g.delayed - g.contended, g.contended - g.exclusive}
			},
		},
		{
			id: "D7", name: "delay assignment, six phases", where: "Fig. 12, all-to-all", tier: experiment, seeds: 6,
			claim: "with six phases delay assignment still gains 31 %; CAC falls fast, CC moderately, delay assignment little",
			measures: []measure{
				gain("delay assignment with six phases", "31 %", 0.31), gain("its fall from two phases", "6 points", 0.06),
				above("CAC's fall less CC's", "> 0", 0), above("CC's fall less delay assignment's", "> 0", 0),
			},
			run: func(seed uint64) []float64 {
				two, six := assignments(seed, 2), assignments(seed, 6)
				da, cc, cac := two.delayed-six.delayed, two.contended-six.contended, two.exclusive-six.exclusive
				return []float64{six.delayed, da, cac - cc, cc - da}
			},
		},
		{
			id: "D8", name: "budget of clones", where: "Fig. 14-15", tier: experiment,
			claim: "with a budget of 3 % Facebook gains 38 %, its small jobs what they do with 5 %, Bing's small jobs 7 (or 9) " +
				"points less, 28 %; beyond 5 % Facebook gains no more, and far less below 2 %",
			measures: []measure{
				gain("Facebook at 3 %, all", "38 %", 0.38), flat("small, at 3 % over at 5 %", "negligible drop"),
				either("Bing, small, at 5 % less at 3 %", "7 or 9 points", 0.07, 0.09), gain("at 3 %", "28 %", 0.28),
				flat("Facebook, small, at 20 % over at 5 %", "flat"),
				below("at 0.5 % over at 5 %", "drops drastically", 0.9),
			},
			run: func(seed uint64) []float64 {
				f, b := traceOf(facebook, seed), traceOf(bing, seed)
				at := func(t *trace, beta float64) cluster.Result { return t.with(&clone.Config{BudgetShare: beta}, false) }
				three, five := at(f, 0.03), f.sooner(f.dolly, small)
				bing3 := b.sooner(at(b, 0.03), small)
				return []float64{
					f.sooner(three, all), f.sooner(three, small) / five, b.sooner(b.dolly, small) - bing3, bing3,
					f.sooner(at(f, 0.2), small) / five, f.sooner(at(f, 0.005), small) / five,
				}
			},
		},
		{
			id: "D9", name: "preemption or admission", where: "Fig. 16", tier: experiment,
			claim: "preemption gains 43 % and 29 % against 42 % and 27 % by admission, and preempts 8 % and 9 % of the tasks; " +
				"pure FCFS gains 14 % less",
			measures: []measure{
				share("Facebook, preemption less admission", "1 point", 0.01), share("Bing", "2 points", 0.02),
				share("tasks preempted, Facebook", "8 %", 0.08), share("Bing", "9 %", 0.09),
				times("FCFS's gain over admission's, Facebook", "0.86", 0.86),
			},
			run: func(seed uint64) []float64 {
				f, b := traceOf(facebook, seed), traceOf(bing, seed)
				fp, bp := f.with(&clone.Config{}, true), b.with(&clone.Config{}, true)
				fcfs := f.with(&clone.Config{Shortage: clone.FirstTasks}, false)
				admitted := f.sooner(f.dolly, all)
				return []float64{
					f.sooner(fp, all) - admitted, b.sooner(bp, all) - b.sooner(b.dolly, all), f.preempted(fp), b.preempted(bp),
					f.sooner(fcfs, all) / admitted,
				}
			},
		},
		{
			id: "D10", name: "jobs without stragglers", where: "§2", tier: experiment,
			claim: "without stragglers jobs would end 47 % (Facebook) and 29 % (Bing) sooner, small ones 49 % and 38 %",
			measures: []measure{
				gain("Facebook", "47 %", 0.47), gain("small", "49 %", 0.49),
				gain("Bing", "29 %", 0.29), input("small", "38 %"), besides("Bing without quotas"),
			},
			run: func(seed uint64) []float64 {
				f, b := traceOf(facebook, seed), traceOf(bing, seed)
				f1, f2 := f.potential(rules.LATE{}, nil)
				b1, b2 := b.potential(restart.Mantri{}, quotas(seed, b.config.Jobs))
				b3, _ := b.potential(restart.Mantri{}, nil)
				return []float64{f1, f2, b1, b2, b3}
			},
		},
		{
			id: "D11", name: "Dolly over Mantri", where: "§5.2", tier: experiment, seeds: 8,
			claim: "beside Mantri, jobs end 40 % (Facebook) and 23 % (Bing) sooner, small ones 44 % and 34 %",
			measures: []measure{
				gain("Facebook, small", "44 %", 0.44), gain("all", "40 %", 0.40),
				gain("Bing, small", "34 %", 0.34), gain("all", "23 %", 0.23),
			},
			run: func(seed uint64) []float64 {
				fs, fa := traceOf(facebook, seed).overMantri()
				bs, ba := traceOf(bing, seed).overMantri()
				return []float64{fs, fa, bs, ba}
			},
		},
		{
			id: "D12", name: "small jobs, who gains", where: "Fig. 8c", tier: experiment, seeds: 10,
			claim: "Facebook's small jobs gain nearly 50 % and 60 % at p75 and p90, and something at p10",
			measures: []measure{
				gain("at p75", "50 %", 0.5), gain("at p90", "60 %", 0.6), above("at p10", "> 0", 1e-3), besides("at p50"),
			},
			run: func(seed uint64) []float64 {
				gains := traceOf(facebook, seed).gainsOfSmall()
				at := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, gains, nil) }
				return []float64{at(0.75), at(0.9), at(0.1), at(0.5)}
			},
		},
	}
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
