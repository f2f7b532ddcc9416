package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/fairshare"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// workload is what the cluster is and has to run. Everything is drawn from the seed: the same jobs come whatever
// decides.
type workload struct {
	machines, racks, jobs int
	load                  float64
	disk                  int64 // MB a machine; 0: any number
	seed                  uint64
}

// The shape of the jobs: sizes by the power law by which 82 % have up to ten maps, as at Facebook [Dolly §2]; a
// twentieth of the copies straggle, and one machine in twenty is slow for some time or loses what it has; 30 % of the
// jobs belong to a pool with a guarantee, and small jobs have deadlines. From ten maps on, what the reduces read is
// values of two hundred keys, of which the most frequent have most.
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
		m := cluster.Machine{Rack: i % w.racks, Slots: [2]int{4, 2}, Disk: w.disk * 1e6}
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

// job has n maps and a fifth as many reduces, two at least: Dolly does not clone a phase of one task that straggles as
// seldom.
func (w workload) job(rng *rand.Rand, n int, at float64) cluster.Job {
	luck := func(r *rand.Rand, _, _, _ int) float64 {
		if r.Float64() < stragglerShare {
			return 2 + 6*r.Float64()
		}
		return 0.9 + 0.2*r.Float64()
	}
	maps := cluster.Phase{Luck: luck}
	for range n {
		data := math.Exp(0.2 * rng.NormFloat64()) // uneven data: a copy has as much
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

// addKeys makes a job's maps find values of keys by a power law; all together they are what uneven reduces of the same
// number would have to do.
func (w workload) addKeys(rng *rand.Rand, reduces *cluster.Phase, maps int) {
	const values = 10_000 // of a map
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
