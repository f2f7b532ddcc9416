package restart

import (
	"encoding/json"

	"github.com/straggler-go/straggler/internal/check"
)

// MaxAvoid is the largest number of machines that a [MachineSet] contains, and so the largest number in
// [Decision].Avoid.
const MaxAvoid = 6

// MachineSet is a set of at most [MaxAvoid] machines. A machine is given by the index that the host has assigned to
// it. Two sets are equal (==) if they contain the same machines in the same order.
type MachineSet struct {
	n  int
	id [MaxAvoid]int
}

// Len returns the number of machines in the set.
func (m MachineSet) Len() int { return m.n }

// At returns the machine at position i of the set, counted from 0. It returns -1 if the set has no position i.
func (m MachineSet) At(i int) int {
	if i < 0 || i >= m.n {
		return -1
	}
	return m.id[i]
}

// Has reports whether the machine is in the set.
func (m MachineSet) Has(machine int) bool {
	for _, id := range m.id[:m.n] {
		if id == machine {
			return true
		}
	}
	return false
}

// add puts a machine into the set. It does nothing if the number is negative, if the set already contains the
// machine, or if the set already contains limit machines.
func (m *MachineSet) add(machine, limit int) {
	if machine < 0 || m.n >= limit || m.Has(machine) {
		return
	}
	m.id[m.n] = machine
	m.n++
}

// Avoid returns the machines on which a new attempt of the task should not run. A policy of your own uses it to fill
// [Decision].Avoid. The result contains the machines of the task's attempts first, and then machines of its past
// attempts, the latest first. It never contains all machines of the phase: at most p.Machines-1 machines, if
// p.Machines is known, and at most [MaxAvoid]. The cost is O(len(t.Attempts) + len(t.PastMachines)); Avoid allocates
// nothing.
func Avoid(t Task, p Phase) MachineSet { return avoid(&t, &p) }

// avoid is Avoid without a copy of the facts.
func avoid(t *Task, p *Phase) (m MachineSet) {
	limit := MaxAvoid
	if p.Machines > 0 {
		limit = min(limit, p.Machines-1)
	}
	for i := range t.Attempts {
		m.add(t.Attempts[i].Machine, limit)
	}
	running := m
	for _, machine := range t.PastMachines {
		if m.n == limit && limit < MaxAvoid && machine >= 0 && !m.Has(machine) {
			// The task already ran on every machine, so no machine is better than another. Only the machines of
			// running attempts are avoided.
			return running
		}
		m.add(machine, limit)
	}
	return m
}

// MarshalJSON returns the machines as a JSON list of numbers.
func (m MachineSet) MarshalJSON() ([]byte, error) { return json.Marshal(m.id[:m.n]) }

// MarshalBinary returns the machines for encoding/gob, as a JSON list.
func (m MachineSet) MarshalBinary() ([]byte, error) { return m.MarshalJSON() }

// UnmarshalBinary reads the bytes of MarshalBinary. An error leaves the set as it was.
func (m *MachineSet) UnmarshalBinary(data []byte) error {
	var machines []int
	var read MachineSet
	if err := json.Unmarshal(data, &machines); err != nil || !read.hold(machines) {
		return check.Bad("restart", "MachineSet", string(data), wantMachines)
	}
	*m = read
	return nil
}

const wantMachines = "the numbers of at most six machines, each once"

// hold replaces the machines, and reports whether all fit, each stands once, and each is known.
func (m *MachineSet) hold(machines []int) bool {
	*m = MachineSet{}
	for _, machine := range machines {
		m.add(machine, MaxAvoid)
	}
	return m.n == len(machines)
}
