package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Outline holds the facts of a task with one attempt that reports progress, as far as they are known at little cost.
type Outline struct {
	// Left is an upper bound of the quantile 31/32 of t_rem, in seconds.
	Left float64
	// Age is how long the attempt has run. Location is the location factor of its machine; see [Attempt].
	Age      time.Duration
	Location float64
	// Fresh is t_new; see [Task].
	Fresh estimate.Fresh
}

// NotSlow says whether a task is plainly not slow, at a small part of the cost of [LeastCost.Decide]. It is for a phase that is
// not stuck, and a task without a running or lost trial. If sure is true, Decide would keep the task with the reason
// [NotSlow]. If sure is false, ask Decide.
//
// Value and threshold are bounds of the numbers that Decide would compare, in seconds of slots. Keeping the task costs at most
// value. If keeping did cost value, the cheapest action would cost at least threshold, with the margin that an action must save.
//
// Why the bounds hold: Decide compares sixteen points of t_rem, up to the quantile 31/32, with eight points of t_new. Let p be
// the price, l a point of t_rem and f a point of t_new.
//
//   - If the task is not long, a restart saves (1+p)(l-f), and a copy saves (1+p)l - (2+p)f if f < l, else nothing. Both savings
//     grow with l and fall with f. So Left in place of l, and lower quantiles in place of f, bound them from above.
//   - If the task is long, a new attempt takes m(Age+l), where m compares the two machines. Both savings are linear in l while
//     they are above 0, and at most 0 where l is 0. So the savings at Left, or 0, bound them from above.
//   - The expected saving is linear in the probability that the task is long. This probability is at least Trials.Long of 0
//     for a restart, and of Age+Left for a copy.
//
// NotSlow computes up to three quantiles of Fresh, and allocates nothing.
func (c *LeastCost) NotSlow(o *Outline, p *Phase) (value, threshold float64, sure bool) {
	margin := marginPeriods * max(p.Interval, 0).Seconds()
	if !(o.Left > 0) { // keeping the task costs nothing, and no action costs less
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
		longest := float64(showPeriods*max(p.Interval, 0).Seconds()) + max(fresh.Lag, 0).Seconds() + typical // the same bound as in Decide
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
	lowPoint  = 0.5 / freshPoints // quantile of the first of Decide's points of t_new
	highPoint = 4.5 / freshPoints // and of the fifth

	// Bounds of rounding errors: of a sum of 128 products, as a part of the largest product; and of a time, in seconds.
	roundings, rounded = 1e-9, 1e-8
)

// slowBound bounds the savings of a restart and of a copy, in seconds of slots, for a task that is not long.
type slowBound struct {
	left, age, moved, price float64
	long, copied            float64 // least probability that the task is long, for a restart and for a copy
	restart, another        float64
}

// most adds the largest saving for the given part of t_new, whose values are fresh or more.
func (b *slowBound) most(fresh, part float64) {
	b.restart += float64(part * (1 + b.price) * (b.left - fresh))
	b.another += float64(part * max(0, float64((1+b.price)*b.left)-float64((2+b.price)*fresh)))
}

// saved returns the largest saving of a restart or a copy, for any probability that the task is long.
func (b *slowBound) saved() float64 {
	same := float64(b.moved * (b.age + b.left))
	restart := float64((1 + b.price) * max(0, b.left-same))
	another := max(0, float64((1+b.price)*b.left)-float64((2+b.price)*same))
	return max(
		restart, float64(b.long*restart)+float64((1-b.long)*b.restart),
		another, float64(b.copied*another)+float64((1-b.copied)*b.another),
	)
}

// within reports whether the saving is surely below the margin: rounding errors are added to the saving.
func (b *slowBound) within(margin float64) bool {
	return b.saved()+float64((1+b.price)*(rounded+float64(roundings*(b.left+b.age)))) < margin
}
