package causes

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Cause is the reason why a task was slow. The numbers and the names of the constants will not change.
type Cause uint8

const (
	// Unknown means that no known fact explains most of the task's time beyond the median.
	Unknown Cause = iota
	// Data means that the task had more bytes to read than other tasks.
	Data
	// Path means that more of the task's bytes came from other racks than for other tasks.
	Path
	// LostInput means that the task waited until lost input was computed again.
	LostInput
	// Split means that the work is divided unevenly: all tasks in the task's cohort take long. A cohort is a group
	// of tasks that do the same part of the work in every phase.
	Split
	// Machine means that the other tasks on the task's machine were slow.
	Machine
	// Contention means that tasks which began at the same time were slow, on any machine. Examples are a busy
	// moment, and the first tasks of a phase, which wait until the program and the data are loaded.
	Contention
	causes
)

var causeNames = [...]string{
	Unknown: "unknown", Data: "data", Path: "path", LostInput: "lost-input", Split: "split", Machine: "machine",
	Contention: "contention",
}

// String returns the cause's name.
func (c Cause) String() string { return enum.Name(causeNames[:], c) }

// MarshalText returns the cause's name, or an error for a value without a name.
func (c Cause) MarshalText() ([]byte, error) { return enum.Text(causeNames[:], c) }

// UnmarshalText sets the cause to the cause with the given name, or returns an error for an unknown name.
func (c *Cause) UnmarshalText(text []byte) error { return enum.Parse(causeNames[:], text, c) }

// Remedy returns the remedy for the cause, in the words of Mantri's figure 8, with the package that decides on the
// remedy.
func (c Cause) Remedy() string {
	switch c {
	case Data:
		return "start the largest tasks first (restart), or split them; a copy would take as long"
	case Path:
		return "place tasks by where their input is (placement)"
	case LostInput:
		return "replicate costly output, recompute ahead of need (replicate)"
	case Split:
		return "divide the work anew (skew)"
	case Machine:
		return "copy or restart elsewhere (restart); keep work off the machine"
	case Contention:
		return "copy or restart where it is quiet (restart)"
	}
	return "try a copy, and watch it (restart)"
}

// Parts divides a time among the causes: each field is the share of the time that belongs to one cause. The shares
// add up to 1, and none is negative. If there is no time to divide, all shares are 0.
type Parts struct {
	Data, Path, LostInput, Split, Machine, Contention, Unknown float64
}

// Of returns the share of one cause, or 0 for a number that is no cause.
func (p Parts) Of(c Cause) float64 {
	if c >= causes {
		return 0
	}
	return p.list()[c]
}

func (p Parts) list() [causes]float64 {
	return [causes]float64{p.Unknown, p.Data, p.Path, p.LostInput, p.Split, p.Machine, p.Contention}
}

func partsOf(l [causes]float64) Parts {
	return Parts{
		Unknown: l[Unknown], Data: l[Data], Path: l[Path], LostInput: l[LostInput], Split: l[Split],
		Machine: l[Machine], Contention: l[Contention],
	}
}

// Largest returns the cause with the largest share. If shares are equal, Largest returns the cause whose constant
// comes first. It returns Unknown only if the share of Unknown is larger than all others.
func (p Parts) Largest() Cause {
	list, best := p.list(), Unknown
	for c := Data; c < causes; c++ {
		if list[c] > list[best] || best == Unknown && list[c] == list[best] && list[c] > 0 {
			best = c
		}
	}
	return best
}

// normal divides each entry by the sum of all entries, so that the entries add up to 1. If the sum is not positive,
// all shares are 0.
func normal(l [causes]float64) Parts {
	sum := 0.0
	for _, part := range l {
		sum += part
	}
	if !(sum > 0) {
		return Parts{}
	}
	for c := range l {
		l[c] /= sum
	}
	return partsOf(l)
}

func (p *Parts) wire(c *wire.Codec) {
	for cause, part := range [...]*float64{
		&p.Data, &p.Path, &p.LostInput, &p.Split, &p.Machine, &p.Contention, &p.Unknown,
	} {
		c.Float(causeNames[(cause+1)%len(causeNames)], part)
	}
}

// String returns the shares that are not 0 as one line, with Unknown last.
// LogValue returns the same fields for log/slog. MarshalJSON returns the same fields as JSON.
func (p Parts) String() string               { return wire.Line(p.wire) }
func (p Parts) LogValue() slog.Value         { return wire.Log(p.wire) }
func (p Parts) MarshalJSON() ([]byte, error) { return wire.JSON(p.wire) }
