// Package compare replays phases under several policies, and says what each would have saved and cost against no action.
package compare

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Options say what to compare.
type Options struct {
	Policies []Entry
	// Capacity is the slots of the cluster that the phases share; 0 stands for the largest number that they ever had at
	// the same time.
	Capacity int
	// Seed makes the times of copies that never ran. Seeds is how many sets of such times are tried; 0 counts as 1.
	Seed  uint64
	Seeds int
	// Step is called after each of the [Options.Steps] phases that are replayed, by several goroutines.
	Step func()
}

// Steps is how many phases a comparison replays.
func (o Options) Steps(phases int) int {
	return phases * (2 + len(ideals()) + len(o.Policies)*max(o.Seeds, 1))
}

// Figure is a number over several seeds.
type Figure struct{ Mean, Low, High float64 }

// Outcome is what one policy made of the phases, against no action. Reductions are shares of what there was without
// action; a negative one is a loss.
type Outcome struct {
	Policy string
	// Reductions of the phases' times. P50 and P75 are over phases, each weighing by its time without action, as in Figure
	// 14 of Mantri's paper; the plain ones weigh all phases alike; All is that of the sum of all phases' times.
	P50, P75, All, PlainP50, PlainP75 Figure
	// Jobs is the reduction of the jobs' times, where phases wait for those whose output they read; see [Chained].
	Jobs Figure
	// Resource is the reduction of the slots' time in use.
	Resource Figure
	// Copies and Restarts per task. Won is the share of both that ended a task before its own attempt would have; nil if
	// there were none.
	Copies, Restarts Figure
	Won              *Figure
	// Wasted is the slots' time, in seconds, of copies that did not end their task.
	Wasted, Time, Used Figure
	// Cloning is there if the policy clones; with the first seed.
	Cloning *Cloning
	// Results are the phases', with the first seed. What was known of progress is kept of the 16 in which stragglers cost
	// most.
	Results []sim.Result
}

// Comparison is what all policies came to.
type Comparison struct {
	Phases, Tasks int
	// Time, Used and Wasted are those without action, in seconds. Wasted are attempts that failed in the log.
	Time, Used, Wasted float64
	// NoAction are the phases' results without action, and Even those without action if no task had taken over 1.5 times
	// the median of its phase, but the median.
	NoAction, Even []sim.Result
	// Deviation is by how much the replay without action misses the phase times that follow from the log's attempts, as a
	// share of them, in all and in the worst phase; Recorded says whether there were any.
	Deviation, WorstDeviation float64
	Recorded                  bool
	Outcomes                  []Outcome
	// Ideals are no policies: see [NoSkew] and [ChopTail].
	Ideals        []Outcome
	Seeds         int
	Events        int
	Elapsed, Busy time.Duration
}

// Run replays the phases under each policy and under none. The result depends on the phases, the policies and the seed
// alone, except for the two times that it took.
func Run(phases []*sim.Phase, o Options) (c Comparison, err error) {
	begin := time.Now()
	never := Entry{Policy: restart.Never{}}
	var spent time.Duration
	if c.NoAction, spent, err = Replay(phases, never, o.Seed, o.Step); err != nil {
		return c, err
	}
	c.Busy = spent
	if c.Even, spent, err = Replay(evened(phases), never, o.Seed, o.Step); err != nil {
		return c, err
	}
	c.Busy += spent
	if o.Capacity == 0 {
		o.Capacity = capacityOf(phases, c.NoAction)
	}
	c.Phases, c.Seeds = len(phases), max(o.Seeds, 1)
	c.baseline(phases)
	keep := worst(c.NoAction, c.Even)
	for _, e := range o.Policies {
		e.keep = keep
		if err := c.policy(phases, e, o); err != nil {
			return c, err
		}
	}
	for _, i := range ideals() {
		results, spent, err := Replay(i.of(phases), never, o.Seed, o.Step)
		if err != nil {
			return c, err
		}
		c.Busy += spent
		s := summary{outcome: Outcome{Policy: i.name}}
		s.add(phases, c.NoAction, results)
		c.Ideals = append(c.Ideals, s.outcome)
	}
	c.Elapsed = time.Since(begin)
	return c, nil
}

// mostKept is of how many phases it is kept what was known of progress when they began: it takes more than a kilobyte each.
const mostKept = 16

// worst are the phases in which stragglers cost most.
func worst(none, even []sim.Result) map[int]bool {
	order := make([]int, len(none))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(none[b].Time-even[b].Time, none[a].Time-even[a].Time)
	})
	keep := map[int]bool{}
	for _, i := range order[:min(len(order), mostKept)] {
		keep[i] = true
	}
	return keep
}

// policy replays the phases under a policy, with each seed.
func (c *Comparison) policy(phases []*sim.Phase, e Entry, o Options) error {
	s := summary{outcome: Outcome{Policy: e.Name}}
	for k := range c.Seeds {
		seed := o.Seed + uint64(k)<<32 // a phase's seed is the sum of this and its index
		var results []sim.Result
		var clones *Cloning
		var err error
		begin := time.Now()
		spent := time.Duration(0)
		if e.Clones {
			results, clones, err = replayCloned(phases, c.NoAction, o.Capacity, seed, o.Step)
			spent = time.Since(begin)
		} else {
			results, spent, err = Replay(phases, e, seed, o.Step)
		}
		if err != nil {
			return err
		}
		c.Busy += spent
		for i := range results {
			c.Events += results[i].Events
		}
		s.add(phases, c.NoAction, results)
		if k == 0 {
			s.outcome.Results, s.outcome.Cloning = results, clones
		}
	}
	c.Outcomes = append(c.Outcomes, s.outcome)
	return nil
}

// Replay replays every phase under a policy, on all processors, and says how long they were busy. The results do not
// depend on how many there are. Where the policy learns from one phase for the next, one processor does it.
func Replay(phases []*sim.Phase, e Entry, seed uint64, step func()) ([]sim.Result, time.Duration, error) {
	if e.learns() {
		return replayInOrder(phases, e, seed, step)
	}
	results := make([]sim.Result, len(phases))
	var next, busy atomic.Int64
	var wait sync.WaitGroup
	var once sync.Once
	var failed error
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(phases) {
					return
				}
				begin := time.Now()
				r, err := sim.Run(phases[i], e.Options(seed, i))
				busy.Add(int64(time.Since(begin)))
				if err != nil {
					once.Do(func() { failed = err })
				}
				results[i] = r
				step()
			}
		})
	}
	wait.Wait()
	return results, time.Duration(busy.Load()), failed
}

// Options are those of the replay of the phase of that index.
func (e Entry) Options(seed uint64, phase int) sim.Options {
	return sim.Options{
		Policy: e.Policy, LargestFirst: e.LargestFirst, CopyShare: e.CopyShare, Progress: e.Progress, Witness: e.Witness,
		Seed: seed + uint64(phase),
	}
}

func (c *Comparison) baseline(phases []*sim.Phase) {
	var missed, recorded float64
	for i, r := range c.NoAction {
		c.Tasks += r.Tasks
		c.Events += r.Events + c.Even[i].Events
		c.Time += r.Time.Seconds()
		c.Used += r.Used.Seconds()
		c.Wasted += r.Wasted.Seconds()
		if known := phases[i].Recorded.Seconds(); known > 0 {
			c.Recorded = true
			miss := max(r.Time.Seconds()-known, known-r.Time.Seconds())
			missed += miss
			recorded += known
			c.WorstDeviation = max(c.WorstDeviation, miss/known)
		}
	}
	c.Deviation = share(missed, recorded)
}

// share is part of whole, and 0 of nothing.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
