package fairshare

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
)

// GateConfig is an operator's choices about one kind of node.
//
// Safe for concurrent use.
type GateConfig struct {
	// MaxComputing is how many reducers may compute on the node at a time: the reduce slots that it would have without
	// the gate. Zero means 2, the paper's example of a dual-core machine.
	MaxComputing int
	// MaxReducers is how many reducers may be on the node in all. Zero means three times MaxComputing, as in the paper's
	// example. At least MaxComputing.
	MaxReducers int
	// MaxCopying is how many reducers of one job may be on the node without computing. Zero means MaxComputing, the
	// paper's rule; [NoLimit] turns the rule off.
	MaxCopying int
}

// NoLimit turns [GateConfig.MaxCopying] off.
const NoLimit = -1

// Gate is copy-compute splitting by admission control (section 5.2): a node holds more reducers than it has compute
// resources for, so that some copy while others compute, and one job whose maps are still running cannot fill it.
//
// A reducer that has copied everything and waits to compute counts as copying: its copy phase ends when it is let in.
// Otherwise a job with many reducers could fill the node with waiting ones.
//
// The zero value lets nobody in; see [NewGate].
//
// Safe for concurrent use.
type Gate struct{ config GateConfig }

// NodeLoad is what runs on a node.
//
// Safe for concurrent use.
type NodeLoad struct {
	Reducers  int // all of them: copying, waiting to compute, or computing
	Computing int
}

// GateReason is why a reducer was let in or not.
type GateReason uint8

const (
	// Admitted means that no limit was reached.
	Admitted GateReason = iota
	// NodeFull means that MaxReducers are on the node.
	NodeFull
	// JobCopying means that MaxCopying reducers of the job are copying on the node.
	JobCopying
	// NodeComputing means that MaxComputing reducers are computing on the node.
	NodeComputing
)

var gateReasonNames = [...]string{
	Admitted: "admitted", NodeFull: "node full", JobCopying: "job copying", NodeComputing: "node computing",
}

// String returns the reason in words.
func (r GateReason) String() string { return nameOf(gateReasonNames[:], uint8(r)) }

// Admission is a gate's answer, with what it compared. The zero value is a yes; it is comparable.
//
// Safe for concurrent use.
type Admission struct {
	Reason      GateReason
	Have, Limit int // of the limit that was reached, or of the one that comes next
}

// OK reports whether the reducer may go on.
func (a Admission) OK() bool { return a.Reason == Admitted }

// String returns the answer as one line.
func (a Admission) String() string {
	return a.Reason.String() + ": " + strconv.Itoa(a.Have) + " of " + strconv.Itoa(a.Limit)
}

// LogValue implements [slog.LogValuer].
func (a Admission) LogValue() slog.Value {
	return slog.GroupValue(slog.String("reason", a.Reason.String()), slog.Int("have", a.Have), slog.Int("limit", a.Limit))
}

// NewGate checks the configuration and fills in its defaults. Errors name the field.
func NewGate(config GateConfig) (Gate, error) {
	c := config
	if c.MaxComputing == 0 {
		c.MaxComputing = 2
	}
	if c.MaxReducers == 0 {
		c.MaxReducers = max(c.MaxComputing, 3*min(c.MaxComputing, math.MaxInt/3))
	}
	switch c.MaxCopying {
	case 0:
		c.MaxCopying = c.MaxComputing
	case NoLimit:
		c.MaxCopying = math.MaxInt
	}
	switch {
	case c.MaxComputing < 0:
		return Gate{}, fmt.Errorf("fairshare: gate: MaxComputing is %d, want at least 1, or 0 for 2", c.MaxComputing)
	case c.MaxReducers < c.MaxComputing:
		return Gate{}, fmt.Errorf("fairshare: gate: MaxReducers is %d, want at least MaxComputing, which is %d", c.MaxReducers, c.MaxComputing)
	case c.MaxCopying < 0:
		return Gate{}, fmt.Errorf("fairshare: gate: MaxCopying is %d, want at least 1, 0 for MaxComputing, or NoLimit", c.MaxCopying)
	}
	return Gate{config: c}, nil
}

// Config returns the configuration with the defaults filled in.
func (g Gate) Config() GateConfig { return g.config }

// Launch says whether a reducer of a job may start to copy on the node, where copying is the number of the job's reducers
// there that do not compute.
//
// Cost: O(1), no allocation.
func (g Gate) Launch(node NodeLoad, copying int) Admission {
	switch {
	case node.Reducers >= g.config.MaxReducers:
		return Admission{Reason: NodeFull, Have: node.Reducers, Limit: g.config.MaxReducers}
	case copying >= g.config.MaxCopying:
		return Admission{Reason: JobCopying, Have: copying, Limit: g.config.MaxCopying}
	}
	return Admission{Have: node.Reducers, Limit: g.config.MaxReducers}
}

// Compute says whether a reducer on the node that has copied everything may begin to compute. Whom to ask first is the
// host's choice; the paper's nodes let reducers in as they ask.
//
// Cost: O(1), no allocation.
func (g Gate) Compute(node NodeLoad) Admission {
	if node.Computing >= g.config.MaxComputing {
		return Admission{Reason: NodeComputing, Have: node.Computing, Limit: g.config.MaxComputing}
	}
	return Admission{Have: node.Computing, Limit: g.config.MaxComputing}
}
