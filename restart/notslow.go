package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Outline contains the facts that [LeastCost.NotSlow] needs: rough facts, which cost little to compute, of a task
// with one attempt that reports progress.
type Outline struct {
	// Left is an upper bound, in seconds, of the quantile 31/32 of the attempt's remaining time (t_rem): the attempt
	// almost surely needs less time than Left.
	Left float64
	// Age is how long the attempt has run. Location is the factor by which an attempt takes longer on this machine
	// than on an average machine; 0 means 1.
	Age      time.Duration
	Location float64
	// Fresh is the time that a new attempt would take (t_new), as a probability distribution.
	Fresh estimate.Fresh
}

// NotSlow reports whether a task is clearly not slow, at a small part of the cost of [LeastCost.Decide]. The phase must
// not be stuck. If sure is true, Decide would keep the task with the reason [NotSlow]. If sure is false, NotSlow knows
// no answer; ask Decide.
//
// Value and threshold are bounds of the two numbers that Decide would compare, in seconds of slots. Keeping the task
// costs at most value. If keeping the task did cost value, the cheapest action would cost at least threshold,
// including the margin that an action must save.
//
// The page docs/numerics.md says why the bounds are right.
//
// NotSlow computes up to three quantiles of Fresh, and allocates nothing.
func (c *LeastCost) NotSlow(o *Outline, p *Phase) (value, threshold float64, sure bool) {
	margin := marginPeriods * max(p.Interval, 0).Seconds()
	// If the attempt needs no more time, keeping the task costs nothing, and no action costs less.
	if !(o.Left > 0) {
		return 0, margin, o.Left == 0
	}
	fresh := &o.Fresh
	b := slowBound{left: o.Left, age: o.Age.Seconds(), moved: place(fresh.Location) / place(o.Location)}
	b.long, b.copied = p.Trials.Long(0), p.Trials.Long(b.age+b.left)
	if b.price = check.Or(c.Price, usualPrice); p.Waiting <= 0 && !p.Stream {
		b.price = check.Or(c.IdlePrice, usualIdlePrice)
	}
	low := max(0, fresh.Quantile(lowPoint))
	b.most(low, 1)
	if !b.within(margin) {
		typical := max(0, fresh.Quantile(typicalPart))
		// Decide uses the same upper bound of t_new.
		longest := float64(showPeriods*max(p.Interval, 0).Seconds()) + max(fresh.Lag, 0).Seconds() + typical
		b.restart, b.another = 0, 0
		b.most(low, 2./freshPoints)     // the quantiles 1/16 and 3/16 of t_new
		b.most(typical, 2./freshPoints) // 5/16 and 7/16
		// 9/16 to 15/16
		b.most(min(max(0, fresh.Quantile(highPoint)), longest), 4./freshPoints)
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
	// Decide represents the time of a new attempt (t_new) by eight of its quantiles. lowPoint is the first of them.
	lowPoint = 0.5 / freshPoints
	// highPoint is the fifth of the eight quantiles of t_new.
	highPoint = 4.5 / freshPoints

	// Two bounds of the rounding errors of Decide. The relative bound, roundings, is for a sum of 128 products, as a
	// part of the largest product. The absolute bound, rounded, is for a time, in seconds.
	roundings, rounded = 1e-9, 1e-8
)

// slowBound computes upper bounds of the slot time that a restart and a copy can save, in seconds of slots. Fields
// moved and price are as in weights. Fields restart and another are the savings if the task is not long by itself.
type slowBound struct {
	left, age, moved, price float64
	// Lower bounds of the probability that the task is long: for a restart, and for a copy.
	long, copied     float64
	restart, another float64
}

// most adds the largest saving that is possible in one part of the distribution of t_new. The argument part is the
// probability of this part of the distribution. The argument fresh is a lower bound of the values in the part, in
// seconds.
func (b *slowBound) most(fresh, part float64) {
	b.restart += float64(part * (1 + b.price) * (b.left - fresh))
	b.another += float64(part * max(0, float64((1+b.price)*b.left)-float64((2+b.price)*fresh)))
}

// saved returns the largest expected saving of a restart or a copy, for every probability that the task is long from the
// lower bounds up to 1.
func (b *slowBound) saved() float64 {
	same := float64(b.moved * (b.age + b.left))
	restart := float64((1 + b.price) * max(0, b.left-same))
	another := max(0, float64((1+b.price)*b.left)-float64((2+b.price)*same))
	return max(
		restart, float64(b.long*restart)+float64((1-b.long)*b.restart),
		another, float64(b.copied*another)+float64((1-b.copied)*b.another),
	)
}

// within reports whether the saving is certainly below the margin that an action must save. It adds the largest
// possible rounding error to the saving.
func (b *slowBound) within(margin float64) bool {
	return b.saved()+float64((1+b.price)*(rounded+float64(roundings*(b.left+b.age)))) < margin
}
