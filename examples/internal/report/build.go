package report

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// The largest numbers of elements in the model of a large input.
const (
	mostPhases    = 500
	mostSchedules = 3
	mostLanes     = 30
	mostBars      = 400 // bars of the two pictures of a phase, unless one lane has more
)

// Build makes the model of a comparison of the phases. The caller adds notes, causes, and facts about the input, and
// then calls Diagnose.
func Build(phases []*sim.Phase, c compare.Comparison, policies []compare.Entry, in Input) (*Report, error) {
	in.Phases, in.Tasks, in.Seeds, in.Chained = c.Phases, c.Tasks, c.Seeds, compare.Chained(phases)
	r := &Report{Schema: Schema, Input: in, Policies: []Policy{}, Ideals: []Ideal{}, Phases: []Phase{}}
	if len(phases) > 0 {
		r.Assumptions = assumptions(phases, c, in.Generated)
	}
	r.few = len(phases) > 0 && !slices.ContainsFunc(phases, func(p *sim.Phase) bool { return len(p.Tasks) >= causes.LeastTasks })
	r.Stragglers = stragglers(phases, c)
	r.NoAction = NoAction{Time: c.Time, Used: c.Used, Wasted: c.Wasted}
	if c.Recorded {
		r.NoAction.Deviation, r.NoAction.WorstDeviation = &c.Deviation, &c.WorstDeviation
	}
	runs := 0
	for i, p := range phases {
		if p.Apart {
			runs++
			r.NoAction.Runs += c.NoAction[i].Time.Seconds()
		}
		if p.Engine > 0 {
			r.NoAction.EnginePhases++
			r.NoAction.Engine += p.Engine.Seconds()
			r.NoAction.EngineReplayed += c.NoAction[i].Time.Seconds()
		}
	}
	if runs == len(phases) {
		r.NoAction.Runs = r.NoAction.Time // exact, without rounding of a sum in another order
	}
	r.Failures = r.NoAction.failures(phases)
	for _, o := range c.Outcomes {
		p := policy(o)
		if in.Chained == 0 {
			p.Jobs = nil
		}
		r.Policies = append(r.Policies, p)
	}
	for _, o := range c.Ideals {
		r.Ideals = append(r.Ideals, Ideal{o.Policy, o.P50.Mean, o.P75.Mean, o.All.Mean})
	}
	for i := range c.NoAction {
		r.costs = append(r.costs, max(0, (c.NoAction[i].Time-c.Even[i].Time).Seconds()))
	}
	order := ranked(r.costs)
	for _, i := range order[:min(len(order), mostPhases)] {
		r.Phases = append(r.Phases, phase(phases[i], i, c))
	}
	r.PhasesLeftOut = len(order) - len(r.Phases)
	r.Slowdown = slowdown(phases)
	r.Work = Work{c.Events, c.Elapsed.Seconds(), float64(c.Events) / max(c.Busy.Seconds(), 1e-9)}
	r.AddWorkers(phases)
	return r, r.draw(phases, policies, &c)
}

// ranked returns the indexes of numbers. The largest number is first, and of equal numbers the first.
func ranked(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[b], x[a]) })
	return order
}

// Add adds the phases whose tasks are not known to be alike. whole has, for a phase, the names of the tasks of another
// phase of the job that consist of its tasks.
func (r *Report) Add(phases []*sim.Phase, whole map[*sim.Phase][]string) (err error) {
	if r.Apart, err = Describe(phases, whole); r.Apart == nil {
		return err
	}
	r.Input.Phases += r.Apart.left // the runs of all other tasks are already counted as phases
	r.Input.Tasks += r.Apart.Tasks
	return nil
}

func policy(o compare.Outcome) Policy {
	jobs := Figure(o.Jobs)
	p := Policy{
		Name: o.Policy, P50: Figure(o.P50), P75: Figure(o.P75), All: Figure(o.All), PlainP50: Figure(o.PlainP50),
		PlainP75: Figure(o.PlainP75), Jobs: &jobs, Resource: Figure(o.Resource), Copies: Figure(o.Copies),
		Restarts: Figure(o.Restarts), Wasted: Figure(o.Wasted), Time: Figure(o.Time), Used: Figure(o.Used),
	}
	if o.Won != nil {
		won := Figure(*o.Won)
		p.Won = &won
	}
	if c := o.Cloning; c != nil {
		p.Cloning = &Cloning{c.Phases, c.Small, c.SmallCloned, c.Reduction, c.Capacity, c.Held, c.Most, c.Budget, c.Straggle}
	}
	return p
}

func phase(p *sim.Phase, id int, c compare.Comparison) Phase {
	s, slowest := compare.Survey([]*sim.Phase{p}), compare.Slowest(p)
	row := Phase{
		ID: id, Job: p.Job, Name: p.Name, Tasks: len(p.Tasks), Slots: len(p.Slots), Time: c.NoAction[id].Time.Seconds(),
		Even: c.Even[id].Time.Seconds(), Stragglers: s.Stragglers, Slowest: slowest,
		SlowestTime: compare.Last(p, slowest).Seconds(),
		SlowestName: p.TaskName(slowest), SlowestHost: p.Tasks[slowest].Host,
	}
	for _, o := range c.Outcomes {
		row.With = append(row.With, o.Results[id].Time.Seconds())
	}
	return row
}

func stragglers(phases []*sim.Phase, c compare.Comparison) Stragglers {
	s := compare.Survey(phases)
	out := Stragglers{Tasks: s.Stragglers, FirstWave: s.First, MoreData: s.Data, Unknown: s.Unknown}
	if s.Tasks > 0 {
		out.Share = float64(s.Stragglers) / float64(s.Tasks)
	}
	var time, even, tail float64
	for i := range phases {
		time += c.NoAction[i].Time.Seconds()
		even += c.Even[i].Time.Seconds()
		tail += c.NoAction[i].Tail.Seconds()
	}
	if time > 0 {
		out.Cost, out.Tail = max(0, time-even)/time, tail/time // another order of the tasks may take longer
	}
	return out
}

// slowdown returns the distribution of the tasks' times divided by the median of their phase, at up to 200 points.
func slowdown(phases []*sim.Phase) []Point {
	var ratios []float64
	for _, p := range phases {
		ratios = compare.AppendRatios(ratios, p)
	}
	slices.Sort(ratios)
	const most = 200
	var points []Point
	n := len(ratios)
	for k := range min(n, most) {
		i := (k+1)*n/min(n, most) - 1
		points = append(points, Point{ratios[i], float64(i+1) / float64(n)})
	}
	return points
}
