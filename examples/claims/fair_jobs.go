package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/gate"
	"github.com/straggler-go/straggler/fairshare/preempt"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// slowdowns returns means over 20 submission schedules, as in Figures 8 and 9.
func slowdowns(seed uint64) []float64 {
	mean := means(20, seed, schedule)
	batch, worst := mean[:3], mean[3:]
	return []float64{
		batch[1] / batch[0], batch[2] / batch[0], worst[1] / worst[0], worst[2] / worst[1], worst[3] / worst[1], worst[0],
	}
}

// schedule runs one submission schedule of §5.3. It has 30 jobs, one every 30 s, on ten nodes with a map slot and a
// reduce slot each. A job has 1 to 400 maps by Zipf's law, and up to a fifth as many reduces. Splitting allows three
// reduces on a node, of which one computes. The slowdown of a job is its time divided by its time alone, with
// splitting. It returns the batch times under FIFO, fair sharing and splitting, and the worst slowdowns under FIFO,
// fair sharing, preemption and splitting.
func schedule(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 53))
	var jobs []cluster.Job
	at := 0.0
	for range 30 {
		maps := int(math.Ceil(400 * math.Pow(400, -rng.Float64()))) // the density falls as 1/size
		job := cluster.Job{At: inSeconds(at), Phases: []cluster.Phase{
			{Tasks: sameTasks(maps, 20)},
			{
				Kind: cluster.Reduce, After: []int{0}, Begin: 0.05, Fetch: 1,
				Tasks: make([]cluster.Task, 1+rng.IntN(max(1, maps/5))),
			},
		}}
		for i := range job.Phases[1].Tasks {
			job.Phases[1].Tasks[i] = cluster.Task{Seconds: 10, Bytes: 2}
		}
		jobs = append(jobs, job)
		at += rng.ExpFloat64() * 30
	}
	run := func(jobs []cluster.Job, set func(*cluster.Config)) cluster.Result {
		c := cluster.Config{Seed: seed, Machines: nodes(10, 1, 1, 1), Jobs: jobs}
		set(&c)
		return must(c)
	}
	split := func(c *cluster.Config) {
		c.Machines = nodes(10, 1, 3, 1)
		c.Order.Gate = &gate.Config{MaxComputing: 1, MaxReducers: 3}
	}
	alone := make([]time.Duration, len(jobs))
	for i, j := range jobs {
		j.At = 0
		alone[i] = run([]cluster.Job{j}, split).End
	}
	worst := func(r cluster.Result) float64 {
		most := 0.0
		for i, j := range r.Jobs {
			most = max(most, ratio(j.Took(), alone[i]))
		}
		return most
	}
	fifo := run(jobs, func(c *cluster.Config) { c.Order.Policy.Discipline = fairshare.FIFO })
	fair := run(jobs, func(*cluster.Config) {})
	kills := run(jobs, func(c *cluster.Config) {
		c.Order.Preempt = &preempt.Config{Timeouts: preempt.Timeouts{Min: starved, Fair: starved}}
	})
	splits := run(jobs, split)
	return []float64{
		fifo.End.Seconds(), fair.End.Seconds(), splits.End.Seconds(),
		worst(fifo), worst(fair), worst(kills), worst(splits),
	}
}

// starved is the time below half of its share after which a job may kill attempts of others in H8. The paper has no
// figure for it.
const starved = 30 * time.Second

// fiveJobs runs §6.2.6: five jobs of 100 GB and 190 reduces on the nodes of EC2, with four map slots and two reduce
// slots each.
func fiveJobs(seed uint64, discipline fairshare.Discipline) time.Duration {
	c := cluster.Config{Seed: seed, Machines: nodes(100, 4, 2, 1)}
	c.Order.Policy.Discipline = discipline
	scatter := func(r *rand.Rand, _, _, _ int) float64 { return 0.9 + 0.2*r.Float64() }
	for range 5 {
		c.Jobs = append(c.Jobs, cluster.Job{Phases: []cluster.Phase{
			{Tasks: sameTasks(100_000/64, 60), Luck: scatter},
			{Kind: cluster.Reduce, After: []int{0}, Begin: 0.05, Tasks: sameTasks(190, 60), Luck: scatter},
		}})
	}
	return must(c).End
}

// startAndEnd is the time that a job on EC2 takes beside its maps: a job of 16 scans of 9 s takes 35.4 s alone (§6.2.3).
const startAndEnd = 26 * time.Second

// hotFile runs §6.2.4 with ten files. For each file, ten workers that scan and ten workers that compute submit jobs
// on the same 2 GB, for ten minutes. For each class it returns how many more jobs end with a biased wait than without
// a wait, and than with an untuned wait.
func hotFile(seed uint64) []float64 {
	wait, none := waiting(10*time.Second), waiting(0)
	var scans, computes [3]float64 // with a biased wait, without a wait, with an untuned wait
	for file := range uint64(10) {
		for k, waits := range [][2]*delay.Policy{{wait, none}, {none, none}, {wait, wait}} {
			for i, j := range must(hotConfig(seed<<8+file, waits)).Jobs {
				switch {
				case j.End == 0:
				case i%20 < 10:
					scans[k]++
				default:
					computes[k]++
				}
			}
		}
	}
	return []float64{
		scans[0]/scans[1] - 1, scans[0]/scans[2] - 1, computes[0]/computes[1] - 1, computes[0]/computes[2] - 1,
	}
}

// hotConfig returns the jobs of twenty workers. The first ten workers of each twenty submit scans, and the others
// compute jobs.
func hotConfig(seed uint64, waits [2]*delay.Policy) cluster.Config {
	const n, blocks, perWorker = 100, 16, 60
	rng := rand.New(rand.NewPCG(seed, 64))
	tasks := [2][]cluster.Task{make([]cluster.Task, blocks), make([]cluster.Task, blocks)}
	for i := range blocks {
		at := replicas(rng, n, 3)
		tasks[0][i] = cluster.Task{Bytes: 9, Replicas: at}
		tasks[1][i] = cluster.Task{Seconds: 36, Replicas: at}
	}
	c := cluster.Config{
		Seed: seed, Machines: nodes(n, 4, 0, 1), Disk: 1, Remote: 1, Network: networkOf(n), Until: 10 * time.Minute,
		Heartbeat: heartbeat, OneTask: true, EvenLoad: true,
	}
	for i := range 20 * perWorker {
		class := i % 20 / 10
		j := cluster.Job{Delay: waits[class], Phases: []cluster.Phase{{Tasks: tasks[class]}}}
		if i >= 20 {
			j.At, j.Follows = startAndEnd, i-20+1
		}
		c.Jobs = append(c.Jobs, j)
	}
	return c
}

// macrobenchmark runs three schedules of §6.1. It returns the median of the mean gains of bins 0 and 1, and the mean
// of the gains of bin 0.
func macrobenchmark(seed uint64) []float64 {
	var both, first []float64
	for i := range uint64(3) {
		b, f := facebookDay(seed<<8 + i)
		both, first = append(both, b), append(first, f)
	}
	return []float64{quartile(both, 2), stat.Mean(first, nil)}
}

// dayOfJobs returns jobs with the sizes and numbers of Table 2, submitted every 30 s on average, with maps of 9 to 60
// s, and the bin of each job.
func dayOfJobs(seed uint64) (jobs []cluster.Job, bins []int) {
	sizes := []int{16, 40, 80, 160, 320, 600, 1200, 2400, 6400}
	counts := []int{29, 5, 4, 4, 3, 2, 1, 1, 1}
	rng := rand.New(rand.NewPCG(seed, 61))
	for bin, n := range counts {
		for range n {
			bins = append(bins, bin)
		}
	}
	rng.Shuffle(len(bins), func(i, j int) { bins[i], bins[j] = bins[j], bins[i] })
	at := 0.0
	for _, bin := range bins {
		maps, length := sizes[bin], 9+51*rng.Float64()
		reduces := make([]cluster.Task, max(1, int(float64(maps)*(0.05+0.2*rng.Float64()))))
		for i := range reduces {
			reduces[i] = cluster.Task{Seconds: length * rng.Float64(), Bytes: length * rng.Float64()}
		}
		jobs = append(jobs, cluster.Job{At: inSeconds(at), Phases: []cluster.Phase{
			{Tasks: sameTasks(maps, length)},
			{Kind: cluster.Reduce, After: []int{0}, Begin: 0.05, Fetch: 1, Tasks: reduces},
		}})
		at += rng.ExpFloat64() * 30
	}
	return jobs, bins
}

// facebookDay runs a day of jobs on 100 nodes with four map slots and two reduce slots. It returns the mean gain of
// fair sharing and splitting for bins 0 and 1, and for bin 0. Each job also takes the time to start and to end.
func facebookDay(seed uint64) (both, first float64) {
	jobs, bins := dayOfJobs(seed)
	fifo := cluster.Config{Seed: seed, Machines: nodes(100, 4, 2, 1), Jobs: jobs}
	fifo.Order.Policy.Discipline = fairshare.FIFO
	fair := cluster.Config{Seed: seed, Machines: nodes(100, 4, 6, 1), Jobs: jobs}
	fair.Order.Gate = &gate.Config{MaxComputing: 2}
	a, b := must(fifo), must(fair)
	var gains [2][]float64
	for i, bin := range bins {
		if bin <= 1 {
			gains[bin] = append(gains[bin], ratio(a.Jobs[i].Took()+startAndEnd, b.Jobs[i].Took()+startAndEnd))
		}
	}
	return stat.Mean(append(gains[1], gains[0]...), nil), stat.Mean(gains[0], nil)
}

// localDay runs a day of jobs by fair sharing and splitting, without a delay and with a delay of 10 s. A map reads
// its block for 9 s, as the shortest maps do, and computes for the rest of its time. Away from the block it reads over
// H5's network. Blocks are on three nodes. It returns the localities of bin 0 and of the largest job, without
// delay and with it, and the mean time of the jobs of bins 0 and 1 with delay divided by that without.
func localDay(seed uint64) []float64 {
	jobs, bins := dayOfJobs(seed)
	rng := rand.New(rand.NewPCG(seed, 65))
	for i := range jobs {
		maps := jobs[i].Phases[0].Tasks
		for k := range maps {
			maps[k] = cluster.Task{Bytes: 9, Seconds: maps[k].Seconds - 9, Replicas: replicas(rng, 100, 3)}
		}
	}
	c := cluster.Config{
		Seed: seed, Machines: nodes(100, 4, 6, 1), Jobs: jobs, Disk: 1, Remote: 1, Network: networkOf(100), Heartbeat: heartbeat,
		OneTask: true, EvenLoad: true,
	}
	c.Order.Gate = &gate.Config{MaxComputing: 2}
	var localities, took []float64
	for _, wait := range []*delay.Policy{nil, waiting(10 * time.Second)} {
		c.Delay = wait
		r := must(c)
		var near [9]cluster.Near
		sum := 0.0
		for i, j := range r.Jobs {
			for level, n := range j.Near {
				near[bins[i]][level] += n
			}
			if bins[i] <= 1 {
				sum += j.Took().Seconds()
			}
		}
		localities, took = append(localities, near[0].Share(0), near[8].Share(0)), append(took, sum)
	}
	return append(localities, took[1]/took[0])
}

// smallJobAlone runs §6.2.3, a job that is alone on 100 nodes: 16 scans of blocks of 128 MB in 9 s, and a
// reduce. The network is idle, so a scan reads as fast away from its block as at it: nodes have four disks of 55 MB/s
// (LATE §5.1.1) and send 1 Gbps to each other (Table 1). The reduce takes the 26 s that the paper's 35.4 s leave
// beside the scans, as in H11.
func smallJobAlone(seed uint64) []float64 {
	const block = 128e6
	rng := rand.New(rand.NewPCG(seed, 66))
	maps := make([]cluster.Task, 16)
	for k := range maps {
		maps[k] = cluster.Task{Bytes: block, Replicas: replicas(rng, 100, 3)}
	}
	c := cluster.Config{
		Seed: seed, Machines: nodes(100, 4, 2, 1), Physical: slices.Repeat([]cluster.Physical{{Disk: 4 * 55e6, Card: card}}, 100),
		Remote: block / 9, Heartbeat: heartbeat, OneTask: true, EvenLoad: true,
		Jobs: []cluster.Job{{Phases: []cluster.Phase{
			{Tasks: maps}, {Kind: cluster.Reduce, After: []int{0}, Tasks: sameTasks(1, 26)},
		}}},
	}
	for k := range c.Machines {
		c.Machines[k].Physical = k
	}
	plain := must(c)
	c.Delay = waiting(10 * time.Second)
	delayed := must(c)
	return []float64{ratio(delayed.End, plain.End), plain.Near.Share(0), delayed.Near.Share(0), plain.End.Seconds()}
}

// singleJob runs §6.2.5: 14624 maps and 5000 reduces on 450 nodes with four reduce slots each, in three waves.
// Splitting lets the reduces of the next wave copy while the reduces of this wave compute.
func singleJob(seed uint64) []float64 {
	reduces := make([]cluster.Task, 5000)
	for i := range reduces {
		reduces[i] = cluster.Task{Seconds: 100, Bytes: 20}
	}
	job := cluster.Job{Phases: []cluster.Phase{
		{Tasks: sameTasks(14624, 40)}, {Kind: cluster.Reduce, After: []int{0}, Begin: 0.05, Fetch: 1, Tasks: reduces},
	}}
	plain := cluster.Config{Seed: seed, Machines: nodes(450, 6, 4, 1), Jobs: []cluster.Job{job}}
	split := plain
	split.Machines = nodes(450, 6, 12, 1)
	split.Order.Gate = &gate.Config{MaxComputing: 4}
	with, without := must(split).End, must(plain).End
	return []float64{1 - ratio(with, without), without.Minutes()}
}

// tenPercent runs §3.2: 100 slots with tasks of a minute that end at random times, and a job that arrives and wants
// ten slots.
func tenPercent(seed uint64) []float64 {
	const length, comes = 60, 150
	c := cluster.Config{Seed: seed, Machines: nodes(100, 1, 0, 1)}
	first := func(r *rand.Rand, _, _, wave int) float64 {
		if wave == 0 {
			return r.Float64() // the first wave is cut short, so that the ends are spread over the minute
		}
		return 1
	}
	c.Jobs = []cluster.Job{
		{Phases: []cluster.Phase{{Tasks: sameTasks(600, length), Luck: first}}},
		{At: comes * time.Second, Phases: []cluster.Phase{{Tasks: sameTasks(10, length)}}},
	}
	return []float64{must(c).Jobs[1].Took().Seconds() - length}
}
