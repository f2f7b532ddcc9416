package causes

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Explain returns why the outliers of the phase, its slowest tasks, were slow. It uses the numbers of the papers;
// see [Config.Explain].
func Explain(p Phase) Report { return Config{}.Explain(p) }

// Explain returns why the outliers of the phase, its slowest tasks, were slow [Mantri §4.2]. A field of c that is
// out of range is treated as 0; see [Config.Validate].
//
// The order of the tasks in p has small effects. In phases of up to 8192 tasks, the order changes only rounding. In
// larger phases, the order decides to which tasks the model is fitted. If a machine ran exactly half of the tasks that
// began in a moment, the order may decide whether the moment can be a cause.
//
// Explain takes O(n) for n tasks. It allocates.
func (c Config) Explain(p Phase) Report {
	a := analyse(p, c)
	return a.report()
}

func (a *analysis) report() Report {
	r := Report{Tasks: len(a.phase.Tasks), Finished: a.finished}
	times := make([]time.Duration, 0, a.finished)
	sum, explained := 0.0, 0
	for i := range a.phase.Tasks {
		t := &a.phase.Tasks[i]
		if a.took[i] < 0 {
			r.Skipped++
			continue
		}
		if t.Censored {
			continue
		}
		times = append(times, t.Took)
		sum += a.took[i]
		r.Slowest = max(r.Slowest, t.Took)
		if math.Abs(a.ran[i]/a.expected[i]-1) <= a.config.Residual {
			explained++
		}
	}
	if len(times) == 0 {
		return r
	}
	r.Median, r.Mean = Median(times), duration(sum/float64(len(times)))
	r.Slowdown = slowdown(a.phase.Tasks)
	r.Model = a.inHostUnits(float64(explained) / float64(len(times)))
	a.outliers(&r)
	a.suspects(&r)
	return r
}

// inHostUnits converts the model from its own units, the means of the columns, to the host's units. explained is
// the share of the tasks that the model explains.
func (a *analysis) inHostUnits(explained float64) Model {
	m := Model{Base: duration(a.model[0]), Explained: explained}
	if a.unit[1] > 0 {
		m.PerByte = finite(a.model[1] * a.unit[1])
	}
	if a.unit[2] > 0 {
		m.PerRemote = finite(a.model[2] * a.unit[2])
	}
	return m
}

// LeastTasks is the least number of tasks of a phase that can have an outlier. Explain calls no task of a smaller phase an
// outlier. Only tasks with a positive time count. The median of two tasks is the faster one, so the other would be an
// outlier by chance.
const LeastTasks = 3

// outliers finds the tasks that take more than Config.Outlier times the median, and divides their time beyond the
// median among the causes. Times are compared in nanoseconds: in seconds, 0.45 s would be over 1.5 times 0.3 s.
func (a *analysis) outliers(r *Report) {
	var excess [causes]float64
	tasks, middle := a.phase.Tasks, r.Median.Seconds()
	bar, n := a.config.Outlier*float64(r.Median), 0
	if len(tasks)-r.Skipped < LeastTasks {
		bar = math.Inf(1)
	}
	for i := range tasks {
		if float64(tasks[i].Took) > bar {
			n++
		}
	}
	if n > 0 {
		r.Outliers = make([]Outlier, 0, n)
	}
	for i := range tasks {
		if a.took[i] < 0 {
			continue
		}
		if float64(tasks[i].Took) <= bar {
			if !tasks[i].Censored && a.ran[i] > a.bar*a.expected[i] {
				r.Improvable++
			}
			continue
		}
		o := a.explain(i, middle)
		r.Outliers = append(r.Outliers, o)
		for c, part := range o.Parts.list() {
			excess[c] += float64(part * (a.took[i] - middle))
		}
	}
	for _, seconds := range excess {
		r.Excess = num.Add(r.Excess, duration(seconds))
	}
	r.Parts = normal(excess)
}

// explain divides the excess of task i, its time beyond the median, among the causes. middle is the median in
// seconds.
func (a *analysis) explain(i int, middle float64) Outlier {
	t := &a.phase.Tasks[i]
	total := a.took[i] - middle
	var l [causes]float64
	l[LostInput] = min(a.took[i]-a.ran[i], total)
	l[Data], l[Path] = a.added(i)
	l[Split] = max(0, a.expected[i]-a.expected[i]/a.cohorts.times(i))
	o := Outlier{
		Task: i, Took: t.Took, Times: a.took[i] / middle, Expected: duration(a.expected[i]),
		Explained: a.ran[i] <= float64(a.bar*a.expected[i]), MachineRatio: a.machineRatio(i), MomentRatio: a.moments.times(i),
	}
	if rest := a.ran[i] - a.expected[i]; !o.Explained {
		machine, moment := float64((o.MachineRatio-1)*a.expected[i]), float64((o.MomentRatio-1)*a.expected[i])
		if both := machine + moment; both > rest {
			machine, moment = machine*(rest/both), moment*(rest/both)
		}
		l[Machine], l[Contention] = machine, moment
	}
	for _, part := range l {
		total -= part
	}
	l[Unknown] = max(0, total)
	o.Parts = normal(l)
	o.Cause = o.Parts.Largest()
	if named := o.Parts; o.Explained && o.Cause == Unknown {
		named.Unknown = 0
		o.Cause = named.Largest()
	}
	return o
}

// suspects adds the slow machines to the report, the slowest first, and the slow moments in the order of time.
func (a *analysis) suspects(r *Report) {
	for id := range a.machines.groups {
		g := &a.machines.groups[id]
		if g.suspect {
			one := Suspect{Index: a.machines.key[id], Ratio: g.median, Tasks: g.n, Slow: g.slow, Phases: 1}
			r.Machines = append(r.Machines, one)
		}
	}
	slices.SortStableFunc(r.Machines, compareSuspects)
	for id, b := range a.bounds {
		if g := &a.moments.groups[id]; g.times > 1 {
			r.Moments = append(r.Moments, Moment{From: b[0], To: b[1], Ratio: g.times, Tasks: g.n})
		}
	}
}

func duration(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}
