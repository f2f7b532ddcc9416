package merge

import (
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Fleet is a Counts for machines. The process refers to each machine by a number, and other processes refer to it
// by its name. The zero value has counted nothing.
type Fleet struct {
	Counts
	names  []string       // the name of each machine, by its number; "" if it has no name
	places map[string]int // the number of each machine, by its name
}

// SetName sets the name of a machine, by which all processes refer to the same machine. SetName returns false if
// the name is empty or too long, if the machine has another name, or if another machine has this name.
func (f *Fleet) SetName(machine int, name string) bool {
	if name == "" || len(name) > MostName {
		return false
	}
	if own := f.Name(machine); own != "" {
		return own == name
	}
	if _, taken := f.places[name]; taken {
		return false
	}
	if f.places == nil {
		f.places = map[string]int{}
	}
	f.places[name] = machine
	for len(f.names) <= machine {
		f.names = append(f.names, "")
	}
	f.names[machine] = name
	return true
}

// Name returns the name of a machine, or "" if the machine has no name.
func (f *Fleet) Name(machine int) string {
	if machine < 0 || machine >= len(f.names) {
		return ""
	}
	return f.names[machine]
}

// Resize removes the names of the machines whose number is at least machines.
func (f *Fleet) Resize(machines int) {
	kept := min(machines, len(f.names))
	for _, name := range f.names[kept:] {
		delete(f.places, name)
	}
	f.names = f.names[:kept]
}

// Add adds a number of things that this process has just seen to the counts of a machine. If the machine has no
// name, Add counts nothing and returns false.
func (f *Fleet) Add(c Choices, now time.Duration, machine int, n Count) bool {
	name := f.Name(machine)
	if name != "" {
		f.Counts.Add(c, now, name, n)
	}
	return name != ""
}

// State writes the counts and the names to a snapshot or reads them from it.
func (f *Fleet) State(form Form[Fact], c *snapshot.Codec, choices Choices) {
	f.Counts.State(form, c, choices)
	snapshot.List(c, &f.names, func(name *string) {
		c.Text(name)
		c.Check(len(*name) <= MostName, "holds a name that is too long")
	})
	if !c.Reading() {
		return
	}
	// The map from names to numbers is computed from the list of names, so it is not in the snapshot.
	f.places = make(map[string]int, len(f.names))
	for machine, name := range f.names {
		if _, twice := f.places[name]; name != "" {
			c.Check(!twice, "holds a name twice")
			f.places[name] = machine
		}
	}
}
