package main

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// lateRuns are the experiments of the rows of LATE [OSDI 2008].
var lateRuns = map[string]func(seed uint64) []float64{
	"L1": func(seed uint64) []float64 {
		return []float64{slowNodeExample(restart.Off, seed), slowNodeExample(0.25, seed)}
	},
	"L2": figure2,
	"L3": copyPhase,
	"L4": rankByTimeLeft,
	"L5": func(seed uint64) []float64 { return []float64{sleepJob(seed, 72, nil).End.Seconds()} },
	"L6": func(seed uint64) []float64 {
		r := sleepJob(seed, 72, rules.Hadoop{})
		return []float64{r.End.Seconds(), r.Wasted.Seconds() / sleepNodes}
	},
	"L7": func(seed uint64) []float64 {
		at10, at20, at100 := lateSleep(seed, 0.1).End, lateSleep(seed, 0.2).End, lateSleep(seed, 1).End
		native := sleepJob(seed, sweepReducers, rules.Hadoop{}).End
		return []float64{1 - ratio(at20, at10), ratio(at100, at20), ratio(at20, native)}
	},
	"L8": func(seed uint64) []float64 {
		waste := func(r cluster.Result) float64 { return r.Wasted.Seconds() / sleepNodes }
		at10, at20 := waste(lateSleep(seed, 0.1)), waste(lateSleep(seed, 0.2))
		native := waste(sleepJob(seed, sweepReducers, rules.Hadoop{}))
		return []float64{at10 / at20, at20 / native, native, at20}
	},
	"L9": func(seed uint64) []float64 {
		base := lateSleep(seed, 0.2).End
		var v []float64
		for _, p := range []rules.LATE{{SlowTask: 0.5}, {SlowTask: 1}, {SlowNode: 0.05}, {SlowNode: 0.5}} {
			p.SpeculativeCap = 0.2
			v = append(v, ratio(sleepJob(seed, sweepReducers, p).End, base))
		}
		return v
	},
	"L10": func(seed uint64) []float64 { return against(seed, 2, sortOn243) },
	"L11": func(seed uint64) []float64 { return against(seed, 4, sortOn100) },
	"L12": func(seed uint64) []float64 {
		return slices.Concat(
			against(seed, 4, grep), against(seed, 4, wordCount(60)), against(seed, 4, wordCount(30)),
		)
	},
	"L13": func(seed uint64) []float64 {
		var together, apart time.Duration
		for i := range uint64(10) {
			together += hadoopJob(seed<<8+i, nil, ec2, packed, 0, work100GB).End
			apart += hadoopJob(seed<<8+i, nil, ec2, isolated, 0, work100GB).End
		}
		v := []float64{ratio(together, apart), apart.Seconds() / 10}
		for k := range 7 {
			v = append(v, writeRate(k+1))
		}
		return v
	},
	"L14": func(seed uint64) []float64 {
		return append(against(seed, 10, localSort(0)), against(seed, 10, localSort(2))...)
	},
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// against runs a job a number of times under LATE, under Hadoop's rule, and without a policy. It returns the times of
// the other two divided by LATE's, and the time under Hadoop's rule in minutes.
func against(seed, times uint64, job func(seed uint64, policy restart.Policy) cluster.Result) []float64 {
	var late, native, none time.Duration
	for i := range times {
		late += job(seed<<8+i, rules.LATE{}).End
		native += job(seed<<8+i, rules.Hadoop{}).End
		none += job(seed<<8+i, nil).End
	}
	return []float64{ratio(native, late), ratio(none, late), native.Minutes() / float64(times)}
}

// must runs a simulation and panics on an error, because the configuration is fixed in this program.
func must(c cluster.Config) cluster.Result {
	r, err := cluster.Run(c)
	if err != nil {
		panic(err)
	}
	return r
}

// slowNodeExample runs §5.4.3: ten fast nodes that take a minute for a task, X that takes 2.9 and Y that takes 10
// minutes, one slot each, 32 tasks.
func slowNodeExample(slowNode float64, seed uint64) float64 {
	c := cluster.Config{
		Seed: seed, Machines: nodes(12, 1, 0, 1), Interval: 6 * time.Second,
		Restart: rules.LATE{SlowNode: slowNode, MinAge: restart.Off, SpeculativeCap: 1},
		Jobs:    []cluster.Job{{Phases: []cluster.Phase{{Tasks: sameTasks(32, 60)}}}},
	}
	c.Machines[10].Speed, c.Machines[11].Speed = 1/2.9, 1.0/10
	return must(c).End.Minutes()
}

func sameTasks(n int, seconds float64) []cluster.Task {
	tasks := make([]cluster.Task, n)
	for i := range tasks {
		tasks[i] = cluster.Task{Seconds: seconds}
	}
	return tasks
}

// figure2 computes Figure 2. Both tasks make 5 % of progress per second up to 50 %, and then 1 %. T1 began at 0 s and
// T2 at 10 s; it is 20 s now.
func figure2(uint64) []float64 {
	t1 := []estimate.Subphase{
		{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, Score: 0.1, Age: 10 * time.Second},
	}
	t2 := []estimate.Subphase{{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, PeerRate: 0.01}}
	return []float64{
		estimate.TimeLeft(0.6, 20*time.Second).Seconds(), estimate.TimeLeft(0.5, 10*time.Second).Seconds(),
		estimate.TimeLeftBySubphase(t1).Seconds(), estimate.TimeLeftBySubphase(t2).Seconds(),
	}
}

// copyPhase computes §3.2: 30 of 100 reducers have ended, and the others have copied all output that is there. Then
// one more reducer ends.
func copyPhase(uint64) []float64 {
	mean := func(ended float64) float64 { return (ended + (100-ended)/3) / 100 }
	phase := restart.Phase{Slots: 20, FreeSlots: 10, Peers: restart.Peers{MeanScore: mean(31)}}
	rates := new(estimate.Empirical)
	for range 31 {
		rates.Insert(1.0 / 300)
	}
	phase.Peers.ProgressRates = rates
	copying := restart.Task{Attempts: []restart.Attempt{{Elapsed: 5 * time.Minute, Score: 1.0 / 3}}}
	native, late := 0.0, 0.0
	for range 69 {
		if (rules.Hadoop{}).Decide(copying, phase).Action == restart.Copy {
			native++
		}
		if (rules.LATE{}).Decide(copying, phase).Action == restart.Copy {
			late++
			phase.Copies++
		}
	}
	return []float64{mean(30), mean(30) - 1.0/3, native / 69, late}
}

// rankByTimeLeft computes §4.1: A is 5 times slower than the mean and at 90 %, B is 2 times slower and at 10 %.
func rankByTimeLeft(uint64) []float64 {
	const mean = 600.0
	rates := new(estimate.Empirical)
	for range 98 {
		rates.Insert(1 / mean)
	}
	rates.Insert(1 / mean / 5)
	rates.Insert(1 / mean / 2)
	at := func(slower, score float64) restart.Task {
		age := time.Duration(mean * slower * score * float64(time.Second))
		return restart.Task{Attempts: []restart.Attempt{{Machine: -1, Elapsed: age, Score: score}}}
	}
	phase := restart.Phase{Slots: 100, FreeSlots: 1, Peers: restart.Peers{ProgressRates: rates, MeanScore: 0.9}}
	i, _ := restart.Next(rules.LATE{}, []restart.Task{at(5, 0.9), at(2, 0.1)}, nil, phase)
	return []float64{float64(i)}
}
