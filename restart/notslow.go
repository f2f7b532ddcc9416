package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Outline is what is known at little cost of a task with one attempt that reports progress.
type Outline struct {
	// Left is the quantile 31/32 of t_rem in seconds, or more.
	Left float64
	// Age is how long the attempt has run, and Location the factor of the place where it runs; see [Attempt].
	Age      time.Duration
	Location float64
	// Fresh is t_new; see [Task].
	Fresh estimate.Fresh
}

// NotSlow says whether a task is plainly not slow, at a small part of the cost of [LeastCost.Decide]. The phase is not
// stuck, and no trial of the task runs or was lost. If sure is true, Decide keeps such a task for the reason [NotSlow].
// If sure is false, ask Decide. Value and threshold stand for the numbers that Decide would compare, in seconds of
// slots: to keep the task costs at most value, and if it did cost that, the cheapest action with the margin would cost
// at least threshold.
//
// Decide looks at t_rem in sixteen points, of which the last is the quantile 31/32, and at t_new in eight. Let p be the
// price, l one of the sixteen and f one of the eight. A restart saves (1+p)(l-f). A copy saves (1+p)l - (2+p)f if f < l, and
// otherwise nothing. Both grow with l and fall with f. So none saves more than with Left in the place of l, and with lower
// quantiles in the place of f. If the task is long by itself, a new attempt takes m(Age+l), where m compares the two places:
// then both savings are linear in l while they are above 0, and at most 0 where l is 0. So they are at most 0, or at most
// the savings at Left. How probable it is that the task is long, depends on l; what is saved is linear in that, and it is at
// least as probable as [Trials.Long] says of 0 for a restart, and of Age+Left for a copy.
//
// It looks at up to three quantiles of Fresh; no allocation.
func (c *LeastCost) NotSlow(o *Outline, p *Phase) (value, threshold float64, sure bool) {
	margin := marginPeriods * max(p.Interval, 0).Seconds()
	if !(o.Left > 0) { // to keep it costs nothing, and no action costs less than nothing
		return 0, margin, o.Left == 0
	}
	fresh := &o.Fresh
	b := slowBound{left: o.Left, age: o.Age.Seconds(), moved: place(fresh.Location) / place(o.Location)}
	b.long, b.copied = p.Trials.Long(0, 0), p.Trials.Long(0, b.age+b.left)
	if b.price = check.Or(c.Price, usualPrice); p.Waiting <= 0 && !p.Stream {
		b.price = check.Or(c.IdlePrice, usualIdlePrice)
	}
	low := max(0, fresh.Quantile(lowPoint))
	b.most(low, 1)
	if !b.within(margin) {
		typical := max(0, fresh.Quantile(typicalPart))
		longest := float64(showPeriods*max(p.Interval, 0).Seconds()) + max(fresh.Lag, 0).Seconds() + typical // as Decide has it
		b.restart, b.another = 0, 0
		b.most(low, 2./freshPoints)                                             // the points 1/16 and 3/16
		b.most(typical, 2./freshPoints)                                         // 5/16 and 7/16
		b.most(min(max(0, fresh.Quantile(highPoint)), longest), 4./freshPoints) // 9/16 to 15/16
		if !b.within(margin) {
			return 0, 0, false
		}
	}
	value = float64((1 + b.price) * b.left)
	if threshold = value - b.saved() + margin; !num.Finite(threshold) {
		return 0, 0, false
	}
	return value, threshold, true
}

const (
	lowPoint  = 0.5 / freshPoints // the first of the points in which t_new is looked at
	highPoint = 4.5 / freshPoints // the fifth

	// Sums of 128 products are off by less than this part of the largest of them, and times by as many seconds.
	roundings, rounded = 1e-9, 1e-8
)

// slowBound is how much a restart and a copy save at most, if the task is not long, in seconds of slots.
type slowBound struct {
	left, age, moved, price float64
	long, copied            float64 // how probable it is at least that the task is long, for a restart and for a copy
	restart, another        float64
}

// most adds what is saved at most with the part of t_new that is no less than fresh.
func (b *slowBound) most(fresh, part float64) {
	b.restart += float64(part * (1 + b.price) * (b.left - fresh))
	b.another += float64(part * max(0, float64((1+b.price)*b.left)-float64((2+b.price)*fresh)))
}

// saved is how much is saved at most, by a restart or by a copy, however probable it is that the task is long.
func (b *slowBound) saved() float64 {
	same := float64(b.moved * (b.age + b.left))
	restart := float64((1 + b.price) * max(0, b.left-same))
	another := max(0, float64((1+b.price)*b.left)-float64((2+b.price)*same))
	return max(
		restart, float64(b.long*restart)+float64((1-b.long)*b.restart),
		another, float64(b.copied*another)+float64((1-b.copied)*b.another),
	)
}

// within reports whether less than the margin is saved, whatever the roundings.
func (b *slowBound) within(margin float64) bool {
	return b.saved()+float64((1+b.price)*(rounded+float64(roundings*(b.left+b.age)))) < margin
}
