package causes

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Bill is the cost of the slowest tasks of many phases, with the causes at fault.
type Bill struct {
	// Phases is the number of phases, and Tasks the number of their finished tasks.
	Phases, Tasks int
	// Slowest is the sum over the phases of the slowest task's time. If all tasks of a phase start together, this
	// is the time that the phases take. Wait is the part of Slowest beyond the mean task's time: this much time
	// would be saved if all tasks of a phase took equally long.
	Slowest, Wait time.Duration
	// Machine to Unexplained add up to Wait. Machine is the cost of machines at fault. Split is the cost of the
	// division of the work among cohorts. Data is the cost of bytes and of slow links. LostInput is the cost of
	// waits for lost input, and Unexplained is the rest.
	Machine, Split, Data, LostInput, Unexplained time.Duration
	// Machines and Cohorts are the machines and cohorts at fault, the slowest first.
	Machines, Cohorts []Suspect
}

// Fault returns the cause with the largest part of Wait: Machine, Split, Data or LostInput. If the rest is larger
// than each of the four parts, Fault returns Unknown.
func (b Bill) Fault() Cause { return b.Parts().Largest() }

// Parts divides Wait among the causes. Path and Contention are 0, because Data contains the cost of the path, and
// Unknown contains the cost of contention.
func (b Bill) Parts() Parts {
	return normal([causes]float64{
		Machine: b.Machine.Seconds(), Split: b.Split.Seconds(), Data: b.Data.Seconds(), LostInput: b.LostInput.Seconds(),
		Unknown: b.Unexplained.Seconds(),
	})
}

// Factor returns how many times slower than its peers a machine at fault is, and 1 for any other machine. Pass
// Factor as [Phase.Factor], so that Explain can also judge machines in phases with few tasks on each machine.
// O(machines at fault).
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

// String returns the bill as one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (b Bill) String() string               { return wire.Line(b.wire) }
func (b Bill) LogValue() slog.Value         { return wire.Log(b.wire) }
func (b Bill) MarshalJSON() ([]byte, error) { return wire.JSON(b.wire) }
