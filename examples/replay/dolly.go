package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"

	"straggler-examples/internal/sim"
)

// cloning is what Dolly's cloning up front came to.
type cloning struct {
	Phases int `json:"phases_cloned"`
	// Small is the number of phases with at most ten tasks, and SmallCloned how many of them were cloned.
	Small       int `json:"phases_of_at_most_10_tasks"`
	SmallCloned int `json:"phases_of_at_most_10_tasks_cloned"`
	// Reduction of the cloned phases' completion times, in percent of their sum without action.
	Reduction float64 `json:"time_reduction_cloned"`
	// Capacity is the cluster's slots. Held is the share of them, in percent, that extra copies used, over the whole time;
	// Most is the largest share that was ever charged to the budget, of which Budget, β, is allowed.
	Capacity int     `json:"capacity"`
	Held     float64 `json:"extra_share_of_capacity"`
	Most     float64 `json:"largest_share_charged"`
	Budget   float64 `json:"budget_share"`
	// Straggle is the last estimate of p, the probability that a task straggles; nil if too few phases had ended for one.
	Straggle *float64 `json:"straggler_probability"`
}

func (c cloning) String() string {
	chance := "how often tasks straggle was never known."
	if c.Straggle != nil {
		chance = fmt.Sprintf("a task straggled with probability %.3f.", *c.Straggle)
	}
	if c.Phases == 0 {
		return fmt.Sprintf("dolly cloned no phase, %d of them having at most 10 tasks; %s", c.Small, chance)
	}
	return fmt.Sprintf("dolly cloned %d phases, %d of the %d with at most 10 tasks; the time of the cloned ones changed by %s. Of the "+
		"cluster's %d slots at most %.1f%% were charged to cloning at once, %.0f%% being allowed, and %.2f%% used over the whole time; %s",
		c.Phases, c.SmallCloned, c.Small, signed(c.Reduction), c.Capacity, c.Most, c.Budget, c.Held, chance)
}

// cluster is what a scheduler that clones knows: what runs when, which slots are free, how often tasks straggle.
type cluster struct {
	capacity  int
	busy      int
	budget    *clone.Budget
	estimator *clone.Estimator
	running   []runningPhase
}

type runningPhase struct {
	ends  time.Duration
	slots int
	grant clone.Grant
	rates []float64
}

// replayCloned replays the phases in the order in which they begin, each with as many copies of its tasks as Dolly's
// admission controller grants it, given what runs at that time.
func replayCloned(phases []*sim.Phase, none []sim.Result, capacity int, seed uint64, step func()) ([]sim.Result, cloning, error) {
	budget, err := clone.NewBudget(clone.Config{})
	if err != nil {
		return nil, cloning{}, err
	}
	estimator, err := clone.NewEstimator(clone.EstimatorConfig{})
	if err != nil {
		return nil, cloning{}, err
	}
	c := &cluster{capacity: capacity, budget: budget, estimator: estimator}
	report := cloning{Capacity: capacity, Budget: 100 * budget.Config().BudgetShare}
	results := make([]sim.Result, len(phases))
	var extra, end, before, after time.Duration
	for _, i := range byBegin(phases) {
		p := phases[i]
		c.advance(p.Begins)
		chance, known := estimator.P(at(p.Begins))
		d := budget.Admit(clone.Job{Tasks: len(p.Tasks)}, clone.Cluster{Capacity: capacity, Busy: c.busy, Straggler: chance})
		r, err := sim.Run(p, sim.Options{Policy: restart.Never{}, Clones: d.Copies, Seed: seed + uint64(i)})
		if err != nil {
			return nil, cloning{}, err
		}
		step()
		results[i] = r
		c.start(p, d, r)
		end = max(end, p.Begins+r.Time)
		if known {
			report.Straggle = &chance
		}
		report.Most = max(report.Most, percent(float64(budget.Spent()), float64(capacity)))
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
	report.Reduction = percent((before - after).Seconds(), before.Seconds())
	report.Held = percent(extra.Seconds(), float64(capacity)*end.Seconds())
	return results, report, nil
}

func timeCloned(phases []*sim.Phase, none []sim.Result, capacity int, seed uint64, step func()) ([]sim.Result, *cloning, time.Duration, error) {
	begin := time.Now()
	results, report, err := replayCloned(phases, none, capacity, seed, step)
	return results, &report, time.Since(begin), err
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

// start takes a phase to account. While it runs it counts with the mean number of its copies that run at once.
func (c *cluster) start(p *sim.Phase, d clone.Decision, r sim.Result) {
	slots := int(math.Ceil(r.Used.Seconds() / max(r.Time.Seconds(), 1e-9)))
	c.busy += slots
	rates := make([]float64, len(p.Tasks))
	for i, t := range p.Tasks {
		rates[i] = max(t.Work, 1) / max(last(p, i).Seconds(), 1e-9)
	}
	c.running = append(c.running, runningPhase{p.Begins + r.Time, slots, d.Grant, rates})
}

// advance ends the phases that have ended by now, in the order of their ends: their slots are free, what cloning was
// charged for them is given back, and their progress rates teach how often tasks straggle.
func (c *cluster) advance(now time.Duration) {
	slices.SortStableFunc(c.running, func(a, b runningPhase) int { return cmp.Compare(a.ends, b.ends) })
	ended := 0
	for _, r := range c.running {
		if r.ends > now {
			break
		}
		ended++
		c.busy -= r.slots
		c.budget.Cancel(r.grant)
		c.estimator.Observe(at(r.ends), r.rates)
	}
	c.running = slices.Delete(c.running, 0, ended)
}

// capacityOf is the largest number of slots that the phases ever had at the same time.
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
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.slots, b.slots)) })
	slots, most := 0, 0
	for _, ch := range changes {
		slots += ch.slots
		most = max(most, slots)
	}
	return most
}
