package hedge

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Decision says what to do about a request that has no answer yet, and why. A Decision is a plain value: two decisions
// can be compared with ==, and a decision contains no NaN. The zero value sends no second request.
type Decision struct {
	Action Action
	Reason Reason
	// After is how long the host waits before it calls Late; 0 unless the action is Wait.
	After time.Duration
	// Value and Threshold are the two numbers that were compared. Their meaning depends on the reason; see [Reason].
	Value, Threshold float64
	// Avoid is the machine that has the first request. The second request should go to another one. It is empty unless
	// the action is Send, or if the host has not told the machine.
	Avoid string
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.Duration("after", &d.After)
	c.Float("value", &d.Value)
	c.Float("threshold", &d.Threshold)
	c.Text("avoid", &d.Avoid)
}

// String returns the decision as one line: action, reason, and the numbers that were compared.
func (d Decision) String() string { return wire.Line(d.wire) }

// LogValue returns the decision as a group of fields for log/slog.
func (d Decision) LogValue() slog.Value { return wire.Log(d.wire) }

// MarshalJSON returns a JSON object with the fields that String prints.
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }

// Action says what to do about a request that has no answer yet. The names and values are stable.
type Action uint8

const (
	// None sends no second request. The host need not ask again.
	None Action = iota
	// Wait asks again after Decision.After, if there is no answer by then.
	Wait
	// Send sends the second request now.
	Send
)

var actionNames = [...]string{None: "none", Wait: "wait", Send: "send"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name; an error for a value that does not exist.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// Reason says why a second request is sent or not. Each comment names the two numbers of the decision: the value and
// the threshold. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value: no reason was given.
	NoReason Reason = iota
	// Late: the second request is sent. Value is the age of the first request in seconds, and Threshold the planned
	// delay.
	Late
	// NotLate: the request is younger than the planned delay. The numbers are the same as for Late.
	NotLate
	// NotSafe: the host has not said that the request may be sent twice. Both numbers are 0.
	NotSafe
	// Learning: too few requests of the class were answered. Value is their number, and Threshold the needed number.
	Learning
	// NothingHelps: no second request within the budget makes the percentile shorter by a twentieth. Value is the
	// percentile with the best plan, in seconds, and Threshold the longest percentile that would be worth it. Or the
	// target is reached without second requests: then Value is the percentile without, and Threshold the target. A
	// sixteenth of the late requests get a second request all the same, so that the Hedger learns the times of second
	// requests.
	NothingHelps
	// WinsSeldom: second requests would win too seldom. Value is the probability with which they would win after the
	// delay of the best plan, and Threshold is Config.Wins.
	WinsSeldom
	// RequestLong: second requests win too seldom, so a late request is probably slow by itself. Value is the
	// probability that the request is slow by itself. Threshold is the largest probability with which a second request
	// is worth it.
	RequestLong
	// NotDrawn: the plan sends only a part of the second requests, and this one is not among them. Value is the sum of
	// the probabilities so far, less the number of second requests that were sent, and Threshold is 1/2. No random
	// number is needed.
	NotDrawn
	// DeadlineNear: a second request would probably end after the deadline. Value is the time until the deadline, and
	// Threshold the median time of a second request, in seconds.
	DeadlineNear
	// BudgetSpent: too many second requests were sent. Value is the number that may be sent now, and Threshold is 1.
	BudgetSpent
	// AllSlow: the budget is spent, because it has shrunk while nearly all requests are slow. Value is the share of
	// first requests that take longer than the usual median, and Threshold the share from which on the budget shrinks.
	AllSlow
	// PushedBack: a server has asked for no second requests. Value is the time for which it still asks, in seconds,
	// and Threshold is 0.
	PushedBack
	// AlreadySent: the request has a second request already. Value is its age in seconds, and Threshold is 0.
	AlreadySent
	// NotOpen: the request has ended, or is not known. Both numbers are 0.
	NotOpen
	// Disabled: the budget is Off. Both numbers are 0.
	Disabled
	// InShadow: the second request would be sent if the Hedger were not in shadow mode. The numbers are the same as
	// for Late.
	InShadow

	reasons // the number of reasons
)

var reasonNames = [...]string{
	NoReason: "no-reason", Late: "late", NotLate: "not-late", NotSafe: "not-safe", Learning: "learning",
	NothingHelps: "nothing-helps", WinsSeldom: "wins-seldom", RequestLong: "request-long", NotDrawn: "not-drawn",
	DeadlineNear: "deadline-near", BudgetSpent: "budget-spent", AllSlow: "all-slow", PushedBack: "pushed-back",
	AlreadySent: "already-sent", NotOpen: "not-open", Disabled: "disabled", InShadow: "in-shadow",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name; an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }
