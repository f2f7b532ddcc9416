// Package compare replays phases under several policies and without a policy. It returns the time and the slot time
// that each policy would have saved or cost.
package compare

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Options are the policies to compare, and the seeds.
type Options struct {
	Policies []Entry
	// Capacity is the number of slots of the cluster that the phases share. 0 is replaced by the largest number of
	// slots that the phases ever had at the same time.
	Capacity int
	// Seed is the seed for the times of copies that never ran. Seeds is the number of sets of such times; 0 is used
	// as 1.
	Seed  uint64
	Seeds int
	// Step is called after the replay of each phase, Options.Steps times in all. Several goroutines call it.
	Step func()
}

// Steps returns the number of replays of phases in a comparison.
func (o Options) Steps(phases int) int {
	return phases * (2 + len(ideals()) + len(o.Policies)*max(o.Seeds, 1))
}

// Figure is the mean of a number over the seeds, with its lowest and highest value.
type Figure struct{ Mean, Low, High float64 }

// Outcome has the figures of one policy compared with no action. A reduction is a share: 0.2 is a fifth less, and a
// negative number is a loss.
type Outcome struct {
	Policy string
	// The reductions of the phases' times. P50 and P75 are the reductions that half, and a quarter, of the phases
	// reach; each phase is weighted by its time without action, as in Figure 14 of Mantri's paper. For PlainP50 and
	// PlainP75 all phases have the same weight. All is the reduction of the sum of the times.
	P50, P75, All, PlainP50, PlainP75 Figure
	// Jobs is the reduction of the sum of the jobs' times. In a job, a phase waits for the phases whose output it
	// reads; see [Chained].
	Jobs Figure
	// Resource is the reduction of the slot time.
	Resource Figure
	// Copies and Restarts are numbers per task. Won is the share of copies and restarts that ended their task before
	// the task's own attempt would have; nil if there were no copies and restarts.
	Copies, Restarts Figure
	Won              *Figure
	// Wasted is the slot time of attempts that did not end their task, Time the sum of the phases' times, and Used
	// the slot time, all in seconds.
	Wasted, Time, Used Figure
	// Cloning has further figures of a policy that clones, with the first seed; nil for other policies.
	Cloning *Cloning
	// Results are the results of the phases, with the first seed. Their field Known is kept only for the 16 phases that
	// are first by ByChange.
	Results []sim.Result
}

// Comparison has the results of all policies.
type Comparison struct {
	Phases, Tasks int
	// Time, Used and Wasted are the phases' time, the slot time, and the slot time of failed attempts, without
	// action, in seconds.
	Time, Used, Wasted float64
	// NoAction are the results of the phases without action. Even are the results without action if each straggler
	// had taken the median of its phase. A straggler takes over 1.5 times the median.
	NoAction, Even []sim.Result
	// Deviation is the difference between the phases' times in the replay without action and in the log, as a share
	// of the times in the log: in all, and in the worst phase. Recorded is false if there is no log to compare with.
	Deviation, WorstDeviation float64
	Recorded                  bool
	Outcomes                  []Outcome
	// Ideals are not policies but ideal schemes: see [NoSkew] and [ChopTail].
	Ideals        []Outcome
	Seeds         int
	Events        int
	Elapsed, Busy time.Duration
}

// Run replays the phases under each policy and without a policy. The result depends only on the phases, the policies
// and the seed, except for the two fields with the time of the replay itself.
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
	for _, e := range o.Policies {
		e.among = &c
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

// mostKept is the number of phases for which the field Known is kept. It takes more than a kilobyte for each phase.
const mostKept = 16

// ByChange orders phases for slices.Sort, with the results of a policy. The phases whose times the policy changes most
// are first. If the changes are equal, the phases in which stragglers cost most are first.
func (c *Comparison) ByChange(with []sim.Result) func(a, b int) int {
	change := func(i int) time.Duration { return (with[i].Time - c.NoAction[i].Time).Abs() }
	cost := func(i int) time.Duration { return c.NoAction[i].Time - c.Even[i].Time }
	return func(a, b int) int {
		return cmp.Or(cmp.Compare(change(b), change(a)), cmp.Compare(cost(b), cost(a)), cmp.Compare(a, b))
	}
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

// Replay replays every phase under a policy, on all processors, and returns the results and the processor time. The
// results do not depend on the number of processors. If the policy uses what earlier phases have shown, the phases
// are replayed in order on one processor.
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

// Options returns the options for the replay of a phase. The phase is an index.
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

// share returns part/whole, and 0 if whole is 0.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
