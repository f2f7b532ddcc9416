package engine

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart/engine/internal/cluster"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Machine is a computer or a worker process: the unit that can be slow, or can fail, as a whole.
type Machine struct {
	// Name is the machine's name, as in Attempt.Machine and Action.Machine.
	Name string
	// Slots is the number of attempts that run on the machine at once. 0 means that the engine's own scheduler knows
	// the number and places the attempts.
	Slots int
}

// MachinesConfig describes the machines of a cluster.
type MachinesConfig struct {
	// Machines are the known machines. Either all machines have slots or none of them has. If none has slots, further
	// machines are added when the engine shows them.
	Machines []Machine
	// Knowledge is what earlier phases have shown: about the speed of each machine, and about the phases of each
	// Config.Kind. Its machine numbers are the indices of this package. A machine that is known to be slow gets no new
	// attempts as long as other machines may get them. If Knowledge is nil, the Machines create one that lasts as long
	// as they do; so share one Machines among the phases of a cluster. A Knowledge with an Origin is shared with other
	// schedulers, so it also receives the machines' names.
	Knowledge *tracker.Knowledge
	// Prefetch is how many attempts may wait on each machine, in addition to the attempts that run there. A waiting
	// attempt begins as soon as another attempt ends. Without it, the slot is idle until a poll has seen the end and
	// the next attempt has arrived. So set 1 if a worker takes its next attempt from a queue of its own. Only first
	// attempts and restarts wait, never copies. An attempt that waits is withdrawn if its machine turns out to be slow
	// or another machine has a free slot, and is submitted there. 0 means none; machines without slots have none.
	Prefetch int `want:"count"`
	// Rest is how long a machine gets no new attempts after it has lost an attempt that was not cancelled.
	// [Machines.SetDown] may end this time earlier. 0 means a minute.
	Rest time.Duration `want:"length"`
}

const (
	// The default of MachinesConfig.Rest.
	defaultRest = time.Minute
	// The beginning of each error about a field of MachinesConfig.
	machinesPlace = "restart/engine: MachinesConfig"
)

// Machines contains the state of a cluster's machines: how many attempts each machine runs, which machines are bad,
// and how wrong their clocks are. Share one Machines among the phases of a cluster. The machines are numbered in the
// order in which they were configured or first seen, and the tracker uses the same numbers. The zero value contains
// no machines. Machines is not safe for concurrent use.
type Machines struct {
	set       *cluster.Set
	knowledge *tracker.Knowledge
	// The number of machines whose names were reported to the knowledge.
	named int
}

// NewMachines returns the machines of a configuration. If a field is out of range, it returns an error that states
// the field.
func NewMachines(c MachinesConfig) (*Machines, error) {
	if err := check.Valid(c); err != nil {
		return nil, err
	}
	if c.Knowledge != nil && c.Knowledge.Machines() == nil {
		return nil, check.Bad(machinesPlace, "Knowledge", "one without machines", "a Knowledge that remembers machines")
	}
	m := &Machines{set: cluster.New(check.Or(c.Rest, defaultRest), c.Prefetch), knowledge: c.Knowledge}
	for _, machine := range c.Machines {
		if err := m.Add(machine); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Add adds a new machine. It returns an error if a field of the machine is out of range; the rules of
// MachinesConfig.Machines apply. Phases use the machine from their next call on. O(log machines).
func (m *Machines) Add(machine Machine) error {
	set := m.fill().set
	if err := m.check(set.Len(), cluster.Machine(machine)); err != nil {
		return err
	}
	set.Add(cluster.Machine(machine))
	m.tellNames()
	return nil
}

// number returns the number of the machine with the given name. A machine with an unknown name is added if the engine
// places attempts; otherwise number returns nowhere.
func (m *Machines) number(name string) int {
	i := m.fill().set.Number(name)
	m.tellNames()
	return i
}

// tellNames reports the machines' names to the knowledge, if schedulers share it. Then the observations of other
// schedulers about a machine are used from the first submission on.
func (m *Machines) tellNames() {
	for ; m.named < m.set.Len(); m.named++ {
		if m.knowledge.Machines().Config().Origin != "" {
			m.knowledge.Machines().SetName(m.named, m.set.Name(m.named))
		}
	}
}

// fill creates the parts of a zero or nil Machines, so that it can be used.
func (m *Machines) fill() *Machines {
	if m == nil {
		m = new(Machines)
	}
	if m.set == nil {
		m.set = cluster.New(defaultRest, 0)
	}
	if m.knowledge == nil {
		m.knowledge = new(tracker.Knowledge)
	}
	return m
}

// check returns an error if a machine must not be added with the number i, for example because its name is in use.
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

// Knowledge returns what is known about the machines and about the kinds of phases: MachinesConfig.Knowledge, or the
// Knowledge that was created in its place. To replay a phase's journal, keep a snapshot of it from the moment when the
// phase began.
func (m *Machines) Knowledge() *tracker.Knowledge { return m.fill().knowledge }

// Resting returns the names of the machines that get no new attempts for a while because they lost an attempt. The
// names are in the order of the machines' numbers. O(machines).
func (m *Machines) Resting(now time.Time) []string {
	return m.names(func(i int) bool { return m.set.Rests(i, now) })
}

// Slow returns the names of the machines that were slow at the last Poll of a phase, as computed from earlier
// attempts (MachinesConfig.Knowledge). These machines get no new attempts as long as other machines may get them. The
// names are in the order of the machines' numbers. O(machines).
func (m *Machines) Slow() []string { return m.names(func(i int) bool { return m.set.IsSlow(i) }) }

// names returns the names of the machines for which is(number) returns true.
func (m *Machines) names(is func(i int) bool) (names []string) {
	for i := range m.fill().set.Len() {
		if is(i) {
			names = append(names, m.set.Name(i))
		}
	}
	return names
}

// ClockOffset returns how far a machine's clock is ahead of the clock of Poll's caller. It is the least offset that
// the reports prove. A negative offset means that the machine's clock is behind. ClockOffset returns 0 if the clock
// may be right, and if the name is unknown. See the section "Whose clock" of the package's page.
func (m *Machines) ClockOffset(name string) time.Duration {
	if i, ok := m.fill().set.Known(name); ok {
		return m.set.Clock(i).Offset()
	}
	return 0
}

// SetSlots changes how many attempts run on a machine at once. Running attempts continue. SetSlots changes nothing if
// the name is unknown, if slots is below 1, or if the engine places attempts.
func (m *Machines) SetSlots(name string, slots int) {
	if i, ok := m.fill().set.Known(name); ok && slots > 0 && m.set.Placing() {
		m.set.SetSlots(i, slots)
	}
}

// SetDown reports that a machine is down, or is up again.
//
// A machine that is down gets no new attempts, even if no other machine is left. An attempt that waits for this
// machine alone is withdrawn, and its task is submitted elsewhere. That happens to a task at most Config.MaxLost
// times. A machine that is up again gets new attempts at once. A machine with an unknown name is added if the engine
// places attempts; otherwise the call is ignored.
func (m *Machines) SetDown(name string, down bool) {
	if i := m.number(name); i != cluster.Nowhere {
		m.set.SetDown(i, down)
	}
}

// SetLeaving reports that a machine will be gone at the given time, for example for maintenance. The machine gets no
// new attempts as long as other machines may get them. An attempt that would not end there in time is copied as soon
// as a slot on another machine is free. That applies to every policy, also to restart.Never. The zero time means that
// the machine stays after all. A machine with an unknown name is added if the engine places attempts; otherwise the
// call is ignored.
func (m *Machines) SetLeaving(name string, at time.Time) {
	if i := m.number(name); i != cluster.Nowhere {
		m.set.SetLeaving(i, inRange(at))
	}
}

// Slots returns how many attempts the machines may run at once, all together. It returns 0 if the engine places
// attempts. O(machines).
func (m *Machines) Slots() int { return m.fill().set.Slots() }

// List returns the machines in the order in which they were added, with their slots. Machines that an engine places
// attempts on have 0 slots. O(machines).
func (m *Machines) List() []Machine {
	set := m.fill().set
	list := make([]Machine, set.Len())
	for i := range list {
		list[i] = Machine{Name: set.Name(i), Slots: set.SlotsOf(i)}
	}
	return list
}

// AppendBinary appends a snapshot of the machines to dst. The snapshot contains the Knowledge. It does not contain how
// many attempts run on each machine; that follows from the snapshots of the phases. AppendBinary never fails.
// O(machines + kinds).
func (m *Machines) AppendBinary(dst []byte) ([]byte, error) {
	m.fill()
	return snapshot.Append(dst, snapshot.Version, m.code)
}

// MarshalBinary returns a snapshot of the machines; see [Machines.AppendBinary].
func (m *Machines) MarshalBinary() ([]byte, error) { return m.AppendBinary(nil) }

// UnmarshalBinary sets m and its Knowledge from a snapshot. If data is not a snapshot, UnmarshalBinary returns an error
// and changes nothing. O(machines + kinds).
func (m *Machines) UnmarshalBinary(data []byte) error {
	read := Machines{knowledge: m.knowledge}
	read.fill()
	return snapshot.RestoreTo(read, data, snapshot.Version, m, (*Machines).code)
}

// code encodes the machines into the codec, or decodes the machines from the codec.
func (m *Machines) code(c *snapshot.Codec) {
	c.Field(1, "set").Fields(func() { m.set.Code(c, m.check) })
	// The knowledge is decoded last, because it is changed in place and nothing may fail after that.
	c.Field(2, "knowledge").Last(m.knowledge)
}
