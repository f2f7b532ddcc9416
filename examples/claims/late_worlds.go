package main

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

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
		Seed: seed, Interval: 6 * time.Second,
		Restart: rules.LATE{SlowNode: slowNode, MinAge: restart.Off, SpeculativeCap: 1},
		Jobs:    []cluster.Job{{Phases: []cluster.Phase{{Tasks: sameTasks(32, 60)}}}},
	}
	for i := range 12 {
		m := cluster.Machine{Slots: [2]int{1}}
		switch i {
		case 10:
			m.Speed = 1 / 2.9
		case 11:
			m.Speed = 1.0 / 10
		}
		c.Machines = append(c.Machines, m)
	}
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
