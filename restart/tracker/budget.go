package tracker

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Limiter bounds the copies of the phases that share it. [Budget] is one. To share one among trackers on several
// goroutines, wrap it in a Limiter of your own that locks; each method is one short step.
type Limiter interface {
	// Allows reports whether one more copy may be launched now. One that says no while none runs can hold up a phase for
	// ever: see [Budget].
	Allows() bool
	// TaskStarted takes note that a task has started for the first time.
	TaskStarted()
	// CopyLaunched takes note of a copy beyond the first of its task, whether it was allowed or not, and CopyEnded of its
	// end.
	CopyLaunched()
	CopyEnded()
	// SlotsChanged takes note that a phase has so many slots more, or less.
	SlotsChanged(by int)
}

// BudgetConfig holds the choices of a [Budget].
type BudgetConfig struct {
	// Slots is how many slots the phases that share the budget have in all. 0: as many as their trackers say, as their
	// slots come and go; while these say none, Share does not apply.
	Slots int
	// Share is the part of Slots that copies may hold at once, in (0, 1]. 0 means 0.1, LATE's SpeculativeCap;
	// restart.Off: any.
	Share float64
	// Rate is how many copies may be launched, over time, for each task that is started for the first time. Unused
	// allowance is saved up to the number of copies that may run at once. The one copy that a Budget always allows is
	// beyond it. 0 means 0.1; restart.Off: any.
	Rate float64
	// Floor is how many copies may run at once however few slots there are, and how many may be launched before any
	// allowance was earned, so that a small system is not left without. 0 means 3; restart.Off: none but the one that a
	// Budget always allows.
	Floor int
}

// Validate reports the first field that is out of range, with its value and its range.
func (c BudgetConfig) Validate() error {
	const place = "restart/tracker: BudgetConfig"
	if c.Rate == restart.Off {
		c.Rate = 0
	}
	return cmp.Or(
		check.Count(place, "Slots", c.Slots, false),
		check.Share(place, "Share", c.Share, true),
		check.Factor(place, "Rate", c.Rate),
		check.Count(place, "Floor", c.Floor, true),
	)
}

// Effective returns the configuration with its defaults filled in.
func (c BudgetConfig) Effective() BudgetConfig {
	c.Share, c.Rate, c.Floor = check.Or(c.Share, 0.1), check.Or(c.Rate, 0.1), check.Or(c.Floor, 3)
	return c
}

// MarshalJSON returns the fields that are not zero, kebab-case, Off as -1; UnmarshalJSON reads it.
func (c BudgetConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *BudgetConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Budget bounds the load that copies add, over all the phases whose trackers share it: a cap on the copies that run at
// once and a rate of launches. It refuses new copies; it never takes back a running one. It counts copies beyond the
// first of a task; a restart adds no load and is not counted.
//
// While none of its copies runs it allows one, whatever Share, Rate and Floor say. An attempt that hangs never ends
// unless it gets a copy, and once all tasks have started nothing earns allowance any more: a budget that refused the
// last copy would keep a phase from ever ending, beside idle slots. Copies that come one after the other are a load of
// one slot. For no copies at all there is restart.Never.
//
// A phase that ends or is cancelled must [Tracker.Close], or its copies and slots count for ever. The zero value is a
// Budget with the defaults. Not safe for concurrent use; share one among trackers that one goroutine drives.
type Budget struct {
	config  BudgetConfig
	slots   int
	running int
	tokens  float64
	filled  bool // in with its defaults
}

// NewBudget returns a budget, or an error that names the field that is out of range.
func NewBudget(c BudgetConfig) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Budget{config: c, slots: c.Slots}
	b.fill()
	return b, nil
}

// fill sets the defaults, once: also those of a zero Budget.
func (b *Budget) fill() {
	if b.filled {
		return
	}
	b.filled, b.config = true, b.config.Effective()
	b.tokens = float64(max(b.config.Floor, 0))
}

// Config returns the configuration with its defaults filled in.
func (b *Budget) Config() BudgetConfig {
	b.fill()
	return b.config
}

// Running returns how many copies run under the budget.
func (b *Budget) Running() int { return b.running }

// limit is how many copies may run at once, and so how much allowance can be saved.
func (b *Budget) limit() float64 {
	floor := float64(max(b.config.Floor, 0))
	if b.config.Share == restart.Off {
		return max(floor, float64(b.slots))
	}
	return max(floor, b.config.Share*float64(b.slots))
}

// Allows reports whether one more copy may be launched now. While none runs, one may; a nil budget allows all.
func (b *Budget) Allows() bool {
	if b == nil || b.running == 0 {
		return true
	}
	b.fill()
	switch {
	case b.slots > 0 && b.running >= b.config.Floor && b.config.Share != restart.Off &&
		b.shareWith(b.running+1) > b.config.Share:
		return false
	}
	return b.config.Rate == restart.Off || b.tokens >= 1-tokenNoise
}

// shareWith is the share of the slots that so many copies hold. A quotient is right on the boundary where the product
// is not: 0.29*100 is less than 29.
func (b *Budget) shareWith(copies int) float64 { return float64(copies) / float64(b.slots) }

// tokenNoise is what rounding may take from the sum of many small allowances: ten times 0.1 is a copy.
const tokenNoise = 1e-9

// TaskStarted earns the allowance of one started task. Trackers call it when a task starts for the first time: what has
// to run again is a reason for fewer copies, not for more.
func (b *Budget) TaskStarted() {
	if b == nil {
		return
	}
	if b.fill(); b.config.Rate != restart.Off {
		b.tokens = min(b.tokens+b.config.Rate, b.limit())
	}
}

// CopyLaunched takes a launched copy to account, whether it was allowed or not. Trackers call it.
func (b *Budget) CopyLaunched() {
	if b != nil {
		b.fill()
		b.running++
		b.tokens = max(b.tokens-1, 0)
	}
}

// CopyEnded gives the slot of a copy back; what it cost to launch stays spent. Trackers call it.
func (b *Budget) CopyEnded() {
	if b != nil {
		b.running = max(b.running-1, 0)
	}
}

// SlotsChanged counts the slots of the phases, if BudgetConfig.Slots does not say how many there are. Trackers call it;
// by
// [Tracker.Close] a phase gives its slots back.
func (b *Budget) SlotsChanged(by int) {
	if b != nil && b.config.Slots == 0 {
		b.slots = max(b.slots+by, 0)
	}
}

const budgetVersion = 2

// AppendBinary appends a snapshot of the budget, its configuration included. It never fails. O(1).
func (b *Budget) AppendBinary(dst []byte) ([]byte, error) {
	b.fill()
	return snapshot.Append(dst, budgetVersion, b.code)
}

// MarshalBinary returns a snapshot; see [Budget.AppendBinary].
func (b *Budget) MarshalBinary() ([]byte, error) { return b.AppendBinary(nil) }

// UnmarshalBinary sets b to what was written. What is not a snapshot is an error, and leaves b as it was. O(1).
func (b *Budget) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Budget{filled: true}, data, budgetVersion, b, (*Budget).code)
}

func (b *Budget) code(c *snapshot.Codec) {
	c.Number(&b.config.Slots, 0, snapshot.Any)
	c.Real(&b.config.Share)
	c.Real(&b.config.Rate)
	c.Number(&b.config.Floor, restart.Off, snapshot.Any)
	c.Valid(true, b.config)
	c.Number(&b.slots, 0, snapshot.Any)
	c.Number(&b.running, 0, snapshot.Any)
	c.Amount(&b.tokens)
}
