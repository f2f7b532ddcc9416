package merge

import (
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Fleet is Counts of machines that a process knows by number. The zero value has counted nothing.
type Fleet struct {
	Counts
	names  []string       // by the number of the machine; "" if it has no name
	places map[string]int // the number of each machine, by name
}

// SetName sets the name by which all processes know a machine. SetName reports false if the name is empty or too
// long, if the machine has another name, or if another machine has the name.
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

// Name returns the name of a machine; "" if the machine has no name.
func (f *Fleet) Name(machine int) string {
	if machine < 0 || machine >= len(f.names) {
		return ""
	}
	return f.names[machine]
}

// Resize forgets the names of machines from the given number on.
func (f *Fleet) Resize(machines int) {
	kept := min(machines, len(f.names))
	for _, name := range f.names[kept:] {
		delete(f.places, name)
	}
	f.names = f.names[:kept]
}

// Add adds the count of things that this process has just seen on a machine. Add reports false and counts nothing
// for a machine without a name.
func (f *Fleet) Add(c Choices, now time.Duration, machine int, n Count) bool {
	name := f.Name(machine)
	if name != "" {
		f.Counts.Add(c, now, name, n)
	}
	return name != ""
}

// State codes the counts and the names.
func (f *Fleet) State(form Form[Fact], c *snapshot.Codec, choices Choices) {
	f.Counts.State(form, c, choices)
	snapshot.List(c, &f.names, func(name *string) {
		c.Text(name)
		c.Check(len(*name) <= MostName, "holds a name that is too long")
	})
	if !c.Reading() {
		return
	}
	// The numbers by name follow from the names, so they are not in the snapshot.
	f.places = make(map[string]int, len(f.names))
	for machine, name := range f.names {
		if _, twice := f.places[name]; name != "" {
			c.Check(!twice, "holds a name twice")
			f.places[name] = machine
		}
	}
}
