package restart

import (
	"encoding/json"

	"github.com/straggler-go/straggler/internal/check"
)

// MaxAvoid is the largest number of machines in [Decision].Avoid.
const MaxAvoid = 6

// MachineSet is a set of at most [MaxAvoid] machines, by the host's index. Two sets are equal (==) if they have the same
// machines in the same order.
type MachineSet struct {
	n  int
	id [MaxAvoid]int
}

// Len returns the number of machines in the set.
func (m MachineSet) Len() int { return m.n }

// At returns machine i of the set, from 0; -1 if the set has no machine i.
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

// add puts a machine into the set. A negative number, a machine of the set and a machine beyond the limit are ignored.
func (m *MachineSet) add(machine, limit int) {
	if machine < 0 || m.n >= limit || m.Has(machine) {
		return
	}
	m.id[m.n] = machine
	m.n++
}

// Avoid returns the machines on which a new attempt of the task should not run, for the decisions of a policy of your own:
// the machines of its attempts, and then its past machines as long as a machine is left. Avoid never names all p.Machines
// machines, and at most [MaxAvoid]. O(len(t.Attempts) + len(t.PastMachines)), no allocation.
func Avoid(t Task, p Phase) (m MachineSet) {
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
			return running // the task ran on every machine, and each is as good as another
		}
		m.add(machine, limit)
	}
	return m
}

// MarshalJSON returns the machines as a list of numbers.
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
