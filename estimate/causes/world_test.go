package causes_test

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// world makes phases with known causes.
type world struct {
	tasks, machines, slots int
	slowMachines           float64 // share of the slow machines
	slowness               [2]float64
	byteSpread             float64 // standard deviation of the logarithm of a task's bytes
	base                   float64 // share of the typical time that bytes do not explain
	remote                 float64 // share of the tasks that read over slow links, three times as long
	waits                  float64 // share of the tasks that wait for lost input
	busy                   float64 // share of the time in which every task that begins is slow
	odd                    float64 // share of the tasks that are slow for an unknown reason
	noise                  float64 // standard deviation of the logarithm of the time
}

var plainWorld = world{
	tasks: 400, machines: 40, slots: 2, slowMachines: .05, slowness: [2]float64{1.7, 4}, byteSpread: .4, base: .3,
	remote: .05, waits: .02, busy: .05, odd: .03, noise: .1,
}

// truth has the seconds that each cause truly adds to a task, and whether the task's machine is slow.
type truth struct {
	added [7]float64 // by Cause
	slow  bool
}

// phase makes a phase of tasks that start when slots become free; with the same seed, the same machines are slow.
func (w world) phase(seed, number uint64) (causes.Phase, []truth) {
	machines := rand.New(rand.NewPCG(seed, 1))
	slowness := make([]float64, w.machines)
	for m := range slowness {
		if slowness[m] = 1; machines.Float64() < w.slowMachines {
			slowness[m] = w.slowness[0] + machines.Float64()*(w.slowness[1]-w.slowness[0])
		}
	}
	r := rand.New(rand.NewPCG(seed, number+2))
	free := make([]float64, w.machines*w.slots)
	span := 10 * float64(w.tasks) / float64(len(free))
	from := r.Float64() * span
	p, facts := causes.Phase{Tasks: make([]causes.Task, w.tasks)}, make([]truth, w.tasks)
	for i := range p.Tasks {
		slot := 0
		for s := range free {
			if free[s] < free[slot] {
				slot = s
			}
		}
		t, f := &p.Tasks[i], &facts[i]
		t.Machine, t.Start = slot/w.slots, time.Duration(free[slot]*1e9)
		t.Bytes = 1e8 * math.Exp(w.byteSpread*r.NormFloat64())
		seconds := 10 * (w.base + (1-w.base)*t.Bytes/1e8)
		f.added[causes.Data] = seconds - 10
		if r.Float64() < w.remote {
			t.Remote = t.Bytes
			f.added[causes.Path] = 14 * t.Bytes / 1e8
			seconds += f.added[causes.Path]
		}
		seconds *= math.Exp(w.noise * r.NormFloat64())
		if f.slow = slowness[t.Machine] > 1; f.slow {
			f.added[causes.Machine] = seconds * (slowness[t.Machine] - 1)
			seconds *= slowness[t.Machine]
		}
		if at := free[slot]; at >= from && at < from+w.busy*span {
			f.added[causes.Contention] = seconds
			seconds *= 2
		}
		if r.Float64() < w.odd {
			odd := 1.5 + 3*r.Float64()
			f.added[causes.Unknown] = seconds * (odd - 1)
			seconds *= odd
		}
		if r.Float64() < w.waits {
			wait := 10 + 20*r.Float64()
			t.Waited = time.Duration(wait * 1e9)
			f.added[causes.LostInput] = wait
			seconds += wait
		}
		t.Took = time.Duration(seconds * 1e9)
		free[slot] += seconds
	}
	return p, facts
}

// main returns the cause that truly adds the most time.
func (f truth) main() causes.Cause {
	best := causes.Unknown
	for c := range f.added {
		if f.added[c] > f.added[best] {
			best = causes.Cause(c)
		}
	}
	return best
}
