package causes

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Cause is why a task was slow. The values and names are stable.
type Cause uint8

const (
	// Unknown: nothing that is known explains most of it.
	Unknown Cause = iota
	// Data: the task had more bytes to read.
	Data
	// Path: more of its bytes came from other racks.
	Path
	// LostInput: it waited for input to be computed again.
	LostInput
	// Split: all tasks of its cohort take long; the work is divided unevenly.
	Split
	// Machine: the other tasks on its machine were slow.
	Machine
	// Contention: the other tasks that began when it did were slow, on whatever machine: a busy moment, or a first wave
	// that ran cold.
	Contention
	causes
)

var causeNames = [...]string{"unknown", "data", "path", "lost-input", "split", "machine", "contention"}

// String returns the cause's name.
func (c Cause) String() string { return enum.Name(causeNames[:], c) }

// MarshalText returns the cause's name, or an error for a value that does not exist.
func (c Cause) MarshalText() ([]byte, error) { return enum.Text(causeNames[:], c) }

// UnmarshalText takes a cause's name.
func (c *Cause) UnmarshalText(text []byte) error { return enum.Parse(causeNames[:], text, c) }

// Remedy says what helps against the cause, in the words of Mantri's figure 8, and which package decides on it.
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
		return "duplicate or restart elsewhere (restart); keep work off the machine"
	case Contention:
		return "duplicate or restart where it is quiet (restart)"
	}
	return "try a copy, and watch it (restart)"
}

// Parts shares out a time among the causes: parts of 1, none negative. All are 0 where there is nothing to share out.
type Parts struct {
	Data, Path, LostInput, Split, Machine, Contention, Unknown float64
}

// Of returns the part of one cause, 0 for a cause that does not exist.
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

// Largest returns the cause with the largest part; of equals the first by value, and Unknown only if it is larger than
// all others.
func (p Parts) Largest() Cause {
	list, best := p.list(), Unknown
	for c := Data; c < causes; c++ {
		if list[c] > list[best] || best == Unknown && list[c] == list[best] && list[c] > 0 {
			best = c
		}
	}
	return best
}

// normal divides the parts by their sum, if there is any.
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

// String returns the parts that are not 0 as one line, Unknown last, which UnmarshalText reads; LogValue, for log/slog,
// and MarshalJSON, which UnmarshalJSON reads, have the same fields.
func (p Parts) String() string                   { return wire.Line(p.wire) }
func (p Parts) LogValue() slog.Value             { return wire.Log(p.wire) }
func (p Parts) MarshalJSON() ([]byte, error)     { return wire.JSON(p.wire) }
func (p *Parts) UnmarshalJSON(data []byte) error { return wire.Read(data, p, (*Parts).wire) }
func (p *Parts) UnmarshalText(line []byte) error { return wire.Scan(line, p, (*Parts).wire) }
