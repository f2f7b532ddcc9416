package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/laxity"
	lof "github.com/straggler-go/straggler/laxity/outlier"
	"github.com/straggler-go/straggler/skew"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// deadlines runs 6, 8 and 10 jobs of 59 maps and 23 reduces on 82 cores by least laxity, deadline, arrival and fair
// shares.
func deadlines(seed uint64) []float64 {
	ways := []func(*cluster.Config){
		func(c *cluster.Config) { c.Order.Laxity, c.Forecast = &laxity.Policy{}, &knn.Config{} }, // only laxities need estimates
		func(c *cluster.Config) { c.Order.Laxity = &laxity.Policy{Rule: laxity.DeadlineFirst} },
		func(c *cluster.Config) { c.Order.Policy.Discipline = fairshare.FIFO },
		func(c *cluster.Config) {},
	}
	counts := []int{6, 8, 10}
	less, own := make([]float64, len(counts)*(len(ways)-1)), make([]float64, len(counts))
	for k, jobs := range counts {
		for w, way := range ways {
			late := missed(seed, jobs, way)
			if w == 0 {
				own[k] = late
			} else {
				less[(w-1)*len(counts)+k] = own[k] - late
			}
		}
	}
	return append(less, own...)
}

// missed returns the share of missed deadlines in forty workloads with a number of jobs.
func missed(seed uint64, jobs int, way func(*cluster.Config)) float64 {
	const workloads = 40
	late := 0.0
	for i := range uint64(workloads) {
		c := deadlineJobs(seed<<8+i, jobs)
		way(&c)
		for k, j := range must(c).Jobs {
			if j.End > c.Jobs[k].Deadline {
				late++
			}
		}
	}
	return late / float64(workloads*jobs)
}

// The figures of DynamicShare's text from which S2 takes what a job needs, and how many workers are overloaded.
const (
	// aloneShare is the part of its shorter deadline that a job needs alone: in Fig. 6 most tasks of a YouTube job, with
	// a deadline of 2 s, have a laxity of 1650 ms.
	aloneShare = 1 - 1.65/2
	// twitterReduces is the time of the reduces of a Twitter job in seconds (§5, Fig. 9).
	twitterReduces = 1.9
	// overloadedWorkers is the number of workers that slow down after the jobs are planned: in Fig. 6 five tasks have
	// far smaller laxities. slowedSpeed is their speed then: LATE §5.2.2 has stragglers that take 2 to 4 times as long.
	overloadedWorkers = 5
	slowedSpeed       = 1.0 / 3
)

// deadlineJobs returns Twitter's jobs, with deadlines of 15 or 20 s, and YouTube's, with 2 or 4 s. 70 % of the jobs
// have the shorter deadline. Each of 59 workers has a part of the input of every job, and runs the map that reads it;
// 23 workers run the reduces (§5). An overloaded worker slows down within the four seconds in which the jobs arrive.
func deadlineJobs(seed uint64, n int) cluster.Config {
	const maps, reduces = 59, 23
	rng := rand.New(rand.NewPCG(seed, 5))
	c := cluster.Config{Seed: seed, Machines: nodes(maps+reduces, 1, 0, 1), Delay: waiting(delay.Forever)}
	sigma := math.Sqrt(math.Log1p(workerScatter * workerScatter))
	for i := range c.Machines {
		c.Machines[i].Speed = math.Exp(sigma * rng.NormFloat64())
	}
	for _, i := range rng.Perm(maps + reduces)[:overloadedWorkers] {
		c.Machines[i].Slow = []cluster.Spell{{At: inSeconds(4 * rng.Float64()), For: time.Hour, Factor: slowedSpeed}}
	}
	var at float64
	for i := range n {
		strict, loose := 15.0, 20.0
		if i%2 == 1 {
			strict, loose = 2, 4
		}
		limit := strict
		if rng.Float64() >= 0.7 {
			limit = loose
		}
		// longest is the time of the longest of so many tasks, each on its worker: 1.7 and 1.6 times the mean.
		draw := func(n int, longest, mean float64, first int) []cluster.Task {
			tasks := make([]cluster.Task, n)
			for i := range tasks {
				tasks[i] = cluster.Task{Seconds: longest / mean * math.Exp(0.1*rng.NormFloat64()), Replicas: []int32{int32(first + i)}}
			}
			return tasks
		}
		at += rng.ExpFloat64() * 4 / float64(n)
		begin := time.Duration(at * float64(time.Second))
		reduce := strict * twitterReduces / 15
		c.Jobs = append(c.Jobs, cluster.Job{
			At: begin, Deadline: begin + inSeconds(limit),
			Phases: []cluster.Phase{
				{Tasks: draw(maps, strict*aloneShare-reduce, 1.7, 0)}, {After: []int{0}, Tasks: draw(reduces, reduce, 1.6, maps)},
			},
		})
	}
	return c
}

// inSeconds converts a number of seconds to a duration.
func inSeconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// lowLaxities draws 84 laxities around 1650 ms, of which five are far below.
func lowLaxities(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 6))
	values := make([]time.Duration, 84)
	for i := range values {
		values[i] = time.Duration(1650+20*rng.NormFloat64()) * time.Millisecond
	}
	low := rng.Perm(84)[:5]
	for _, i := range low {
		values[i] = time.Duration(600+400*rng.Float64()) * time.Millisecond
	}
	detector, err := lof.NewDetector(lof.Config{})
	check(err)
	right, wrong := 0.0, 0.0
	for i, v := range detector.Detect(nil, values) {
		switch {
		case !v.Overloaded:
		case slices.Contains(low, i):
			right++
		default:
			wrong++
		}
	}
	return []float64{right, wrong}
}

// workerScatter is the coefficient of variation of the workers' speeds.
const workerScatter = 0.215

// partitioned draws partitions with a skewness of 1 - mean/max, and workers with log-normal speeds. No partition is larger
// than the largest, so a small skewness comes out larger: 24 % for 11.5 %.
func partitioned(rng *rand.Rand, partitions, workers int, skewness float64) skew.Problem {
	weights := make([]float64, partitions)
	even := 1 - skewness // mean partition divided by the largest
	for i := range weights {
		weights[i] = min(1, max(0.05, even*(1+0.5*rng.NormFloat64())))
	}
	weights[rng.IntN(partitions)] = 1
	p := skew.Problem{}
	for _, w := range weights {
		p.Sizes = append(p.Sizes, int64(w*10000))
	}
	sigma := math.Sqrt(math.Log1p(workerScatter * workerScatter))
	for range workers {
		p.Reducers = append(p.Reducers, skew.Reducer{SecondsPerUnit: 1e-4 * math.Exp(sigma*rng.NormFloat64())})
	}
	return p
}

func planned(p skew.Problem, rule skew.Rule) skew.Plan {
	plan, err := skew.Policy{Rule: rule}.Assign(p)
	check(err)
	return plan
}

// partitions40 returns the mean over twenty sets of partitions and workers.
func partitions40(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 9))
	return means(20, seed, func(uint64) []float64 {
		p := partitioned(rng, 40, 23, printed80)
		even, dynamic := planned(p, skew.LoadBalance), planned(p, skew.EarliestEnd)
		return []float64{even.Balance(), dynamic.Balance(), even.Seconds / dynamic.Seconds}
	})
}

// printed80 is the skewness, 1 - mean/max, that is used for the paper's "80 %". S4 is calibrated to it.
const printed80 = 0.46

// atSkewness returns the times of hashing and of dynamic partitioning of the same data, with as many partitions as
// reducers. The skewness is the paper's figure, converted as in S4.
func atSkewness(seed uint64, skewness float64) (hash, dynamic float64) {
	p := partitioned(rand.New(rand.NewPCG(seed, 8)), 23, 23, skewness*printed80/0.8)
	total := int64(0)
	for _, s := range p.Sizes {
		total += s
	}
	for i := range p.Sizes {
		p.Sizes[i] = p.Sizes[i] * 1_000_000 / total
	}
	return planned(p, skew.ByHash).Seconds, planned(p, skew.EarliestEnd).Seconds
}

// sketches assigns the same keys with the best of four hash functions: with as many partitions as reducers and with
// 45, by dynamic partitioning and by load balance. Each figure is the mean over twenty sets of keys and workers.
func sketches(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 11))
	return means(20, seed, func(set uint64) []float64 {
		reducers := partitioned(rng, 45, 23, 0.5).Reducers
		few, _, saved23 := sketched(set, 23, reducers)
		many, even, saved45 := sketched(set, 45, reducers)
		return []float64{many / few, even / many, saved45, saved23}
	})
}

// sketched hashes skewed keys to partitions. It returns the times of dynamic partitioning and of load balance with
// the best of four hash functions, and the share of the time with the first hash function that the best saves.
func sketched(seed uint64, partitions int, reducers []skew.Reducer) (dynamic, even, saved float64) {
	s, err := skew.NewSketch(4, partitions, seed)
	check(err)
	for key := range uint64(200) {
		check(s.Add(key, int64(1e6/(1+float64(key)))))
	}
	first, err := skew.Assign(skew.Problem{Sizes: s.Append(nil, 0), Reducers: reducers})
	check(err)
	_, best, err := skew.Policy{}.AssignSketch(s, reducers)
	check(err)
	_, balanced, err := skew.Policy{Rule: skew.LoadBalance}.AssignSketch(s, reducers)
	check(err)
	return best.Seconds, balanced.Seconds, 1 - best.Seconds/first.Seconds
}
