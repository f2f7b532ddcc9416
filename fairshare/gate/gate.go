package gate

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Config contains an operator's choices for one kind of machine. The zero value is the paper's example for a machine
// with two cores: at most six reducers, at most two computing reducers, and at most two reducers of the same job that
// copy their input.
type Config struct {
	// MaxComputing is the largest number of reducers that may compute on the machine at the same time, at least 1.
	// In a scheduler without a gate this is the number of reduce slots of the machine. Zero means 2.
	MaxComputing int
	// MaxReducers is the largest number of reducers that may be on the machine, copying or computing. It must be
	// at least MaxComputing. Zero means three times MaxComputing.
	MaxReducers int
	// MaxCopying is the largest number of reducers of one job that may be on the machine without computing, at
	// least 1. Such reducers copy their input, or have copied it. Zero means MaxComputing, as in the paper. [Off]
	// means no limit.
	MaxCopying int
	// Reserved is the number of slots, of the MaxReducers slots, that only short and production jobs may use. It
	// must be from 0 to MaxReducers-1. With it, long jobs cannot occupy the whole machine (planned in section
	// 5.2).
	Reserved int
	// Memory is the number of bytes of memory that the tasks on the machine may use together, at least 0. Zero
	// means that the gate ignores memory.
	Memory int64
	// MaxNetwork is a share of the machine's network link, from 0 to 1. While this share or more is in use, no
	// further reducer may start to copy its input. Zero means that the gate ignores the link.
	MaxNetwork float64
	// DiskReserve is the number of bytes that must stay free on the disks of the machine, at least 0.
	DiskReserve int64
}

// Off is a value of [Config.MaxCopying]. It means no limit.
const Off = -1

// Gate decides which tasks may start on a machine. For reducers it implements the copy-compute splitting of the
// paper (section 5.2). More reducers are on a machine than may compute, so that some reducers copy their input
// while others compute. A job whose maps still run cannot occupy the whole machine. A Gate also refuses a task
// that would overload the memory, the network link or the disks of the machine (sections 5.2 and 5.4).
//
// A reducer may have copied all its input and wait to compute. Until [Gate.Compute] admits it, it is included in
// the number of copying reducers. Otherwise a job with many reducers could fill the machine with waiting reducers.
//
// [New] makes a Gate. The zero value has the zero [Config]. A Gate never changes and is safe for concurrent use.
type Gate struct{ config Config }

// Machine is the present load of one machine, as the scheduler observes it. The zero value is an idle machine
// without free disk space.
type Machine struct {
	Reducers   int     // reducers on the machine: copying, waiting to compute, or computing
	Computing  int     // reducers that compute
	Privileged int     // reducers of short and production jobs
	Memory     int64   // bytes of memory that all tasks on the machine use
	Network    float64 // share of the network link in use, in [0, 1]
	DiskFree   int64   // free bytes on the disks
	DiskOwed   int64   // bytes that the tasks on the machine are expected to write from now on
}

// Reducer describes the reducer that asks the gate, and the other reducers of its job on the machine.
type Reducer struct {
	Running    int   // reducers of the job on the machine, including a reducer that asks to compute
	Copying    int   // reducers of the job on the machine that do not compute
	MaxRunning int   // the user's limit for reducers of the job on one machine; 0 means no limit
	Privileged bool  // true if the job is a short or a production job, which may use reserved slots
	Memory     int64 // bytes of memory that the reducer will use if it goes on, minus the bytes that it uses now
	Disk       int64 // bytes that the reducer is expected to write on the machine
}

// New returns a gate with the given configuration. It returns an error for the first field of config that is out
// of range. The error contains the name of the field, its value and its range.
func New(config Config) (Gate, error) {
	if err := config.Validate(); err != nil {
		return Gate{}, err
	}
	return Gate{config: config.Effective()}, nil
}

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c Config) Validate() error {
	const place = "fairshare/gate: Config"
	c = c.Effective()
	var reserved, network error
	if c.Reserved < 0 || c.Reserved >= c.MaxReducers {
		reserved = check.Badf(place, "Reserved", c.Reserved, "0 to less than MaxReducers, which is %d", c.MaxReducers)
	}
	if !(c.MaxNetwork >= 0 && c.MaxNetwork <= 1) {
		network = check.Bad(place, "MaxNetwork", c.MaxNetwork, "a share in (0, 1], or 0 to ignore the link")
	}
	return cmp.Or(
		check.Least(place, "MaxComputing", c.MaxComputing, 1),
		check.Least(place, "MaxReducers", c.MaxReducers, c.MaxComputing),
		check.Count(place, "MaxCopying", c.MaxCopying, true),
		reserved,
		check.Least(place, "Memory", c.Memory, 0),
		network,
		check.Least(place, "DiskReserve", c.DiskReserve, 0),
	)
}

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case, for example "max-reducers", and Off is -1. UnmarshalJSON reads that form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Effective returns the configuration with its zero fields replaced by their defaults.
func (c Config) Effective() Config {
	c.MaxComputing = check.Or(c.MaxComputing, 2)
	if c.MaxReducers == 0 {
		c.MaxReducers = max(c.MaxComputing, 3*min(c.MaxComputing, math.MaxInt/3))
	}
	c.MaxCopying = check.Or(c.MaxCopying, c.MaxComputing)
	return c
}

// Config returns the configuration of the gate, with zero fields replaced by their defaults.
func (g Gate) Config() Config { return g.config.Effective() }

// Launch decides whether a reducer may start on the machine and copy its input. It compares these numbers with
// their limits, in this order: reducers on the machine, slots that are not reserved, reducers of the job, copying
// reducers of the job, the network link, the memory and the disk. The reason of the answer is the first limit that
// is reached.
//
// Cost: O(1), no allocation.
func (g Gate) Launch(machine Machine, r Reducer) Answer {
	c := g.Config()
	unprivileged := max(0, machine.Reducers-machine.Privileged)
	switch {
	case machine.Reducers >= c.MaxReducers:
		return wait(MachineFull, machine.Reducers, c.MaxReducers)
	case !r.Privileged && unprivileged >= c.MaxReducers-c.Reserved:
		return wait(Reserved, unprivileged, c.MaxReducers-c.Reserved)
	case r.MaxRunning > 0 && r.Running >= r.MaxRunning:
		return wait(JobCap, r.Running, r.MaxRunning)
	case c.MaxCopying != Off && r.Copying >= c.MaxCopying:
		return wait(JobCopying, r.Copying, c.MaxCopying)
	case c.MaxNetwork > 0 && !(machine.Network < c.MaxNetwork): // a NaN is treated as a busy link
		return Answer{Reason: NetworkBusy, Have: millionths(machine.Network), Limit: millionths(c.MaxNetwork)}
	}
	if a := g.Room(machine, r.Memory, r.Disk); a.Action == Wait {
		return a
	}
	return Answer{Action: Admit, Reason: BelowLimits, Have: int64(machine.Reducers), Limit: int64(c.MaxReducers)}
}

// Compute decides whether a reducer that has copied all its input may start to compute. Two conditions must be
// true. Fewer than MaxComputing reducers compute on the machine, and the memory that the reducer needs is free. If
// no reducer computes on the machine, memory is ignored; otherwise the reducers could wait for ever. The scheduler
// decides which reducer asks first. In the paper reducers are admitted in the order in which they ask.
//
// Cost: O(1), no allocation.
func (g Gate) Compute(machine Machine, r Reducer) Answer {
	c := g.Config()
	if machine.Computing >= c.MaxComputing {
		return wait(MachineComputing, machine.Computing, c.MaxComputing)
	}
	// If no reducer computes, no memory becomes free. So a wait for memory would never end.
	if a := g.memory(machine, r.Memory); a.Action == Wait && machine.Computing > 0 {
		return a
	}
	return Answer{Action: Admit, Reason: BelowLimits, Have: int64(machine.Computing), Limit: int64(c.MaxComputing)}
}

// Room decides whether a task of any kind, a map or a reducer, fits on the machine. The task needs memory bytes of
// memory and is expected to write disk bytes. The paper says: "[T]he node will refuse to admit tasks that are
// expected to overflow its disk" (section 5.4). A task that is expected to write nothing fits even if the disk is
// full. If no task fits on any machine, choose a job to evict with an [EvictRule].
//
// Cost: O(1), no allocation.
func (g Gate) Room(machine Machine, memory, disk int64) Answer {
	if a := g.memory(machine, memory); a.Action == Wait {
		return a
	}
	free := max(0, machine.DiskFree)
	free -= min(free, max(0, machine.DiskOwed))
	free -= min(free, g.config.DiskReserve)
	if disk > 0 && disk > free {
		return Answer{Reason: DiskFull, Have: disk, Limit: free}
	}
	return Answer{Action: Admit, Reason: BelowLimits}
}

// memory decides whether a task that needs more bytes of memory fits on the machine.
func (g Gate) memory(machine Machine, more int64) Answer {
	held := max(0, machine.Memory)
	if limit := g.config.Memory; limit > 0 && more > 0 && more > limit-min(held, limit) {
		return Answer{Reason: MemoryFull, Have: held, Limit: limit}
	}
	return Answer{Action: Admit, Reason: BelowLimits}
}

func wait(why Reason, have, limit int) Answer {
	return Answer{Reason: why, Have: int64(have), Limit: int64(limit)}
}

// millionths returns a share in millionths. An Answer contains this integer and no float, because a NaN would make
// two equal answers unequal.
func millionths(share float64) int64 {
	if !num.Finite(share) {
		return 0
	}
	return int64(math.Round(1e6 * min(max(share, 0), 1e6)))
}
