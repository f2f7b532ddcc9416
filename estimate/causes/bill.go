package causes

import (
	"log/slog"
	"strconv"
	"time"
)

// Bill is what the slowest tasks of many phases cost, and what is to blame.
type Bill struct {
	// Phases is the number of phases, Tasks that of their finished tasks.
	Phases, Tasks int
	// Slowest is the sum over the phases of the slowest task's time: what phases take whose tasks start together.
	// Wait is how much of it lies beyond the mean task's time: what it would be shorter by if all tasks of a phase
	// took the same.
	Slowest, Wait time.Duration
	// Wait is the sum of these: what machines at fault cost, the division of the work among cohorts, bytes and where
	// they come from, waits for lost input, and the rest.
	Machine, Split, Data, LostInput, Unexplained time.Duration
	// Machines and Cohorts are those at fault, the worst first.
	Machines, Cohorts []Suspect
}

// Fault returns what most of Wait is charged to: Machine, Split, Data, LostInput, or Unknown if none of these has a
// larger part than the rest.
func (b Bill) Fault() Cause { return b.Parts().Largest() }

// Parts shares out Wait. Path and Contention are 0: the first is within Data, the second within Unknown.
func (b Bill) Parts() Parts {
	return normal([causes]float64{
		Machine: b.Machine.Seconds(), Split: b.Split.Seconds(), Data: b.Data.Seconds(), LostInput: b.LostInput.Seconds(),
		Unknown: b.Unexplained.Seconds(),
	})
}

// Factor returns how many times slower than its peers a machine at fault is, 1 for every other one: a record for
// [Phase.Factor], with which phases that have few tasks a machine can be explained. O(machines at fault).
func (b Bill) Factor(machine int) float64 {
	for i := range b.Machines {
		if b.Machines[i].Index == machine {
			return b.Machines[i].Ratio
		}
	}
	return 1
}

// String returns the bill as one line, with the worst machine and the worst cohort at fault.
func (b Bill) String() string {
	s := "phases=" + strconv.Itoa(b.Phases) + " tasks=" + strconv.Itoa(b.Tasks) + " slowest=" + seconds(b.Slowest) +
		" wait=" + seconds(b.Wait) + " fault=" + b.Fault().String() + b.Parts().text()
	s += suspects(" machines-at-fault=", b.Machines)
	return s + suspects(" cohorts-at-fault=", b.Cohorts)
}

func suspects(name string, list []Suspect) string {
	if len(list) == 0 {
		return ""
	}
	return name + strconv.Itoa(len(list)) + " worst=" + strconv.Itoa(list[0].Index) + " ratio=" + short(list[0].Ratio)
}

// LogValue returns the bill as a group of fields, for log/slog.
func (b Bill) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("phases", b.Phases), slog.Int("tasks", b.Tasks), slog.Duration("slowest", b.Slowest),
		slog.Duration("wait", b.Wait), slog.String("fault", b.Fault().String()), slog.Any("parts", b.Parts()),
		slog.Any("machines", b.Machines), slog.Any("cohorts", b.Cohorts))
}
