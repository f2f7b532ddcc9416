package tracker

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Limiter bounds the copies of the phases that share it. [Budget] is the Limiter of this package. To share a Limiter
// among trackers on several goroutines, wrap it in a Limiter of your own that locks. Each method is one short step.
type Limiter interface {
	// Allows reports whether one more copy may be launched now. If it returns false while no copy runs, a phase may
	// wait for ever; see [Budget].
	Allows() bool
	// TaskStarted counts a task that has started for the first time.
	TaskStarted()
	// CopyLaunched counts a launched copy, whether it was allowed or not. CopyEnded counts the end of a copy.
	CopyLaunched()
	CopyEnded()
	// SlotsChanged adds a number of slots, which may be negative, to the slots of the phases.
	SlotsChanged(by int)
}

// BudgetConfig holds the choices of a [Budget]. The zero value has the defaults.
type BudgetConfig struct {
	// Slots is how many slots the phases that share the budget have in all. 0: the sum of the slots that their
	// trackers report. While this sum is 0, Share does not apply.
	Slots int
	// Share is the part of Slots that copies may hold at once, in (0, 1]. 0 means 0.1, LATE's SpeculativeCap;
	// restart.Off: any part.
	Share float64
	// Rate is how many copies may be launched, over time, for each task that starts for the first time. Unused
	// allowance accumulates, up to the number of copies that may run at once. The one copy that a Budget always allows
	// needs no allowance. 0 means 0.1; restart.Off: any number.
	Rate float64
	// Floor is how many copies may run at once with few slots, and how many may be launched before any allowance was
	// earned. It lets a small system make copies at all. 0 means 3; restart.Off: the only copy is the copy that a
	// Budget always allows.
	Floor int
}

// Validate reports the first field that is out of range, with its value and its range.
func (bc BudgetConfig) Validate() error {
	const place = "restart/tracker: BudgetConfig"
	if bc.Rate == restart.Off {
		bc.Rate = 0
	}
	return cmp.Or(
		check.Count(place, "Slots", bc.Slots, false),
		check.Share(place, "Share", bc.Share, true),
		check.Factor(place, "Rate", bc.Rate),
		check.Count(place, "Floor", bc.Floor, true),
	)
}

// Effective returns the configuration with its defaults filled in.
func (bc BudgetConfig) Effective() BudgetConfig {
	bc.Share, bc.Rate, bc.Floor = check.Or(bc.Share, 0.1), check.Or(bc.Rate, 0.1), check.Or(bc.Floor, 3)
	return bc
}

// MarshalJSON returns the fields that are not zero, with kebab-case keys, Off as -1. UnmarshalJSON reads it back.
func (bc BudgetConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&bc)) }
func (bc *BudgetConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, bc, wire.Struct) }

// Budget bounds the load that copies add to all the phases that share it: by a cap on the copies that run at once, and
// by a rate of launches. It refuses new copies, and never ends a running copy. It counts the attempts beyond the first
// of each task. A restart adds no load and does not count.
//
// While no copy runs, the Budget allows one copy, whatever Share, Rate and Floor say. A hung attempt never ends unless
// its task gets a copy. Once all tasks have started, no further allowance is earned. So a budget that refused the last
// copy would keep a phase from ever ending, beside idle slots. Copies that run one after another add the load of one
// slot. For no copies at all use restart.Never.
//
// A phase that ends or is cancelled must [Tracker.Close]; otherwise its copies and slots count for ever. The zero
// value is a Budget with the defaults. A Budget is not safe for concurrent use; share one only among trackers of one
// goroutine.
type Budget struct {
	config  BudgetConfig
	slots   int
	running int
	tokens  float64 // copies that the saved allowance pays for
	filled  bool    // the defaults are filled in
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

// fill fills the defaults in, once. A zero Budget gets them at its first use.
func (budget *Budget) fill() {
	if budget.filled {
		return
	}
	budget.filled, budget.config = true, budget.config.Effective()
	budget.tokens = float64(max(budget.config.Floor, 0))
}

// Config returns the configuration with its defaults filled in.
func (budget *Budget) Config() BudgetConfig {
	budget.fill()
	return budget.config
}

// Running returns how many copies run under the budget.
func (budget *Budget) Running() int { return budget.running }

// limit returns how many copies may run at once. It bounds the saved allowance, too.
func (budget *Budget) limit() float64 {
	floor := float64(max(budget.config.Floor, 0))
	if budget.config.Share == restart.Off {
		return max(floor, float64(budget.slots))
	}
	return max(floor, budget.config.Share*float64(budget.slots))
}

// Allows reports whether one more copy may be launched now. While no copy runs, it returns true. A nil Budget allows
// every copy.
func (budget *Budget) Allows() bool {
	if budget == nil || budget.running == 0 {
		return true
	}
	budget.fill()
	if budget.slots > 0 && budget.running >= budget.config.Floor && budget.config.Share != restart.Off &&
		budget.shareWith(budget.running+1) > budget.config.Share {
		return false
	}
	return budget.config.Rate == restart.Off || budget.tokens >= 1-tokenNoise
}

// shareWith returns the share of the slots that a number of copies holds. The quotient is exact at the boundary, where
// the product is not: 0.29*100 is less than 29.
func (budget *Budget) shareWith(copies int) float64 { return float64(copies) / float64(budget.slots) }

// tokenNoise bounds the rounding error of a sum of many small allowances: ten times 0.1 must pay for one copy.
const tokenNoise = 1e-9

// TaskStarted adds the allowance of one started task. Trackers call it when a task starts for the first time. A task
// that runs again earns nothing, because repeated work is a reason for fewer copies.
func (budget *Budget) TaskStarted() {
	if budget == nil {
		return
	}
	budget.fill()
	if budget.config.Rate != restart.Off {
		budget.tokens = min(budget.tokens+budget.config.Rate, budget.limit())
	}
}

// CopyLaunched counts a launched copy, whether it was allowed or not. Trackers call it.
func (budget *Budget) CopyLaunched() {
	if budget != nil {
		budget.fill()
		budget.running++
		budget.tokens = max(budget.tokens-1, 0)
	}
}

// CopyEnded counts the end of a copy. The allowance of its launch stays spent. Trackers call it.
func (budget *Budget) CopyEnded() {
	if budget != nil {
		budget.running = max(budget.running-1, 0)
	}
}

// SlotsChanged adds to the slots of the phases, if BudgetConfig.Slots is 0. Trackers call it; [Tracker.Close] takes
// the slots of its phase off.
func (budget *Budget) SlotsChanged(by int) {
	if budget != nil && budget.config.Slots == 0 {
		budget.slots = max(budget.slots+by, 0)
	}
}

const budgetVersion = 2

// AppendBinary appends a snapshot of the budget to dst, with its configuration. It never fails. O(1).
func (budget *Budget) AppendBinary(dst []byte) ([]byte, error) {
	budget.fill()
	return snapshot.Append(dst, budgetVersion, budget.code)
}

// MarshalBinary returns a snapshot; see [Budget.AppendBinary].
func (budget *Budget) MarshalBinary() ([]byte, error) { return budget.AppendBinary(nil) }

// UnmarshalBinary sets the budget to the state of a snapshot. Other data is an error, and leaves the budget as it was.
// O(1).
func (budget *Budget) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Budget{filled: true}, data, budgetVersion, budget, (*Budget).code)
}

func (budget *Budget) code(c *snapshot.Codec) {
	c.Number(&budget.config.Slots, 0, snapshot.Any)
	c.Real(&budget.config.Share)
	c.Real(&budget.config.Rate)
	c.Number(&budget.config.Floor, restart.Off, snapshot.Any)
	c.Valid(true, budget.config)
	c.Number(&budget.slots, 0, snapshot.Any)
	c.Number(&budget.running, 0, snapshot.Any)
	c.Amount(&budget.tokens)
}
