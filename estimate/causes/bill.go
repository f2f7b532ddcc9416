package causes

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
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

// String returns the bill as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (b Bill) String() string                   { return wire.Line(b.wire) }
func (b Bill) LogValue() slog.Value             { return wire.Log(b.wire) }
func (b Bill) MarshalJSON() ([]byte, error)     { return wire.JSON(b.wire) }
func (b *Bill) UnmarshalJSON(data []byte) error { return wire.Read(data, b, (*Bill).wire) }
func (b *Bill) UnmarshalText(line []byte) error { return wire.Scan(line, b, (*Bill).wire) }
