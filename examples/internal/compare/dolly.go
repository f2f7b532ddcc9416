package compare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/des"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Cloning has the figures of Dolly, which clones small phases when they start.
type Cloning struct {
	// Phases is the number of cloned phases. Small is the number of phases with at most ten tasks, and SmallCloned
	// the number of these that were cloned.
	Phases, Small, SmallCloned int
	// Reduction is the reduction of the sum of the cloned phases' times.
	Reduction float64
	// Capacity is the number of slots of the cluster. Held is the share of their time that clones used. Most is the
	// largest share of the slots that was charged to the budget at once. Budget is the allowed share, β in the paper.
	Capacity           int
	Held, Most, Budget float64
	// Straggle is the last estimate of the probability that a task straggles, p in the paper; nil if too few phases
	// had ended.
	Straggle *float64
}

// cluster is the state of a scheduler that clones: the running phases, the free slots, and the estimate of how often
// tasks straggle.
type cluster struct {
	capacity  int
	busy      int
	budget    *clone.Budget
	estimator *clone.Estimator
	ends      des.Queue
	started   []startedPhase
}

type startedPhase struct {
	slots int
	grant clone.Grant
	rates []float64
}

// replayCloned replays the phases in the order of their starts. Each task has the number of clones that Dolly's
// admission controller allows at that time.
func replayCloned(
	phases []*sim.Phase, none []sim.Result, capacity int, seed uint64, step func(),
) ([]sim.Result, *Cloning, error) {
	budget, err := clone.NewBudget(clone.Config{})
	if err != nil {
		return nil, nil, err
	}
	estimator, err := clone.NewEstimator(clone.EstimatorConfig{})
	if err != nil {
		return nil, nil, err
	}
	c := &cluster{capacity: capacity, budget: budget, estimator: estimator}
	report := &Cloning{Capacity: capacity, Budget: budget.Config().BudgetShare}
	results := make([]sim.Result, len(phases))
	var extra, end, before, after time.Duration
	for _, i := range byBegin(phases) {
		p := phases[i]
		c.advance(p.Begins)
		chance, known := estimator.P(at(p.Begins))
		d := budget.Admit(clone.Job{Tasks: len(p.Tasks)}, clone.Cluster{Capacity: capacity, Busy: c.busy, Straggler: chance})
		r, err := sim.Run(p, sim.Options{Policy: restart.Never{}, Clones: d.Clones, Seed: seed + uint64(i)})
		if err != nil {
			return nil, nil, err
		}
		step()
		results[i] = r
		c.start(p, d, r)
		end = max(end, p.Begins+r.Time)
		if known {
			report.Straggle = &chance
		}
		report.Most = max(report.Most, share(float64(budget.Spent()), float64(capacity)))
		small := len(p.Tasks) <= 10
		if small {
			report.Small++
		}
		if d.Action == clone.Clone {
			report.Phases++
			if small {
				report.SmallCloned++
			}
			extra += r.Used - none[i].Used
			before += none[i].Time
			after += r.Time
		}
	}
	report.Reduction = share((before - after).Seconds(), before.Seconds())
	report.Held = share(extra.Seconds(), float64(capacity)*end.Seconds())
	return results, report, nil
}

func at(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }

func byBegin(phases []*sim.Phase) []int {
	order := make([]int, len(phases))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(phases[a].Begins, phases[b].Begins) })
	return order
}

// start adds a phase to the running phases. While it runs, it uses the mean number of slots that its attempts use.
func (c *cluster) start(p *sim.Phase, d clone.Decision, r sim.Result) {
	slots := int(math.Ceil(r.Used.Seconds() / max(r.Time.Seconds(), 1e-9)))
	c.busy += slots
	rates := make([]float64, len(p.Tasks))
	for i, t := range p.Tasks {
		rates[i] = max(t.Work, 1) / max(Last(p, i).Seconds(), 1e-9)
	}
	c.ends.Push(p.Begins+r.Time, 0, int32(len(c.started)), 0)
	c.started = append(c.started, startedPhase{slots, d.Grant, rates})
}

// advance removes the phases that have ended by now, in the order of their ends. Their slots become free, their
// charge returns to the budget, and their progress rates are added to the estimate of how often tasks straggle.
func (c *cluster) advance(now time.Duration) {
	for end, ok := c.ends.Next(); ok && end <= now; end, ok = c.ends.Next() {
		e, _ := c.ends.Pop()
		r := &c.started[e.ID]
		c.busy -= r.slots
		c.budget.Cancel(r.grant)
		c.estimator.Observe(at(end), r.rates)
	}
}

// capacityOf returns the largest number of slots that the phases had at the same time.
func capacityOf(phases []*sim.Phase, none []sim.Result) int {
	type change struct {
		at    time.Duration
		slots int
	}
	var changes []change
	for i, p := range phases {
		slots := min(len(p.Slots), len(p.Tasks))
		changes = append(changes, change{p.Begins, slots}, change{p.Begins + none[i].Time, -slots})
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.slots, b.slots))
	})
	slots, most := 0, 0
	for _, ch := range changes {
		slots += ch.slots
		most = max(most, slots)
	}
	return most
}
