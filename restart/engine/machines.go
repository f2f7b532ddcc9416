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

// Machine is a machine, or a worker process: what is slow or lost as a whole.
type Machine struct {
	// Name is what Attempt.Machine and Action.Machine say.
	Name string
	// Slots is how many attempts run on it at once. 0: the engine's own scheduler knows, and places. Where a worker takes
	// its next attempt by itself, say one more than it runs: this attempt waits at the worker, and begins as soon as another
	// ends. Otherwise each slot stands idle until a poll has seen the end and the next attempt has arrived.
	Slots int
}

// MachinesConfig describes the machines of a cluster.
type MachinesConfig struct {
	// Machines are the known ones. Either all of them have slots or none has. More are learned as they are seen if none
	// has.
	Machines []Machine
	// Record is what is known of the machines, whose numbers are the machines'. A machine that it calls slow gets nothing new
	// as long as there are others. Nil: a record of their own. It lasts as long as the Machines, so give a cluster's
	// phases the same. One with an Origin is told the machines' names, by which other schedulers know them.
	Record tracker.MachineRecord
	// Rest is for how long a machine gets nothing new after it lost an attempt that was not cancelled, unless [Machines.SetDown]
	// says before that it is back. 0 means a minute.
	Rest time.Duration
}

const (
	defaultRest   = time.Minute
	machinesPlace = "restart/engine: MachinesConfig"
)

// Machines is what is known of the machines of a cluster: how many attempts they hold, which have proved bad, and how far
// their clocks are off. Share one among the phases of a cluster. Machines are numbered in the order in which they were
// given or seen; the tracker's machines are these numbers. The zero value knows none. Not safe for concurrent use.
type Machines struct {
	set    *cluster.Set
	record tracker.MachineRecord
	named  int // how many of them the record knows by name
}

// NewMachines returns the machines, or an error that names the field that is out of range.
func NewMachines(c MachinesConfig) (*Machines, error) {
	if err := check.Length(machinesPlace, "Rest", c.Rest); err != nil {
		return nil, err
	}
	h := &Machines{set: cluster.New(check.Or(c.Rest, defaultRest)), record: c.Record}
	for _, machine := range c.Machines {
		if err := h.Add(machine); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Add adds a machine that has come, or returns an error that names the field that is out of range: what holds for those of
// MachinesConfig holds for it. Phases see it at their next call. O(log machines).
func (h *Machines) Add(machine Machine) error {
	set := h.fill().set
	if err := h.check(set.Len(), cluster.Machine(machine)); err != nil {
		return err
	}
	set.Add(cluster.Machine(machine))
	h.tellNames()
	return nil
}

// number returns the number of a machine that was seen, which the set's Number learns if it may.
func (h *Machines) number(name string) int {
	i := h.fill().set.Number(name)
	h.tellNames()
	return i
}

// tellNames tells a record that is shared among schedulers the names of the machines that it does not know by name. So what
// another scheduler has seen of them counts from the first submit on.
func (h *Machines) tellNames() {
	for ; h.named < h.set.Len(); h.named++ {
		record, ok := h.record.(interface {
			Config() machines.Config
			SetName(machine int, name string) bool
		})
		if ok && record.Config().Origin != "" {
			record.SetName(h.named, h.set.Name(h.named))
		}
	}
}

// fill makes a zero Machines usable, and a new one of none.
func (h *Machines) fill() *Machines {
	if h == nil {
		h = new(Machines)
	}
	if h.set == nil {
		h.set = cluster.New(defaultRest)
	}
	if h.record == nil {
		h.record = new(machines.Record)
	}
	return h
}

// check holds the machine that is to be the next against those before it.
func (h *Machines) check(i int, machine cluster.Machine) error {
	field := fmt.Sprintf("Machines[%d]", i)
	_, known := h.set.Known(machine.Name)
	placing := i == 0 && machine.Slots > 0 || h.set.Placing()
	switch {
	case machine.Name == "":
		return check.Bad(machinesPlace, field+".Name", "", "a name")
	case known:
		return check.Bad(machinesPlace, field+".Name", machine.Name, "a name of its own")
	case machine.Slots < 0, placing && machine.Slots == 0:
		return check.Bad(machinesPlace, field+".Slots", machine.Slots, "1 or more, or 0 for all machines")
	case !placing && machine.Slots > 0:
		return check.Bad(machinesPlace, field+".Slots", machine.Slots, "0, as the first machine has")
	}
	return nil
}

// Record returns what is known of the machines, whose numbers are the machines': the machine's own, or the one that stands
// for nil. To replay the journal of a phase, keep a snapshot of it from when the phase began.
func (h *Machines) Record() tracker.MachineRecord { return h.fill().record }

// Resting returns the names of the machines that get nothing new for a while since they lost an attempt, in the order of
// their numbers. O(machines).
func (h *Machines) Resting(now time.Time) []string {
	return h.names(func(i int) bool { return h.set.Rests(i, now) })
}

// Slow returns the names of the machines that get nothing new since the record called them slow when a phase last asked,
// at its last Poll. See [Machines.Resting].
func (h *Machines) Slow() []string { return h.names(func(i int) bool { return h.set.IsSlow(i) }) }

func (h *Machines) names(is func(i int) bool) (names []string) {
	for i := range h.fill().set.Len() {
		if is(i) {
			names = append(names, h.set.Name(i))
		}
	}
	return names
}

// ClockOffset returns what a machine's clock is taken to show more than that of the caller of Poll, by the reports
// themselves; 0 for one that may be right, or is not known. See the package's page on clocks.
func (h *Machines) ClockOffset(name string) time.Duration {
	if i, ok := h.fill().set.Known(name); ok {
		return h.set.Clock(i).Offset()
	}
	return 0
}

// SetSlots changes how many attempts run on a machine at once. What runs there goes on. A name that is not known, or fewer
// than 1, changes nothing, and so if the engine places.
func (h *Machines) SetSlots(name string, slots int) {
	if i, ok := h.fill().set.Known(name); ok && slots > 0 && h.set.Placing() {
		h.set.SetSlots(i, slots)
	}
}

// SetDown says that the engine knows a machine to be out of order, or to be back. It gets nothing new, and does not count
// as a machine that is left. What waits for it alone is withdrawn and submitted elsewhere, as often as Config.MaxLost lets
// it. A machine that is back gets new attempts at once: the rest after what it lost before is over. Names that are not known
// are learned, if the engine places.
func (h *Machines) SetDown(name string, down bool) {
	if i := h.number(name); i != cluster.Nowhere {
		h.set.SetDown(i, down)
	}
}

// SetLeaving says that a machine will be gone at a time: a drain, a notice, maintenance. It gets nothing new, and what
// would not end there by then is copied as soon as a slot is free elsewhere, under every policy, restart.Never too. The
// zero time says that it stays after all. A name that is not known is passed over if the machines have slots.
func (h *Machines) SetLeaving(name string, at time.Time) {
	if i := h.number(name); i != cluster.Nowhere {
		h.set.SetLeaving(i, inRange(at))
	}
}

// Slots returns how many attempts the machines may run in all; 0 if the engine knows. O(machines).
func (h *Machines) Slots() int { return h.fill().set.Slots() }

const machinesVersion = 6

// AppendBinary appends a snapshot of the machines to dst: what is known of them, their record of machines included unless
// it is the caller's own, and without what phases hold of them, which comes back with these. It never fails. O(machines).
func (h *Machines) AppendBinary(dst []byte) ([]byte, error) {
	h.fill()
	return snapshot.Append(dst, machinesVersion, h.code)
}

// MarshalBinary returns a snapshot; see [Machines.AppendBinary].
func (h *Machines) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// UnmarshalBinary sets h to what was written. Of a record of the caller's own, give h the same by [NewMachines] before.
// What is not a snapshot is an error, and leaves h as it was. O(machines).
func (h *Machines) UnmarshalBinary(data []byte) error {
	read := Machines{record: h.record}
	read.fill()
	return snapshot.RestoreTo(read, data, machinesVersion, h, (*Machines).code)
}

func (h *Machines) code(c *snapshot.Codec) {
	h.set.Code(c, h.check)
	record, own := h.record.(snapshot.State)
	written := own
	c.Bool(&written)
	c.Check(written == own, "has, or lacks, a record of machines of the caller's own")
	if written && own { // last, so that nothing else can be wrong once it was read in place
		c.Last(record)
	}
}
