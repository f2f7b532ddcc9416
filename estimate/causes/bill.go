package causes

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Bill is the time that the slowest tasks of many phases cost, divided among the causes.
type Bill struct {
	// Phases is the number of phases, and Tasks is the number of finished tasks in all phases.
	Phases, Tasks int
	// Slowest is a sum over the phases: the time of the slowest task of each phase. If all tasks of a phase start
	// together, Slowest is the time that all phases take. Wait is the part of Slowest beyond the time of the mean
	// task of each phase. If all tasks of a phase took equally long, this much time would be saved.
	Slowest, Wait time.Duration
	// These five fields add up to Wait. Machine is the cost of slow machines. Split is the cost of an uneven
	// division of the work among cohorts. Data is the cost of more bytes and of slow links. LostInput is the cost
	// of waits for lost input. Unexplained is the rest.
	Machine, Split, Data, LostInput, Unexplained time.Duration
	// Machines and Cohorts are the machines and cohorts at fault, the slowest first.
	Machines, Cohorts []Suspect
}

// Fault returns the cause with the largest part of Wait: Machine, Split, Data or LostInput. If the unexplained part
// is the largest, Fault returns Unknown.
func (b Bill) Fault() Cause { return b.Parts().Largest() }

// Parts returns the share of Wait that each cause has. Path and Contention are 0, because a Bill does not separate
// them: the field Data includes the cost of the path, and the field Unknown includes the cost of contention.
func (b Bill) Parts() Parts {
	return normal([causes]float64{
		Machine: b.Machine.Seconds(), Split: b.Split.Seconds(), Data: b.Data.Seconds(), LostInput: b.LostInput.Seconds(),
		Unknown: b.Unexplained.Seconds(),
	})
}

// Factor returns how many times slower than the other machines a machine at fault is, and 1 for any other machine.
// Assign Factor to [Phase.Factor], so that Explain can also judge machines in phases with few tasks on each
// machine. Factor takes O(k) for k machines at fault.
func (b Bill) Factor(machine int) float64 {
	for i := range b.Machines {
		if b.Machines[i].Index == machine {
			return b.Machines[i].Ratio
		}
	}
	return 1
}

func (b *Bill) wire(c *wire.Codec) {
	c.When(true).Int("phases", &b.Phases)
	c.When(true).Int("tasks", &b.Tasks)
	c.When(true).Duration("slowest", &b.Slowest)
	c.When(true).Duration("wait", &b.Wait)
	c.Duration("machine", &b.Machine)
	c.Duration("split", &b.Split)
	c.Duration("data", &b.Data)
	c.Duration("lost-input", &b.LostInput)
	c.Duration("unexplained", &b.Unexplained)
	wire.List(c, "machines", &b.Machines, (*Suspect).wire)
	wire.List(c, "cohorts", &b.Cohorts, (*Suspect).wire)
}

// String returns the bill as one line. LogValue returns the same fields for
// log/slog. MarshalJSON returns the same fields as JSON.
func (b Bill) String() string               { return wire.Line(b.wire) }
func (b Bill) LogValue() slog.Value         { return wire.Log(b.wire) }
func (b Bill) MarshalJSON() ([]byte, error) { return wire.JSON(b.wire) }
