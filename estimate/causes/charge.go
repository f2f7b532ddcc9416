package causes

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Charge says what the slowest tasks of many phases cost, and what is to blame, by the paper's figures. See
// [Config.Charge].
func Charge(phases []Phase) Bill { return Config{}.Charge(phases) }

// Charge says what the slowest tasks of many phases cost, and what is to blame. Machines and cohorts are the same by
// their index in all phases.
//
// A machine is at fault if, at the median over the phases, its tasks take 1+Residual times what is expected of their
// bytes, their cohort and their moment, and if its slow tasks are too many for a coincidence: where no machine is slow,
// one bill in a hundred names one. A cohort is at fault if, at the median over the phases, its tasks take 1+Residual
// times what the phase's do.
//
// The bill is made by taking things away, one after another: the waits for lost input, what the machines at fault are
// slower by, what each cohort takes against the others at the median over the phases, and what bytes explain. Each is
// charged what the slowest task then takes less beyond the mean. The rest is unknown; work that differs from phase to
// phase is in it.
//
// O(n) for n tasks in all, and some 100 bytes a task while it runs. It allocates.
func (c Config) Charge(phases []Phase) Bill {
	l := ledger{config: c.Effective()}
	l.phases = make([]*analysis, len(phases))
	for i, p := range phases {
		l.phases[i] = analyse(p, l.config)
	}
	b := Bill{Phases: len(phases)}
	l.blame(&b)
	for _, a := range l.phases {
		l.charge(&b, a)
	}
	return b
}

// ledger is the state of a Charge.
type ledger struct {
	config   Config
	phases   []*analysis
	machines map[int]float64 // at fault: their ratio
	cohorts  map[int]float64 // all: their ratio
}

// entry is how a machine or a cohort did in one phase.
type entry struct {
	index, tasks, slow int
	ratio              float64
}

// entries appends how each group did, if it has evidence.
func (g *grouping) entries(dst []entry) []entry {
	for id, one := range g.groups {
		if one.n > 0 {
			dst = append(dst, entry{g.key[id], one.n, one.slow, one.median})
		}
	}
	return dst
}

// blame finds the machines and cohorts at fault.
func (l *ledger) blame(b *Bill) {
	var machines, cohorts []entry
	for _, a := range l.phases {
		machines, cohorts = a.machines.entries(machines), a.cohorts.entries(cohorts)
	}
	bar := 1 + l.config.Residual
	l.machines, l.cohorts = map[int]float64{}, map[int]float64{}
	all, tasks, slow := overPhases(machines)
	for _, s := range all {
		odds := chance(s.Slow, s.Tasks, slow-s.Slow, tasks-s.Tasks) * float64(len(all))
		if s.Ratio >= bar && s.Tasks >= leastUse && odds <= wrongNames {
			b.Machines = append(b.Machines, s)
			l.machines[s.Index] = s.Ratio
		}
	}
	all, _, _ = overPhases(cohorts)
	for _, s := range all {
		if s.Ratio >= bar && s.Tasks >= leastUse {
			b.Cohorts = append(b.Cohorts, s)
		}
		l.cohorts[s.Index] = s.Ratio
	}
}

// wrongNames is how many machines a bill may name by coincidence, on average.
const wrongNames = 0.01

// overPhases sums up the entries of each index, the worst first, and counts all tasks and the slow ones.
func overPhases(entries []entry) (all []Suspect, tasks, slow int) {
	ids, keys := compress(len(entries), func(i int) int { return entries[i].index })
	ratios := make([]float64, len(entries))
	all = make([]Suspect, len(keys))
	for i, e := range entries {
		ratios[i] = e.ratio
		s := &all[ids[i]]
		s.Index = e.index
		s.Tasks += e.tasks
		s.Slow += e.slow
		tasks += e.tasks
		slow += e.slow
	}
	for id, g := range summarise(ids, ratios, len(keys), 0) {
		all[id].Ratio, all[id].Phases = g.median, g.n
	}
	slices.SortFunc(all, compareSuspects)
	return all, tasks, slow
}

// charge adds one phase to the bill.
func (l *ledger) charge(b *Bill, a *analysis) {
	var wait [billed + 1]spread
	for i := range a.phase.Tasks {
		if a.took[i] < 0 || a.phase.Tasks[i].Censored {
			continue
		}
		seconds := [billed + 1]float64{asTaken: a.took[i], withoutWaits: a.ran[i]}
		at := a.ran[i]
		if id := a.machines.id[i]; id >= 0 {
			if ratio, ok := l.machines[a.machines.key[id]]; ok {
				at /= ratio
			}
		}
		seconds[withoutMachines] = at
		if a.cohorts.id != nil {
			at /= l.cohorts[a.cohorts.key[a.cohorts.id[i]]]
		}
		seconds[withoutSplit] = at
		seconds[withoutData] = at * (a.expectedOfUsual() / max(a.expected[i]/a.cohorts.times(i), a.floor))
		for step, s := range seconds {
			wait[step].add(s)
		}
	}
	if a.finished == 0 {
		return
	}
	b.Tasks += a.finished
	b.Slowest = num.Add(b.Slowest, duration(wait[asTaken].most))
	left := duration(wait[asTaken].beyondMean())
	b.Wait = num.Add(b.Wait, left)
	for step, part := range [...]*time.Duration{&b.LostInput, &b.Machine, &b.Split, &b.Data} {
		next := min(left, duration(wait[step+1].beyondMean()))
		*part = num.Add(*part, left-next)
		left = next
	}
	b.Unexplained = num.Add(b.Unexplained, left)
}

// The steps of a bill: the times as they were, and then without one thing after another.
const (
	asTaken = iota
	withoutWaits
	withoutMachines
	withoutSplit
	withoutData
	billed = withoutData
)

func (a *analysis) expectedOfUsual() float64 { return max(a.model.at(&a.usual), a.floor) }

// spread is the mean and the largest of some times.
type spread struct {
	n          int
	mean, most float64
}

func (s *spread) add(x float64) {
	s.n++
	s.mean += (x - s.mean) / float64(s.n)
	s.most = max(s.most, x)
}

func (s *spread) beyondMean() float64 { return max(0, s.most-s.mean) }
