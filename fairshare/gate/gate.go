package gate

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Config is an operator's choices about one kind of node. The zero value is the paper's example of a dual-core
// machine: six reducers, two of them computing, two of a job copying.
type Config struct {
	// MaxComputing is how many reducers may compute on the node at a time: the reduce slots that it would have without
	// the gate. Zero means 2.
	MaxComputing int
	// MaxReducers is how many reducers may be on the node in all. Zero means three times MaxComputing. At least
	// MaxComputing.
	MaxReducers int
	// MaxCopying is how many reducers of one job may be on the node without computing. Zero means MaxComputing, the
	// paper's rule; [Off] turns the rule off.
	MaxCopying int
	// Reserved is how many of MaxReducers are kept for short jobs or production jobs, so that long ones cannot fill the
	// node (planned in section 5.2). Zero means none; less than MaxReducers.
	Reserved int
	// Memory is how many bytes the tasks on the node may hold together. Zero means that memory is not looked at.
	Memory int64
	// MaxNetwork is the share of the node's link, in (0, 1], at which no further reducer begins to copy. Zero means that
	// the link is not looked at.
	MaxNetwork float64
	// DiskReserve is how many bytes stay free on the node's disks.
	DiskReserve int64
}

// Off turns [Config.MaxCopying] off.
const Off = -1

// Gate is copy-compute splitting by admission control (section 5.2): a node holds more reducers than it has compute
// resources for, so that some copy while others compute, and one job whose maps are still running cannot fill it. It
// also keeps tasks off a node whose memory, link or disks they would overload (sections 5.2 and 5.4).
//
// A reducer that has copied everything and waits to compute counts as copying: its copy phase ends when it is let in.
// Otherwise a job with many reducers could fill the node with waiting ones.
//
// The zero value has the zero [Config]. A Gate is safe for concurrent use.
type Gate struct{ config Config }

// Node is what runs on a node, as the host observes it.
type Node struct {
	Reducers   int     // all of them: copying, waiting to compute, or computing
	Computing  int     // of them
	Privileged int     // of them, those of short or production jobs
	Memory     int64   // bytes that the tasks on it hold
	Network    float64 // share of its link in use, in [0, 1]
	DiskFree   int64   // bytes
	DiskOwed   int64   // bytes that tasks on it are expected to write yet
}

// Reducer is a reducer that asks, and its job on the node.
type Reducer struct {
	Running    int   // reducers of the job on the node, the one that asks to compute included
	Copying    int   // of them, those that do not compute
	MaxRunning int   // the user's cap on reducers of the job a node; 0 means none
	Privileged bool  // of a short or a production job, which may use what is reserved
	Memory     int64 // bytes that the phase for which it asks takes beyond what the reducer holds now
	Disk       int64 // bytes that it is expected to write on the node
}

// New returns a gate, or an error that names the field that is out of range.
func New(config Config) (Gate, error) {
	if err := config.Validate(); err != nil {
		return Gate{}, err
	}
	return Gate{config: config.Effective()}, nil
}

// Validate reports the first field that is out of range, with its value and its range.
func (c Config) Validate() error {
	const place = "fairshare/gate: Config"
	c = c.Effective()
	var reserved, network error
	if c.Reserved < 0 || c.Reserved >= c.MaxReducers {
		reserved = check.Badf(place, "Reserved", c.Reserved, "0 to less than MaxReducers, which is %d", c.MaxReducers)
	}
	if !(c.MaxNetwork >= 0 && c.MaxNetwork <= 1) {
		network = check.Bad(place, "MaxNetwork", c.MaxNetwork, "more than 0 to 1, or 0 not to look at it")
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

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config {
	c.MaxComputing = check.Or(c.MaxComputing, 2)
	if c.MaxReducers == 0 {
		c.MaxReducers = max(c.MaxComputing, 3*min(c.MaxComputing, math.MaxInt/3))
	}
	c.MaxCopying = check.Or(c.MaxCopying, c.MaxComputing)
	return c
}

// Config returns the configuration with the defaults filled in.
func (g Gate) Config() Config { return g.config.Effective() }

// Launch says whether a reducer may start to copy on the node. It asks, in this order, for a place on the node, for
// one that is not reserved, for the user's cap, for the job's copiers, and for the link, the memory and the disk.
//
// Cost: O(1), no allocation.
func (g Gate) Launch(node Node, r Reducer) Answer {
	c := g.Config()
	unprivileged := max(0, node.Reducers-node.Privileged)
	switch {
	case node.Reducers >= c.MaxReducers:
		return wait(NodeFull, node.Reducers, c.MaxReducers)
	case !r.Privileged && unprivileged >= c.MaxReducers-c.Reserved:
		return wait(Reserved, unprivileged, c.MaxReducers-c.Reserved)
	case r.MaxRunning > 0 && r.Running >= r.MaxRunning:
		return wait(JobCap, r.Running, r.MaxRunning)
	case c.MaxCopying != Off && r.Copying >= c.MaxCopying:
		return wait(JobCopying, r.Copying, c.MaxCopying)
	case c.MaxNetwork > 0 && !(node.Network < c.MaxNetwork): // NaN is no reason to start
		return Answer{Reason: NetworkBusy, Have: millionths(node.Network), Limit: millionths(c.MaxNetwork)}
	}
	if a := g.Room(node, r.Memory, r.Disk); a.Action == Wait {
		return a
	}
	return Answer{Action: Admit, Reason: BelowLimits, Have: int64(node.Reducers), Limit: int64(c.MaxReducers)}
}

// Compute says whether a reducer on the node that has copied everything may begin to compute: as long as fewer than
// MaxComputing do, and what computing takes fits in memory. Whom to ask first is the host's choice; the paper's nodes
// let reducers in as they ask.
//
// Cost: O(1), no allocation.
func (g Gate) Compute(node Node, r Reducer) Answer {
	c := g.Config()
	if node.Computing >= c.MaxComputing {
		return wait(NodeComputing, node.Computing, c.MaxComputing)
	}
	if a := g.memory(node, r.Memory); a.Action == Wait && node.Computing > 0 { // the last one on the node is never stuck
		return a
	}
	return Answer{Action: Admit, Reason: BelowLimits, Have: int64(node.Computing), Limit: int64(c.MaxComputing)}
}

// Room says whether a task of any kind, a map as well as a reducer, that takes memory bytes and is expected to
// write disk bytes fits on the node: "the node will refuse to admit tasks that are expected to overflow its disk"
// (section 5.4). A task that is expected to write nothing is not refused for a full disk. See [EvictRule] for what to
// do when no task can go on.
//
// Cost: O(1), no allocation.
func (g Gate) Room(node Node, memory, disk int64) Answer {
	if a := g.memory(node, memory); a.Action == Wait {
		return a
	}
	free := max(0, node.DiskFree)
	free -= min(free, max(0, node.DiskOwed))
	free -= min(free, g.config.DiskReserve)
	if disk > 0 && disk > free {
		return Answer{Reason: DiskFull, Have: disk, Limit: free}
	}
	return Answer{Action: Admit, Reason: BelowLimits}
}

func (g Gate) memory(node Node, more int64) Answer {
	held := max(0, node.Memory)
	if limit := g.config.Memory; limit > 0 && more > 0 && more > limit-min(held, limit) {
		return Answer{Reason: MemoryFull, Have: held, Limit: limit}
	}
	return Answer{Action: Admit, Reason: BelowLimits}
}

func wait(why Reason, have, limit int) Answer {
	return Answer{Reason: why, Have: int64(have), Limit: int64(limit)}
}

// millionths counts a share of a link, for an answer that is comparable.
func millionths(share float64) int64 {
	if !num.Finite(share) {
		return 0
	}
	return int64(math.Round(1e6 * min(max(share, 0), 1e6)))
}
