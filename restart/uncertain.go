package restart

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Mantri's rules where t_rem is a distribution. A distribution is looked at in points that each stand for a sixteenth
// of it, or an eighth: the same for those of this library and of any other.
const (
	leftPoints  = 16
	freshPoints = 8
)

// point returns the middle of the i-th of n equal parts of a distribution.
func point(d interface{ Quantile(p float64) float64 }, i, n int) float64 {
	return max(0, d.Quantile((float64(i)+0.5)/float64(n)))
}

// points are those in which t_new is looked at.
func points(fresh *estimate.Fresh) (of [freshPoints]float64) {
	for j := range of {
		of[j] = point(fresh, j, freshPoints)
	}
	return of
}

// sure reports whether t_rem is probable enough to exceed the bar, and probably t_new. A few long ones among those
// like it can stretch E(t_new) to what is left of each of them; where they hang and hold every slot, none would ever
// be restarted. So it is enough, too, if t_rem all but surely exceeds what a new copy usually takes, and probably
// what it may take, each by as much as the bar asks. The decision's bar is then that.
func (m *Mantri) sure(d *Decision, t *Task, v view) bool {
	if v.left == nil {
		return true
	}
	d.Value, d.Threshold = 1-v.left.CDF(d.Bar.Seconds()), m.Confidence
	if d.Value >= d.Threshold {
		return exceeds(&t.Fresh, v.left, 1, 0, evenChance) > evenChance
	}
	margin := (d.Bar - d.Fresh).Seconds()
	usual, allBut := t.Fresh.Quantile(evenChance)+margin, float64((1+m.Confidence)/2) // not fused with 1-allBut
	if v.left.CDF(usual) > 1-allBut || !(exceeds(&t.Fresh, v.left, 1, margin, evenChance) > evenChance) {
		return false
	}
	d.Bar, _ = num.Duration(usual)
	d.Value, d.Threshold = 1-v.left.CDF(usual), allBut
	return true
}

// savesTime reports whether a copy on an idle slot is expected to save more than the bar asks for, and has a chance.
func (m *Mantri) savesTime(d *Decision, t *Task, v view) bool {
	if v.left == nil {
		return d.Remaining > d.Bar
	}
	chance := max(m.DuplicateThreshold, 0) // it may be Off
	d.Value, d.Threshold = 1-v.left.CDF(d.Bar.Seconds()), chance
	if !(d.Value > chance) {
		return false
	}
	least := (d.Bar - d.Fresh).Seconds()
	if !(point(v.left, leftPoints-1, leftPoints)-point(&t.Fresh, 0, freshPoints) > least) { // nor does any other pair
		return false
	}
	saved, fresh := 0.0, points(&t.Fresh)
	for i := range leftPoints {
		left := point(v.left, i, leftPoints)
		for _, f := range fresh {
			saved += max(0, left-f)
		}
	}
	return saved/(leftPoints*freshPoints) > least
}

// exceeds returns P(t_rem share - margin > t_new), if that is above the bar; otherwise no less than that, and at most
// the bar.
func exceeds(fresh *estimate.Fresh, left estimate.Distribution, share, margin, bar float64) float64 {
	longest := point(left, leftPoints-1, leftPoints)
	most := fresh.Below(float64(longest*share) - margin)
	if most <= bar || point(left, 0, leftPoints) == longest { // all points are one
		return most
	}
	for i := range leftPoints - 1 {
		most += fresh.Below(float64(point(left, i, leftPoints)*share) - margin)
	}
	return most / leftPoints
}

// weigh returns by how many seconds one more copy is expected to end the task sooner, and how many it saves of the slots'
// time; 0 of both if it never ends sooner. One that ends last is ended once it has shown that it will.
//
// It looks from the longest t_rem down, and no further than to where it is plain that the one is at most the margin, or
// the two together nothing, or while slots are scarce the other at most the margin. Then both are of the part seen.
func (v *view) weigh(t *Task, idle bool) (sooner, less float64) {
	const n = leftPoints * freshPoints
	bar, least, counts := v.margin*n, 0.0, 0.0
	if idle {
		bar, least, counts = 0, v.margin*n, 1
	}
	left, c := point(v.left, leftPoints-1, leftPoints), float64(len(t.Copies))
	of, sum, below := until(t.Fresh, left)
	worth := 0.0
	for i := leftPoints - 1; ; {
		for below > 0 && !(of[below-1] < left) {
			below--
		}
		saved := float64(float64(below)*left) - sum[below]
		spared := float64(c*saved) - sum[below] - float64(float64(freshPoints-below)*min(left, v.shows))
		sooner, less = sooner+saved, less+spared
		spared += float64(counts * saved)
		worth += spared
		// Of the i that are shorter none saves more than this one. Nor is one worth anything if this one is not: that is
		// convex in t_rem, and 0 at 0, where what ends last runs on or no t_new is below.
		if i == 0 || sooner+float64(float64(i)*saved) <= least ||
			spared <= 0 && worth <= bar && (below == 0 || math.IsInf(v.shows, 1)) {
			return sooner / n, less / n
		}
		i--
		left = point(v.left, i, leftPoints)
	}
}

// until returns the points of t_new that are below a time, what so many of the first come to, and how many they are.
func until(fresh estimate.Fresh, left float64) (of [freshPoints]float64, sum [freshPoints + 1]float64, below int) {
	lag := max(fresh.Lag, 0).Seconds()
	fresh.Lag = 0 // once is enough
	for ; below < freshPoints; below++ {
		if of[below] = point(&fresh, below, freshPoints) + lag; !(of[below] < left) {
			break
		}
		sum[below+1] = sum[below] + of[below]
	}
	return of, sum, below
}

// lastWave is the rule for idle slots once all tasks have begun: to save more time than slot time.
func (m *Mantri) lastWave(d *Decision, t *Task, v view) {
	d.Reason = Disabled
	if m.IdleGain == Off {
		return
	}
	sooner, less := v.weigh(t, true)
	if d.Reason = NotSlow; !num.Finite(sooner) || !num.Finite(less) {
		return
	}
	d.Value, d.Threshold = sooner, max(-less, v.margin)
	if !(d.Value > d.Threshold) {
		return
	}
	if d.Reason = m.mayDuplicate(t, v); d.Reason == NoReason {
		d.Action, d.Reason = Duplicate, IdleSlot
	}
}
