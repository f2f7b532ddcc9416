package delay

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Transfer describes how the clones of a downstream task read an upstream output, from samples of jobs that ended.
type Transfer struct {
	// Lags are samples of how long a downstream clone, ready to read, had to wait from the first finished copy of an
	// upstream task to one that no other clone of its task had taken: 0 if there was one at once, [Forever] if it never
	// came. The share of lags above ω is p_c(ω).
	Lags []time.Duration
	// Size is r, the bytes that a clone reads of one upstream output.
	Size float64
	// Bandwidth is B, in bytes per second: what a clone gets that reads an output alone.
	Bandwidth float64
	// Contention is α, in (0, 1]: the share of B that a clone gets while another reads the same output.
	Contention float64
	// Clones is c, the number of clones of a task, 2 or more. 0 means 2.
	Clones int
	// Reader says whose time is minimised.
	Reader Reader
}

// Reader says whose time is minimised. The names and values are stable.
type Reader uint8

const (
	// MeanReader is the mean over a task's clones. A clone that reads many outputs is the first to get one about as
	// often as any other clone, so that the mean is what each will see. It is the zero value.
	MeanReader Reader = iota
	// LastReader is a clone that never gets the first copy: the conservative choice, for a task that reads one output.
	LastReader
)

var readerNames = [...]string{"mean-reader", "last-reader"}

// String returns the reader's name.
func (r Reader) String() string {
	return enum.Name(readerNames[:], int(r), "Reader")
}

// Best is a window of delay assignment and what it rests on. It is a plain value.
type Best struct {
	// Window is ω: how long a clone should wait for an upstream output of its own.
	Window time.Duration
	// Read is the expected time of reading one output with that window; AtOnce is that with a window of 0, where clones
	// share at once (CC), and InTurn that with r/B, where they read one after the other. Computation comes on top, and
	// as many reads as there are inputs.
	Read, AtOnce, InTurn time.Duration
	// Sharing is p_c(ω), the probability that a clone gets no output of its own within the window, and shares one.
	Sharing float64
}

// Window returns the window ω that minimises the expected time of reading an upstream output [Dolly §4.4],
//
//	p_c(ω) T_C(ω) + (1 - p_c(ω)) T_E(ω)
//
// the shortest one if several do. With x = min(ω, r/B), of two clones the one with the first copy takes r/B if the other
// gets its own, and x + (r-Bx)/(αB) if they share from x on; the other takes r/B + x, and 2x + (r-Bx)/(αB), as it has the
// output to itself after the first is done. By r/B the first copy is free again, so no longer window is considered. The
// answer is exact: p_c is a step function and the rest linear, so only 0, a lag below r/B, or r/B can be optimal.
//
// Of these times only r/B + min(r/B, ω) is legible in the text of the paper; the others follow from its description and
// agree with a simulation. The paper wants the minimum over a task's clones; taken literally, that is always the clone
// with the first copy, for which waiting costs nothing. Here it is the time of the [Reader]. More than two clones are
// outside the paper: those without a copy are taken to share the first one, each at αB while more than one is left.
// A task with several inputs, by any [Pattern], takes as many reads, and that leaves ω the same.
//
// The error names the field that is out of range. O(n log n) with n lags; allocates a copy of them.
func Window(t Transfer) (Best, error) {
	if len(t.Lags) == 0 {
		return Best{}, fmt.Errorf("delay: Lags has no rows, want one or more")
	}
	for i, lag := range t.Lags {
		if lag < 0 {
			return Best{}, fmt.Errorf("delay: Lags[%d] is %v, want a duration, 0 or more", i, lag)
		}
	}
	if err := t.validate(); err != nil {
		return Best{}, err
	}
	lags := slices.Clone(t.Lags)
	slices.Sort(lags)
	return t.best(lags), nil
}

// longest bounds the seconds of a read, so that no sum of three is beyond a time.Duration, and no window is Forever.
const longest = 1e9

// validate checks all but the lags.
func (t Transfer) validate() error {
	switch {
	case !(t.Size >= 0) || !num.Finite(t.Size):
		return badField("Size", t.Size, "a finite number of bytes, 0 or more")
	case !(t.Bandwidth > 0) || !num.Finite(t.Bandwidth):
		return badField("Bandwidth", t.Bandwidth, "a finite rate above 0")
	case !(t.Contention > 0 && t.Contention <= 1):
		return badField("Contention", t.Contention, "a share in (0, 1]")
	case !(t.Size/t.Bandwidth/t.Contention < longest):
		return badField("Size/Bandwidth/Contention", t.Size/t.Bandwidth/t.Contention, "less than 1e9 seconds")
	case t.Clones < 0 || t.Clones == 1:
		return badField("Clones", t.Clones, "2 or more, or 0 for 2")
	case int(t.Reader) >= len(readerNames):
		return badField("Reader", t.Reader, "MeanReader or LastReader")
	}
	return nil
}

func badField(name string, value any, want string) error {
	return fmt.Errorf("delay: %s is %v, want %s", name, value, want)
}

// best tries every window that can be optimal. The lags are sorted.
func (t Transfer) best(lags []time.Duration) Best {
	n := len(lags)
	alone := t.Size / t.Bandwidth
	limit, _ := num.Duration(alone) // r/B
	least, b := math.Inf(1), Best{}
	try := func(window time.Duration, above int) float64 {
		sharing := float64(above) / float64(n)
		read := t.read(min(window.Seconds(), alone), alone, sharing)
		if read < least {
			least, b.Window, b.Sharing = read, window, sharing
			b.Read, _ = num.Duration(read)
		}
		return read
	}
	i := above(lags, 0)
	b.AtOnce, _ = num.Duration(try(0, n-i))
	for i < n && lags[i] < limit {
		window := lags[i]
		for i < n && lags[i] == window {
			i++
		}
		try(window, n-i)
	}
	b.InTurn, _ = num.Duration(try(limit, n-above(lags, limit)))
	return b
}

// above returns the index of the first lag above the window.
func above(lags []time.Duration, window time.Duration) int {
	i, _ := slices.BinarySearchFunc(lags, window, func(lag, window time.Duration) int {
		if lag > window {
			return 1
		}
		return -1
	})
	return i
}

// read returns the expected seconds of a read with the window x, no longer than alone = r/B, of which a clone shares
// with probability p.
func (t Transfer) read(x, alone, p float64) float64 {
	rest := (alone - x) / t.Contention // of the first copy, read by several
	tail := x                          // of the same, left to the others when the first reader is done
	if t.Clones > 2 {
		tail /= t.Contention
	}
	others := 1.0 // how much of the answer is about the clones that do not have the first copy
	if t.Reader == MeanReader {
		c := float64(max(t.Clones, 2))
		others = (c - 1) / c
	}
	shared := x + rest + float64(others*tail)
	own := alone + float64(others*x)
	return float64(p*shared) + float64((1-p)*own)
}
