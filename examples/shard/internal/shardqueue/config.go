package shardqueue

import (
	"fmt"
	"time"
)

// Piece is a package, or some of its tests: the smallest unit that a machine draws.
type Piece struct {
	Package string `json:"package"`
	// Tests are the tests of the piece. The whole package has none.
	Tests []string `json:"tests,omitempty"`
	// Rest means that the piece also runs each test of the package that no other piece names. A package that is cut has
	// one such piece.
	Rest bool `json:"rest,omitempty"`
	// Seconds is the predicted time on the average machine, with the overhead of its call: at least 0.
	Seconds float64 `json:"seconds"`
	// Again is the part of Seconds that is saved if another piece of the package is in the same batch.
	Again float64 `json:"again,omitempty"`
}

// Config has the pieces and the choices of a queue.
type Config struct {
	Pieces []Piece `json:"pieces"`
	// Machines is the expected number of machines. More may come, and fewer.
	Machines int `json:"machines"`
	// Lease is how long a machine may be silent, in milliseconds. After that its pieces are given to others.
	Lease int64 `json:"lease"`
}

// The limits of a queue.
const (
	mostPieces   = 1_000_000
	mostMachines = 1024
	mostLanes    = 1024
	mostSeconds  = 1e7   // of a piece, and of a call
	mostName     = 100   // bytes in the name of a machine, or of a session
	leastLease   = 1_000 // milliseconds
	mostLease    = 864e5 // milliseconds: a day
	leastFactor  = 1. / 1000
	mostFactor   = 1000.
)

// Validate returns an error that names the first field out of range, its value and its range.
func (c *Config) Validate() error {
	switch {
	case len(c.Pieces) > mostPieces:
		return fmt.Errorf("shardqueue: Config.Pieces has %d pieces, want at most %d", len(c.Pieces), mostPieces)
	case c.Machines < 1 || c.Machines > mostMachines:
		return fmt.Errorf("shardqueue: Config.Machines is %d, want 1 to %d", c.Machines, mostMachines)
	case c.Lease < leastLease || c.Lease > mostLease:
		return fmt.Errorf("shardqueue: Config.Lease is %v, want 1s to 24h", time.Duration(c.Lease)*time.Millisecond)
	}
	rests := map[string]int{}
	for i, p := range c.Pieces {
		switch {
		case p.Package == "":
			return fmt.Errorf("shardqueue: Config.Pieces[%d].Package is empty", i)
		case !within(p.Seconds, 0, mostSeconds):
			return fmt.Errorf("shardqueue: Config.Pieces[%d].Seconds is %v, want 0 to %g", i, p.Seconds, mostSeconds)
		case !within(p.Again, 0, p.Seconds):
			return fmt.Errorf("shardqueue: Config.Pieces[%d].Again is %v, want 0 to %v", i, p.Again, p.Seconds)
		}
		count, seen := rests[p.Package]
		if whole := p.Tests == nil; whole && seen {
			return fmt.Errorf("shardqueue: Config.Pieces[%d] is the whole of %s, but another piece has tests of it", i, p.Package)
		} else if whole || p.Rest {
			count++
		}
		rests[p.Package] = count
	}
	for i, p := range c.Pieces {
		if rests[p.Package] != 1 {
			return fmt.Errorf("shardqueue: Config.Pieces[%d]: %d pieces of %s have the rest of its tests, want 1", i,
				rests[p.Package], p.Package)
		}
	}
	return nil
}

// badName reports whether a text is no name of a machine or a session: a name has 1 to 100 letters, digits, and . _ -.
// It does not begin with a point, so that it can be the name of a file.
func badName(name string) bool {
	if name == "" || len(name) > mostName || name[0] == '.' {
		return true
	}
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && !(r >= '0' && r <= '9') && r != '.' && r != '_' && r != '-' {
			return true
		}
	}
	return false
}

// CheckName returns an error if a text is no name of a machine.
func CheckName(name string) error {
	if badName(name) {
		return fmt.Errorf("shardqueue: the name is %.120q, want 1 to %d letters, digits, . _ or -, and no point first", name,
			mostName)
	}
	return nil
}

// within is false for NaN.
func within(s, low, high float64) bool { return s >= low && s <= high }
