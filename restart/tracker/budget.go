package tracker

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Limiter bounds the copies of several phases together. A copy is one more attempt of a task that already has an
// attempt. [Budget] is the Limiter of this package. To share a Limiter among trackers on several goroutines, wrap it
// in a Limiter of your own that locks. Each method is a single short step.
type Limiter interface {
	// Allows reports whether one more copy may be launched now. If Allows returns false while no copy runs, a phase
	// may wait for ever; [Budget] explains why.
	Allows() bool
	// TaskStarted counts a task whose first attempt has started.
	TaskStarted()
	// CopyLaunched counts a copy that was launched, even if Allows had refused it. CopyEnded counts a copy that has
	// ended.
	CopyLaunched()
	CopyEnded()
	// SlotsChanged adds by, which may be negative, to the number of slots of all phases together.
	SlotsChanged(by int)
}

// BudgetConfig contains the choices of a [Budget]. A field that is zero has its default.
type BudgetConfig struct {
	// Slots is how many slots all phases that share the budget have together. 0 means the sum of the slots that their
	// trackers report. While this sum is 0, Share has no effect.
	Slots int `want:"count"`
	// Share is the largest part of all slots that copies may occupy at the same time, in (0, 1]. For example, with 200
	// slots and a Share of 0.1, 20 copies may run. 0 means 0.1, which is LATE's SpeculativeCap. restart.Off means that
	// copies may occupy all slots.
	Share float64 `want:"share or off" default:"0.1"`
	// Rate is how many copies may be launched for each task that starts for the first time. For example, with a Rate
	// of 0.1, every ten tasks allow one copy. Unused allowance accumulates, up to the number of copies that may run at
	// the same time. A Budget always allows one copy while no copy runs, and this copy needs no allowance. 0 means
	// 0.1. restart.Off means any number of copies.
	Rate float64 `want:"factor or off" default:"0.1"`
	// Floor is how many copies may run at the same time in a system so small that Share allows fewer. It is also the
	// allowance for copies at the beginning, before tasks have started. 0 means 3. restart.Off means none: then a
	// small system makes only the copy that a Budget always allows.
	Floor int `want:"count or off" default:"3"`
}

// Validate returns an error for the first field that is out of range; nil if there is none. The error contains the
// value of the field and its range.
func (bc BudgetConfig) Validate() error { return check.Valid(bc) }

// Effective returns the configuration with its defaults filled in.
func (bc BudgetConfig) Effective() BudgetConfig { return check.Filled(bc) }

// MarshalJSON returns the fields that are not zero, with keys in kebab case. The value of restart.Off is -1.
// UnmarshalJSON reads this JSON.
func (bc BudgetConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&bc)) }
func (bc *BudgetConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, bc, wire.Struct) }

// Budget bounds the load that copies add to all the phases that share it. It has two bounds: a cap on the number of
// copies that run at the same time, and a rate at which copies are launched. It refuses new copies, and never ends a
// running copy. Of each task, all attempts beyond the first are copies for the budget, except clones. A restart adds
// no load and is not counted.
//
// While no copy runs, the Budget allows one copy, whatever Share, Rate and Floor are. The reason is a hung attempt,
// which never ends unless its task gets a copy. When all tasks have started, no further allowance accumulates. So a
// budget that refused the last copy would keep a phase from ever ending, although slots are idle. Copies that run one
// after another add the load of only one slot. If you want no copies at all, use the policy restart.Never.
//
// Call [Tracker.Close] for each phase that ends or is cancelled. Otherwise its copies and slots stay in the budget
// for ever. The zero value is a Budget with the defaults. A Budget is not safe for concurrent use, so share it only
// among trackers of one goroutine.
type Budget struct {
	config    BudgetConfig
	slots     int
	running   int
	allowance float64 // number of copies that may still be launched by Rate; it has fractions
	filled    bool    // the defaults are filled in
}

// NewBudget returns a budget with the given configuration. If a field is out of range, it returns an error that
// contains the name of the field.
func NewBudget(c BudgetConfig) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Budget{config: c, slots: c.Slots}
	b.fill()
	return b, nil
}

// fill fills in the defaults of the configuration, unless it has done so before. A Budget that NewBudget did not make
// is filled at its first use.
func (budget *Budget) fill() {
	if budget.filled {
		return
	}
	budget.filled, budget.config = true, budget.config.Effective()
	budget.allowance = float64(max(budget.config.Floor, 0))
}

// Config returns the configuration with its defaults filled in.
func (budget *Budget) Config() BudgetConfig {
	budget.fill()
	return budget.config
}

// Running returns how many copies run now, in all phases that share the budget.
func (budget *Budget) Running() int { return budget.running }

// limit returns how many copies may run at the same time. The accumulated allowance is at most this number, too.
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
	return budget.config.Rate == restart.Off || budget.allowance >= 1-allowanceNoise
}

// shareWith returns the share of the slots that the given number of copies occupies. Callers compare this quotient
// with Share, because it is exact at the boundary. The product is not: in floating point 0.29*100 is less than 29.
func (budget *Budget) shareWith(copies int) float64 { return float64(copies) / float64(budget.slots) }

// allowanceNoise bounds the rounding error of a sum of many small allowances. For example, ten times 0.1 must allow
// one copy.
const allowanceNoise = 1e-9

// TaskStarted adds the allowance for one task whose first attempt has started. Trackers call it. A task that runs
// again adds nothing, because repeated work is a reason to make fewer copies.
func (budget *Budget) TaskStarted() {
	if budget == nil {
		return
	}
	budget.fill()
	if budget.config.Rate != restart.Off {
		budget.allowance = min(budget.allowance+budget.config.Rate, budget.limit())
	}
}

// CopyLaunched counts a copy that was launched, even if Allows had refused it. Trackers call it.
func (budget *Budget) CopyLaunched() {
	if budget != nil {
		budget.fill()
		budget.running++
		budget.allowance = max(budget.allowance-1, 0)
	}
}

// CopyEnded counts a copy that has ended. The allowance for its launch is not returned. Trackers call it.
func (budget *Budget) CopyEnded() {
	if budget != nil {
		budget.running = max(budget.running-1, 0)
	}
}

// SlotsChanged adds by, which may be negative, to the number of slots of all phases. If BudgetConfig.Slots is given,
// it has no effect. Trackers call it. For example, [Tracker.Close] subtracts the slots of its phase.
func (budget *Budget) SlotsChanged(by int) {
	if budget != nil && budget.config.Slots == 0 {
		budget.slots = max(budget.slots+by, 0)
	}
}

// AppendBinary appends a snapshot of the budget and its configuration to dst. It never fails. O(1).
func (budget *Budget) AppendBinary(dst []byte) ([]byte, error) {
	budget.fill()
	return snapshot.Append(dst, snapshot.Version, budget.code)
}

// MarshalBinary returns a snapshot of the budget; see [Budget.AppendBinary].
func (budget *Budget) MarshalBinary() ([]byte, error) { return budget.AppendBinary(nil) }

// UnmarshalBinary sets the budget to the state of a snapshot. If data is not a snapshot of a budget, it returns an
// error and does not change the budget. O(1).
func (budget *Budget) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Budget{filled: true}, data, snapshot.Version, budget, (*Budget).code)
}

func (budget *Budget) code(c *snapshot.Codec) {
	c.Field(1, "config").Fields(func() {
		c.Field(1, "slots").Number(&budget.config.Slots, 0, snapshot.Any)
		c.Field(2, "share").Real(&budget.config.Share)
		c.Field(3, "rate").Real(&budget.config.Rate)
		c.Field(4, "floor").Number(&budget.config.Floor, restart.Off, snapshot.Any)
	})
	c.Valid(true, budget.config)
	c.Field(2, "slots").Number(&budget.slots, 0, snapshot.Any)
	c.Field(3, "running").Number(&budget.running, 0, snapshot.Any)
	c.Field(4, "allowance").Amount(&budget.allowance)
}
