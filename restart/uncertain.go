package restart

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Mantri's rules where t_rem is a distribution. A distribution is looked at in points that each stand for a sixteenth
// of it, or an eighth: the same for those of this library and of any other.
const (
	leftPoints  = 16
	freshPoints = 8
)

// middle is where in its part of a distribution a point lies.
const middle = 0.5

// point returns the middle of the i-th of n equal parts of a distribution.
func point(d interface{ Quantile(p float64) float64 }, i, n int) float64 {
	return max(0, d.Quantile((float64(i)+middle)/float64(n)))
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

// spares reports whether one more copy is expected to save slot time. The copy that ends last runs on.
func (v *view) spares(t *Task) bool {
	fresh, c, less := points(&t.Fresh), float64(len(t.Copies)), 0.0
	for i := range leftPoints {
		left := point(v.left, i, leftPoints)
		for _, f := range fresh {
			if less -= min(f, left); f < left {
				less += float64(c * (left - f))
			}
		}
	}
	return less > 0
}
