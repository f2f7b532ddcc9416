package machines_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
)

// world is a phase on ten machines of one slot each, whose tasks of 20 s are killed and started again by a rule like
// Mantri's: at a report every 2 s, from the second on, if the progress so far implies that the rest will take longer
// than a new copy and a report. What is true of it is known.
type world struct {
	slow      float64 // machine 0 is so many times slower
	unlucky   float64 // share of the attempts that are 4 times slower, wherever they run
	long      float64 // share of the tasks that are 5 times longer, wherever they run
	slowStart float64 // seconds at the start of each attempt in which nothing is done
}

// truth is what a new copy of a task takes on average, on a machine like most.
func (w world) truth() float64 {
	return 20 * (1 + 3*w.unlucky) * (1 + 4*w.long)
}

// killed says what becomes of the sample of a copy that is killed.
type killed int

const (
	implied killed = iota // UnitTimes.Kill
	aged                  // the copy counts with its age
	dropped
)

type copyState struct {
	task         int
	start, total float64
	sample       int
	running      bool
}

// outcome is what a phase has come to.
type outcome struct {
	fresh    float64 // E(t_new) at the end
	restarts int
	makespan float64
	slow     float64 // factor of machine 0
	worst    float64 // farthest from 1 of all others' factors
}

const report, tasks, hosts = 2., 400, 10

// takes draws how long an attempt takes.
func (w world) takes(random *rand.Rand, machine int, long bool) float64 {
	total := 20 * math.Exp(.1*random.NormFloat64())
	if machine == 0 {
		total *= w.slow
	}
	if random.Float64() < w.unlucky {
		total *= 4
	}
	if long {
		total *= 5
	}
	return total + w.slowStart
}

// run plays the phase. Without a record the unit times know nothing of machines.
func (w world) run(t *testing.T, seed uint64, rule killed, known bool) (out outcome) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	record, err := machines.New(machines.Config{})
	require.NoError(t, err)
	config := estimate.UnitTimesConfig{FixedOverhead: true}
	if known {
		config.Factors = record
	}
	times, err := estimate.NewUnitTimes(config)
	require.NoError(t, err)
	long, restarts, before, where := make([]bool, tasks), make([]int, tasks), make([]int, tasks), make([]int, tasks)
	waiting := make([]int, tasks)
	for i := range tasks {
		long[i], before[i], where[i], waiting[i] = random.Float64() < w.long, estimate.NoSample, -1, tasks-1-i
	}
	place := make([]copyState, hosts)
	peers := &estimate.PeerTimes{}
	for now, done := 0., 0; done < tasks; now += report / 2 {
		require.Less(t, now, 1e5)
		at := time.Unix(0, 0).Add(span(now))
		for _, m := range random.Perm(hosts) {
			c := &place[m]
			if c.running {
				age := now - c.start
				share := min(max(0, age-w.slowStart)/(c.total-w.slowStart), 1)
				run := estimate.Run{Age: span(age), Work: 1, Done: share, Machine: m}
				attempt := machines.Attempt{Ran: run.Age, Done: share}
				if times.Known() {
					attempt.Usual = span(times.Quantile(.5))
				}
				reports := age / report
				switch {
				case age >= c.total:
					done++
					if times.Repeat(before[c.task], run) && where[c.task] != m { // the task is long, the machine is not slow
						attempt.Usual = 0
					}
					times.Finish(c.sample, run)
					record.End(at, m, uint64(c.task), attempt, machines.Finished)
					c.running = false
				case share > 0 && reports >= 2 && reports == math.Floor(reports):
					c.sample = times.Running(c.sample, run)
					record.Running(at, m, uint64(c.task), attempt)
					times.Peers(peers, c.sample)
					left := age/share - age
					if !times.Known() || restarts[c.task] >= 3 || left <= peers.Mean()+report {
						break
					}
					restarts[c.task]++
					out.restarts++
					if rule == implied && times.Repeat(before[c.task], run) && where[c.task] != m {
						attempt.Usual = 0
					}
					where[c.task] = m
					record.End(at, m, uint64(c.task), attempt, machines.Killed)
					switch rule {
					case implied:
						before[c.task] = times.Kill(c.sample, run)
					case aged:
						run.Done = 1
						times.Running(c.sample, run)
					case dropped:
						times.Drop(c.sample)
					}
					waiting = append(waiting, c.task)
					c.running = false
				}
			}
			if c.running || known && record.Judge(m).Avoid() {
				continue
			}
			for i := len(waiting) - 1; i >= 0; i-- {
				if task := waiting[i]; where[task] != m { // not where it was killed
					waiting = slices.Delete(waiting, i, i+1)
					total := w.takes(random, m, long[task])
					*c = copyState{task: task, start: now, total: total, sample: estimate.NoSample, running: true}
					break
				}
			}
		}
		out.makespan = now
	}
	out.fresh, out.slow, out.worst = times.Mean(), record.Factor(0), 1
	for m := 1; m < hosts; m++ {
		if f := record.Factor(m); math.Abs(f-1) > math.Abs(out.worst-1) {
			out.worst = f
		}
	}
	return out
}

func span(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

// over is the outcome over ten seeds: the mean, and the extremes of what must hold in each.
type over struct {
	outcome
	freshest, stalest float64 // least and largest E(t_new)
	least, most       float64 // factors of machine 0
}

func (w world) seeds(t *testing.T, rule killed, known bool) over {
	const n = 10
	sum := over{freshest: math.Inf(1), least: math.Inf(1)}
	sum.worst = 1
	for seed := range uint64(n) {
		o := w.run(t, seed, rule, known)
		sum.fresh += o.fresh / n
		sum.makespan += o.makespan / n
		sum.restarts += o.restarts
		sum.freshest, sum.stalest = min(sum.freshest, o.fresh), max(sum.stalest, o.fresh)
		sum.least, sum.most = min(sum.least, o.slow), max(sum.most, o.slow)
		if math.Abs(o.worst-1) > math.Abs(sum.worst-1) {
			sum.worst = o.worst
		}
	}
	sum.restarts /= n
	return sum
}

// What a killed copy counts, in worlds whose truth is known: E(t_new) and restarts by what becomes of its sample. The
// rule of UnitTimes.Kill is within 6 % of the truth where progress is honest; where copies start slowly, which makes
// every rule restart too much, it restarts least, and its t_new is too long by a quarter. Counting a copy with its
// age when it was killed makes t_new shorter with every mistake; dropping it sees only the fast. Without a record of
// the machines, a bad one makes all new copies look slow, and is given task after task.
func TestWhatAKilledCopyCounts(t *testing.T) {
	t.Logf("%-44s %6s  %s", "world", "truth", "E(t_new) and restarts: implied, by age, dropped; implied without a record")
	for _, w := range []world{
		{slow: 1}, {slow: 8}, {slow: 1, unlucky: .05}, {slow: 8, unlucky: .05}, {slow: 1, long: .1}, {slow: 8, long: .1},
		{slow: 1, slowStart: 1.5}, {slow: 8, slowStart: 1.5},
	} {
		kept, byAge, gone := w.seeds(t, implied, true), w.seeds(t, aged, true), w.seeds(t, dropped, true)
		blind := w.seeds(t, implied, false)
		name := fmt.Sprintf("%+v", w)
		t.Logf("%-44s %6.1f  %5.1f %4d  %5.1f %4d  %5.1f %4d  %5.1f %4d", name, w.truth(), kept.fresh, kept.restarts,
			byAge.fresh, byAge.restarts, gone.fresh, gone.restarts, blind.fresh, blind.restarts)
		if w.slowStart > 0 {
			assert.InEpsilon(t, 1.25*w.truth(), kept.fresh, .06, name)
			assert.Less(t, kept.restarts, gone.restarts*6/10, name)
			assert.Less(t, kept.restarts, byAge.restarts*6/10, name)
			continue
		}
		assert.InEpsilon(t, w.truth(), kept.fresh, .06, name)
		assert.InDelta(t, 1, kept.worst, .15, "healthy machines, %s", name)
		if kept.restarts > 0 && w.slow == 1 {
			assert.Less(t, byAge.fresh, .9*w.truth(), name)
		}
		if w.unlucky > 0 {
			assert.Less(t, gone.fresh, .93*w.truth(), name)
		}
		if w.slow > 1 {
			within := .2
			if w.unlucky > 0 { // among few attempts, one that is slow by chance tells
				within = .25
			}
			assert.InEpsilon(t, w.slow, kept.least, within, name)
			assert.InEpsilon(t, w.slow, kept.most, within, name)
			assert.Greater(t, blind.fresh, 2.5*w.truth(), name)
			assert.Less(t, byAge.fresh, .8*w.truth(), name)
		}
		if (w == world{slow: 8}) {
			assert.True(t, kept.freshest > 18 && kept.stalest < 22, "E(t_new) from %v to %v", kept.freshest, kept.stalest)
			assert.LessOrEqual(t, kept.restarts, 20)
			assert.Greater(t, blind.restarts, 200)
		}
	}
}
