package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/fairshare"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// workload describes the cluster and its jobs. All random numbers come from the seed, so the jobs do not depend on the
// decisions.
type workload struct {
	machines, racks, jobs int
	load                  float64
	seed                  uint64
}

// The constants describe the jobs. The sizes follow a power law: 82 % of the jobs have up to ten maps, as at Facebook
// [Dolly §2]. One in twenty attempts is slow. One machine in twenty is slow for some time, or loses its outputs. 30 %
// of the jobs belong to a pool with a guaranteed share. Small jobs have deadlines. In a job of ten maps or more, the
// reduces read the values of two hundred keys, and the most frequent keys have most of the values.
const (
	upToTen        = 0.82
	most           = 400
	mapSeconds     = 20
	stragglerShare = 0.05
	block          = 128e6
	keyed          = 10
	keys           = 200
)

func (w workload) config() cluster.Config {
	rng := rand.New(rand.NewPCG(w.seed, 1))
	c := cluster.Config{
		Seed: w.seed, Contention: 0.7, Disk: 100e6, Remote: 40e6, Lag: 500 * time.Millisecond, Interval: 2 * time.Second,
		Order: cluster.Order{Pools: []fairshare.Pool{{}, {Min: int64(w.machines)}}},
	}
	for range w.racks {
		c.Racks = append(c.Racks, cluster.Rack{Up: 1.25e9, Down: 1.25e9})
	}
	var sizes []int
	maps := 0
	for range w.jobs {
		n := min(int(math.Ceil(math.Pow(rng.Float64(), 1/math.Log10(1-upToTen))-1e-9)), most)
		sizes = append(sizes, n)
		maps += n
	}
	span := float64(maps) * mapSeconds * 1.4 / (w.load * 4 * float64(w.machines))
	at := 0.0
	for _, n := range sizes {
		c.Jobs = append(c.Jobs, w.job(rng, n, at))
		at += rng.ExpFloat64() * span / float64(w.jobs)
	}
	for i := range w.machines {
		m := cluster.Machine{Rack: i % w.racks, Slots: [2]int{4, 2}}
		if rng.IntN(20) == 0 {
			m.Slow = []cluster.Spell{{At: seconds(rng.Float64() * span), For: seconds(span / 4), Factor: 0.25}}
		}
		if rng.IntN(20) == 0 {
			m.Loses = []time.Duration{seconds(rng.Float64() * span)}
		}
		c.Machines = append(c.Machines, m)
	}
	return c
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// job returns a job of n maps and n/5 reduces, but at least two reduces: Dolly does not clone a phase of one task
// that is so rarely a straggler.
func (w workload) job(rng *rand.Rand, n int, at float64) cluster.Job {
	luck := func(r *rand.Rand, _, _, _ int) float64 {
		if r.Float64() < stragglerShare {
			return 2 + 6*r.Float64()
		}
		return 0.9 + 0.2*r.Float64()
	}
	maps := cluster.Phase{Luck: luck}
	for range n {
		data := math.Exp(0.2 * rng.NormFloat64()) // uneven data; a copy of the task has the same data
		t := cluster.Task{Seconds: mapSeconds * data, Bytes: block * data, Work: data}
		for _, m := range rng.Perm(w.machines)[:min(3, w.machines)] {
			t.Replicas = append(t.Replicas, int32(m))
		}
		maps.Tasks = append(maps.Tasks, t)
	}
	reduces := cluster.Phase{Kind: cluster.Reduce, After: []int{0}, Luck: luck}
	for range max(min(n, 2), n/5) {
		data := math.Exp(0.2 * rng.NormFloat64())
		reduces.Tasks = append(reduces.Tasks, cluster.Task{Seconds: mapSeconds / 2 * data, Bytes: block * data, Work: data})
	}
	if n >= keyed {
		w.addKeys(rng, &reduces, n)
	}
	j := cluster.Job{At: seconds(at), Phases: []cluster.Phase{maps, reduces}}
	if rng.Float64() < 0.3 {
		j.Pool = 1
	}
	if n <= 10 {
		j.Deadline = j.At + seconds(2.5*mapSeconds*1.5)
	}
	return j
}

// addKeys gives the maps of a job values of keys. The keys have frequencies by a power law. The sum of the work of
// all keys is the work of the job's reduces.
func (w workload) addKeys(rng *rand.Rand, reduces *cluster.Phase, maps int) {
	const values = 10_000 // values that each map finds
	shares := make([]float64, keys)
	sum := 0.0
	for i := range shares {
		shares[i] = math.Pow(float64(i+1), -0.8) * (0.5 + rng.Float64())
		sum += shares[i]
	}
	all := float64(maps) * values / float64(len(reduces.Tasks))
	reduces.Keys = &cluster.Keys{
		Partitions: 4 * len(reduces.Tasks), Seconds: mapSeconds / 2 / all, Bytes: block / all,
	}
	for range maps {
		row := make([]int64, keys)
		for i, share := range shares {
			row[i] = int64(values * share / sum)
		}
		reduces.Keys.Values = append(reduces.Keys.Values, row)
	}
}
