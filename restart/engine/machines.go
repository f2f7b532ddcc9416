package engine

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart/engine/internal/cluster"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Machine is a computer or a worker process: a unit that can be slow or lost as a whole.
type Machine struct {
	// Name is the machine's name, as in Attempt.Machine and Action.Machine.
	Name string
	// Slots is the number of attempts that run on the machine at once. 0: the engine's own scheduler knows the
	// number and places the attempts.
	//
	// If a worker takes its next attempt by itself, give one slot more than it runs. The additional attempt
	// waits at the worker and begins as soon as another ends. Without it a slot is idle until a poll has seen
	// the end and the next attempt has arrived.
	Slots int
}

// MachinesConfig describes the machines of a cluster.
type MachinesConfig struct {
	// Machines are the known machines. Either all machines have slots or none has. If none has, further machines
	// are added as the engine shows them.
	Machines []Machine
	// Record holds the experience with the machines; its machine numbers are the indices of this package. A
	// machine that it calls slow gets no new attempts as long as there are others. Nil: the Machines make a
	// record of their own, which lasts as long as they do. So share one Machines among the phases of a cluster.
	// A record with an Origin is also told the machines' names, because other schedulers know them by name.
	Record tracker.MachineRecord
	// Rest is how long a machine gets no new attempts after it lost an attempt that was not cancelled.
	// [Machines.SetDown] may end the rest earlier. 0 means a minute.
	Rest time.Duration
}

const (
	defaultRest   = time.Minute
	machinesPlace = "restart/engine: MachinesConfig"
)

// Machines holds the state of a cluster's machines: how many attempts each holds, which have proved bad, and
// how far their clocks are off. Share one Machines among the phases of a cluster. The machines are numbered in
// the order in which they were given or seen; the tracker uses the same numbers. The zero value has no
// machines. Machines is not safe for concurrent use.
type Machines struct {
	set    *cluster.Set
	record tracker.MachineRecord
	named  int // how many machines the record knows by name
}

// NewMachines returns the machines, or an error that names the field that is out of range.
func NewMachines(c MachinesConfig) (*Machines, error) {
	if err := check.Length(machinesPlace, "Rest", c.Rest); err != nil {
		return nil, err
	}
	m := &Machines{set: cluster.New(check.Or(c.Rest, defaultRest)), record: c.Record}
	for _, machine := range c.Machines {
		if err := m.Add(machine); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Add adds a new machine, or returns an error that names the field that is out of range. The rules of
// MachinesConfig.Machines hold for it. Phases see the machine at their next call. O(log machines).
func (m *Machines) Add(machine Machine) error {
	set := m.fill().set
	if err := m.check(set.Len(), cluster.Machine(machine)); err != nil {
		return err
	}
	set.Add(cluster.Machine(machine))
	m.tellNames()
	return nil
}

// number returns the number of a machine by its name. An unknown name is added if the engine places.
func (m *Machines) number(name string) int {
	i := m.fill().set.Number(name)
	m.tellNames()
	return i
}

// tellNames tells the machines' names to a record that schedulers share. So the experience of other schedulers
// counts from the first submission on.
func (m *Machines) tellNames() {
	for ; m.named < m.set.Len(); m.named++ {
		record, ok := m.record.(interface {
			Config() machines.Config
			SetName(machine int, name string) bool
		})
		if ok && record.Config().Origin != "" {
			record.SetName(m.named, m.set.Name(m.named))
		}
	}
}

// fill makes a zero or nil Machines usable.
func (m *Machines) fill() *Machines {
	if m == nil {
		m = new(Machines)
	}
	if m.set == nil {
		m.set = cluster.New(defaultRest)
	}
	if m.record == nil {
		m.record = new(machines.Record)
	}
	return m
}

// check reports whether a machine may become the machine with number i.
func (m *Machines) check(i int, machine cluster.Machine) error {
	field := fmt.Sprintf("Machines[%d]", i)
	_, known := m.set.Known(machine.Name)
	placing := i == 0 && machine.Slots > 0 || m.set.Placing()
	switch {
	case machine.Name == "":
		return check.Bad(machinesPlace, field+".Name", "", "a name")
	case known:
		return check.Bad(machinesPlace, field+".Name", machine.Name, "a name that no other machine has")
	case machine.Slots < 0, placing && machine.Slots == 0:
		return check.Bad(machinesPlace, field+".Slots", machine.Slots, "1 or more, or 0 for all machines")
	case !placing && machine.Slots > 0:
		return check.Bad(machinesPlace, field+".Slots", machine.Slots, "0, as the first machine has")
	}
	return nil
}

// Record returns the record of the machines: MachinesConfig.Record, or the record that stands for nil. To
// replay a phase's journal, keep a snapshot of the record from the time when the phase began.
func (m *Machines) Record() tracker.MachineRecord { return m.fill().record }

// Resting returns the names of the machines that rest after they lost an attempt, in the order of their
// numbers. O(machines).
func (m *Machines) Resting(now time.Time) []string {
	return m.names(func(i int) bool { return m.set.Rests(i, now) })
}

// Slow returns the names of the machines that the record called slow at the last Poll of a phase. They get no
// new attempts as long as there are others. The names are in the order of the machines' numbers. O(machines).
func (m *Machines) Slow() []string { return m.names(func(i int) bool { return m.set.IsSlow(i) }) }

// names returns the names of the machines for which is(number) is true.
func (m *Machines) names(is func(i int) bool) (names []string) {
	for i := range m.fill().set.Len() {
		if is(i) {
			names = append(names, m.set.Name(i))
		}
	}
	return names
}

// ClockOffset returns how far a machine's clock is ahead of the clock of Poll's caller, as the reports prove. A
// negative offset means behind. ClockOffset returns 0 for a clock that may be right and for an unknown name.
// See the section on clocks in the package's page.
func (m *Machines) ClockOffset(name string) time.Duration {
	if i, ok := m.fill().set.Known(name); ok {
		return m.set.Clock(i).Offset()
	}
	return 0
}

// SetSlots changes how many attempts run on a machine at once. Running attempts go on. SetSlots changes nothing
// if the name is unknown, if slots is below 1, or if the engine places.
func (m *Machines) SetSlots(name string, slots int) {
	if i, ok := m.fill().set.Known(name); ok && slots > 0 && m.set.Placing() {
		m.set.SetSlots(i, slots)
	}
}

// SetDown reports that a machine is down, or is up again.
//
// A machine that is down gets no new attempts, even if no other machine is left. An attempt that waits for this
// machine alone is withdrawn, and its task is submitted elsewhere, at most Config.MaxLost times a task. A
// machine that is up again gets new attempts at once: its rest is over. An unknown name is added if the engine
// places; otherwise it is ignored.
func (m *Machines) SetDown(name string, down bool) {
	if i := m.number(name); i != cluster.Nowhere {
		m.set.SetDown(i, down)
	}
}

// SetLeaving says that a machine will be gone at a time, because of a drain, a notice or maintenance. The
// machine gets no new attempts as long as there are others. An attempt that would not end there in time is
// copied as soon as a slot elsewhere is free, under every policy, also under restart.Never. The zero time says
// that the machine stays after all. An unknown name is added if the engine places; otherwise it is ignored.
func (m *Machines) SetLeaving(name string, at time.Time) {
	if i := m.number(name); i != cluster.Nowhere {
		m.set.SetLeaving(i, inRange(at))
	}
}

// Slots returns how many attempts the machines may run in all; 0 if the engine places. O(machines).
func (m *Machines) Slots() int { return m.fill().set.Slots() }

const machinesVersion = 6

// AppendBinary appends a snapshot of the machines to dst. The snapshot includes the record of machines, unless
// MachinesConfig.Record gave it. The snapshot does not include the load of phases, which comes back with the phases.
// AppendBinary never fails. O(machines).
func (m *Machines) AppendBinary(dst []byte) ([]byte, error) {
	m.fill()
	return snapshot.Append(dst, machinesVersion, m.code)
}

// MarshalBinary returns a snapshot of the machines; see [Machines.AppendBinary].
func (m *Machines) MarshalBinary() ([]byte, error) { return m.AppendBinary(nil) }

// UnmarshalBinary sets m to the state of a snapshot. If the record was given by MachinesConfig.Record, make m
// by [NewMachines] with that record first. Data that are no snapshot are an error, and m stays as it was.
// O(machines).
func (m *Machines) UnmarshalBinary(data []byte) error {
	read := Machines{record: m.record}
	read.fill()
	return snapshot.RestoreTo(read, data, machinesVersion, m, (*Machines).code)
}

func (m *Machines) code(c *snapshot.Codec) {
	m.set.Code(c, m.check)
	record, own := m.record.(snapshot.State)
	written := own
	c.Bool(&written)
	c.Check(written == own, "has a record of machines from the caller where Machines have their own, or the reverse")
	if written && own { // last, because the record is read in place and nothing may fail after it
		c.Last(record)
	}
}
