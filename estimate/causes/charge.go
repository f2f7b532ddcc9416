package causes

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Charge returns the cost of the slowest tasks of many phases and the causes at fault, by the paper's figures. See
// [Config.Charge].
func Charge(phases []Phase) Bill { return Config{}.Charge(phases) }

// Charge returns the cost of the slowest tasks of many phases and the causes at fault. An index of a machine or a
// cohort means the same machine or cohort in all phases.
//
// A machine is at fault under two conditions. At the median over the phases, its tasks take 1+Residual times the
// time expected from their bytes, their cohort and their moment. And its slow tasks are too many for a coincidence:
// if no machine is slow, one bill in a hundred names a machine. A cohort is at fault if its tasks take 1+Residual
// times the time of the phase's tasks, at the median over the phases.
//
// The bill removes one influence after another from the tasks' times:
//
//   - the waits for lost input
//   - the extra time of the machines at fault
//   - the ratio of each cohort to the other cohorts, at the median over the phases
//   - the time that bytes explain
//
// Each influence is charged the time by which its removal shortens the slowest task's time beyond the mean. The
// rest is unexplained, and contains work that differs from phase to phase.
//
// O(n) for n tasks in all phases, and some 50 bytes a task and 40 bytes a phase during the call. Charge allocates.
func (c Config) Charge(phases []Phase) Bill {
	l := ledger{config: c.Effective()}
	for _, p := range phases {
		l.add(analyse(p, l.config))
	}
	b := Bill{Phases: len(phases)}
	l.blame(&b)
	begin := 0
	for _, end := range l.ends {
		l.charge(&b, l.tasks[begin:end])
		begin = end
	}
	return b
}

// ledger is the state of a Charge.
type ledger struct {
	config         Config
	tasks          []charged // finished tasks of all phases
	ends           []int     // end of each phase in tasks
	machineEntries []entry   // results of each machine in each phase
	cohortEntries  []entry
	machines       map[int]float64 // ratio of each machine at fault
	cohorts        map[int]float64 // ratio of each cohort
}

// charged is the part of a task's analysis that the bill needs.
type charged struct {
	took, ran       float64 // seconds, and seconds without the wait for lost input
	medianShare     float64 // expected time with median bytes, as a share of the expected time with its own bytes
	machine, cohort int     // none if unknown, or if all tasks share it
}

const none = -1

// add adds the analysis of the next phase.
func (l *ledger) add(a *analysis) {
	l.machineEntries, l.cohortEntries = a.machines.entries(l.machineEntries), a.cohorts.entries(l.cohortEntries)
	for i := range a.phase.Tasks {
		if a.took[i] < 0 || a.phase.Tasks[i].Censored {
			continue
		}
		t := charged{
			took: a.took[i], ran: a.ran[i], machine: none, cohort: none,
			medianShare: a.expectedOfMedian() / max(a.expected[i]/a.cohorts.times(i), a.floor),
		}
		if id := a.machines.id[i]; id >= 0 {
			t.machine = a.machines.key[id]
		}
		if a.cohorts.id != nil {
			t.cohort = a.cohorts.key[a.cohorts.id[i]]
		}
		l.tasks = append(l.tasks, t)
	}
	l.ends = append(l.ends, len(l.tasks))
}

// entry is the result of a machine or a cohort in one phase.
type entry struct {
	index, tasks, slow int
	ratio              float64
}

// entries appends the result of each group that has evidence.
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
	bar := 1 + l.config.Residual
	l.machines, l.cohorts = map[int]float64{}, map[int]float64{}
	all, tasks, slow := overPhases(l.machineEntries)
	for _, s := range all {
		odds := chance(s.Slow, s.Tasks, slow-s.Slow, tasks-s.Tasks) * float64(len(all))
		if s.Ratio >= bar && s.Tasks >= leastUse && odds <= wrongNames {
			b.Machines = append(b.Machines, s)
			l.machines[s.Index] = s.Ratio
		}
	}
	all, _, _ = overPhases(l.cohortEntries)
	for _, s := range all {
		if s.Ratio >= bar && s.Tasks >= leastUse {
			b.Cohorts = append(b.Cohorts, s)
		}
		l.cohorts[s.Index] = s.Ratio
	}
}

// wrongNames is how many machines a bill may name by coincidence, on average.
const wrongNames = 0.01

// overPhases sums up the entries of each index, the slowest first, and counts all tasks and all slow tasks.
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
func (l *ledger) charge(b *Bill, tasks []charged) {
	var wait [billed + 1]spread
	for _, t := range tasks {
		seconds := [billed + 1]float64{asTaken: t.took, withoutWaits: t.ran}
		at := t.ran
		if ratio, ok := l.machines[t.machine]; ok && t.machine != none {
			at /= ratio
		}
		seconds[withoutMachines] = at
		if t.cohort != none {
			at /= l.cohorts[t.cohort]
		}
		seconds[withoutSplit] = at
		seconds[withoutData] = at * t.medianShare
		for step, s := range seconds {
			wait[step].add(s)
		}
	}
	if len(tasks) == 0 {
		return
	}
	b.Tasks += len(tasks)
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

// The steps of a bill: the times as they were, and then with one more influence removed at each step.
const (
	asTaken = iota
	withoutWaits
	withoutMachines
	withoutSplit
	withoutData
	billed = withoutData
)

func (a *analysis) expectedOfMedian() float64 { return max(a.model.at(&a.medianTask), a.floor) }

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
