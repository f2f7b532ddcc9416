package causes

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Charge returns the time that the slowest tasks of many phases cost, and the causes at fault. It uses the numbers
// of the papers; see [Config.Charge].
func Charge(phases []Phase) Bill { return Config{}.Charge(phases) }

// Charge returns the time that the slowest tasks of many phases cost, and the causes at fault. The same index of a
// machine or a cohort must mean the same machine or cohort in all phases.
//
// A machine is at fault if two conditions are true. First, the tasks of the machine take at least 1+Residual times
// the time that is expected from their bytes, their cohort and their moment, at the median over the phases. Second,
// the machine has more slow tasks than chance explains: if no machine is slow, one bill in a hundred accuses a
// machine. A cohort is at fault if its tasks take at least 1+Residual times the expected time, at the median over
// the phases.
//
// To find the cost of each cause, Charge removes one influence after another from the tasks' times:
//
//   - the waits for lost input
//   - the extra time of the machines at fault
//   - the ratio of each cohort to the other cohorts, at the median over the phases
//   - the time that bytes explain
//
// Each removal shortens the time of the slowest task beyond the mean, and this difference is charged to the
// influence. The rest is unexplained, and includes work that differs from phase to phase.
//
// Charge takes O(n) for n tasks in all phases. During the call it needs some 50 bytes for each task and 40 bytes
// for each phase. Charge allocates.
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

// ledger contains the intermediate results of Charge.
type ledger struct {
	config         Config
	tasks          []charged // the finished tasks of all phases, phase after phase
	ends           []int     // for each phase, the index in tasks after its last task
	machineEntries []entry   // the result of each machine in each phase
	cohortEntries  []entry
	machines       map[int]float64 // for each machine at fault, the ratio of its time to its expected time
	cohorts        map[int]float64 // for each cohort, the ratio of its time to its expected time
}

// charged is the part of a task's analysis that Charge needs.
type charged struct {
	took, ran float64 // seconds, and seconds without the wait for lost input
	// Expected time if the task had median bytes, divided by the expected time with its own bytes.
	medianShare float64
	// These are the indexes of the task's machine and cohort. An index is none if it is not known. The cohort is
	// also none if all tasks of the phase are in the same cohort.
	machine, cohort int
}

const none = -1

// add adds the analysis of the next phase to the ledger.
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

// entry is the result of a machine or a cohort in one phase: its index, the number of its tasks and of its slow
// tasks, and the median ratio of time to expected time.
type entry struct {
	index, tasks, slow int
	ratio              float64
}

// entries appends the result of each group to dst, except for groups without a task that is evidence.
func (g *grouping) entries(dst []entry) []entry {
	for id, one := range g.groups {
		if one.n > 0 {
			dst = append(dst, entry{g.key[id], one.n, one.slow, one.median})
		}
	}
	return dst
}

// blame finds the machines and cohorts at fault, and adds them to the bill.
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

// wrongNames is the number of machines that a bill may accuse by coincidence, on average, if no machine is slow.
const wrongNames = 0.01

// overPhases joins the entries that have the same index into one Suspect. It returns the suspects, the slowest
// first, and the number of all tasks and of all slow tasks.
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

// charge adds the costs of one phase to the bill. tasks are the finished tasks of the phase.
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

// These are the steps of a bill. The first step has the tasks' times as they were, and each further step removes
// one more influence from the times.
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
