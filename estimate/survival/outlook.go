package survival

import "math"

// Outlook is the distribution of the time that a copy still needs, in seconds, by its progress, its age, and how far
// predictions like it were off. [Shape.Outlook] fills it. The zero value is unknown. It implements
// estimate.Distribution.
type Outlook struct {
	left [mostAtoms]float64 // ascending
	upTo [mostAtoms]float64 // P(X <= left); while values are added, the weight of each
	n    int
	mean float64
}

const mostAtoms = 2*remembered + len(unseen) + 1

// Points is in how many points a decision looks at an outlook: the middles of as many equal parts of it.
const Points = 16

// near is how far off, as a factor, a total still is as likely as the curve makes it: a choice.
const near = 1.25

// Prediction is what is known of a copy at its last report, or since.
type Prediction struct {
	// Age is how long it has run, and Total how long it will have run in all by its progress, in seconds.
	Age, Total float64
	// AtStage is what Total was when it passed the last of its parts; 0 if it is not known. What was too short then,
	// and has grown since, is not too short by as much again.
	AtStage float64
	// Stage is how many parts it has passed.
	Stage int
	// Expected says that the times of tasks like it are known from elsewhere, so that no ends need be waited for.
	Expected bool
	// Scale is how many seconds of the task are one of the curve; 0 stands for 1.
	Scale float64
	// MaySayNothing is how much it counts that progress may say nothing of this copy, as of one that stalls: then its age
	// alone does, with so many times the weight of an error that nobody has seen yet. 0: not at all. Copies that stall
	// are killed, and so seldom teach it.
	MaySayNothing float64
	// Even says that this copy has moved evenly, and that most copies like it did. Then errors that lie far apart are noise,
	// and progress says something: errors that nobody has seen yet have at most a twentieth of their weight.
	Even bool
}

// total is what an error makes of the prediction.
func (p *Prediction) total(ratio float64) float64 {
	if ratio > 1 && p.AtStage > 0 {
		return max(p.Total, float64(p.AtStage*ratio))
	}
	return float64(p.Total * ratio)
}

// Outlook sets o to what is left of a copy by a prediction, and reports whether there is an answer. There is none where
// all that was predicted is long over.
//
// While fewer than three tasks have ended, and no times like it are expected, all that looks slow may only have begun slowly.
// If fewer than three errors were seen, a tenth of the prediction stands for it: that is a choice, with room beyond the factor
// of 4 by which one in twenty is too long in public traces. If the errors do not lie within a factor of 1.5, there is no
// answer.
//
// Each error seen makes of the prediction a total. That counts by how likely the curve makes a total near it, within a
// factor of 1.25, beside one that nobody has seen yet, which gets the weight of half an end. A total that is over
// stands for what is left of those near it. O(log n), no allocation.
func (s *Shape) Outlook(o *Outlook, p Prediction, curve *Curve) bool {
	o.n = 0
	scale := p.Scale
	if !(scale > 0) {
		scale = 1
	}
	a := adder{o: o, p: p, scale: scale}
	own, kind, guess := s.errorsAt(min(max(p.Stage, 1), Parts))
	least, most, n := spread(own, kind)
	if !p.Expected && curve.Ends() < EnoughEnds {
		switch {
		case n < fewErrors:
			a.put(max(0, float64(p.Total*early)-p.Age), 1)
			return a.close()
		case most > least*tooWide:
			return false
		}
	}
	if curve != nil && curve.Ends() >= EnoughEnds { // otherwise all totals are as likely
		a.curve, a.least = curve, halfEnd/float64(curve.Ends()+1)
	}
	a.ring(own, float64(own.all()))
	a.ring(kind, float64(min(kind.kept(), asMany)))
	less := unlike(least, most, n)
	if p.Even {
		less = min(less, evenGuess)
	}
	guess *= less
	for _, ratio := range unseen {
		a.atom(ratio, guess/float64(len(unseen)))
	}
	if p.MaySayNothing > 0 && a.curve != nil {
		a.byAge(guess * p.MaySayNothing)
	}
	return a.close()
}

// AtMost returns seconds that are no less than the quantile 31/32 of the [Shape.Outlook] of a prediction, without making
// that. It reports false where it can't tell at once: before three tasks have ended if errors were seen, and until so many
// have ended that errors which nobody has seen, and the age alone, have less than a 32nd of the weight. If it reports true,
// there is an Outlook; if fewer than three have ended and nothing is expected, all of it is that one value. AtMost takes the
// longest total that an error seen makes of the prediction, and gives every such total the least weight that the curve gives
// any time between the shortest and the longest. O(log n), no allocation.
func (s *Shape) AtMost(p Prediction, curve *Curve) (seconds float64, known bool) {
	scale := p.Scale
	if !(scale > 0) {
		scale = 1
	}
	own, kind, guess := s.errorsAt(min(max(p.Stage, 1), Parts))
	weighs := curve != nil && curve.Ends() >= EnoughEnds // as Outlook has it
	if !weighs && !p.Expected {
		if own.all()+kind.kept() >= fewErrors {
			return 0, false
		}
		return max(0, float64(p.Total*early)-p.Age), true
	}
	least, most, n := float32(math.MaxFloat32), float32(0), own.kept()+kind.kept()
	shortest, longest, seen := math.Inf(1), p.Total, 0.0
	for _, of := range [...]struct {
		ring   *ring
		weight int
	}{{own, own.all()}, {kind, min(kind.kept(), asMany)}} {
		kept := of.ring.kept()
		if kept == 0 {
			continue
		}
		each := float64(of.weight) / float64(kept)
		for _, ratio := range of.ring.ratio[:kept] {
			least, most = min(least, ratio), max(most, ratio)
			total := p.total(float64(ratio))
			longest = max(longest, total)
			if total > p.Age {
				shortest = min(shortest, total)
				seen += each
			}
		}
	}
	if !weighs { // no total counts for more than another
		for _, ratio := range unseen {
			longest = max(longest, p.total(ratio))
		}
		seen = 1
	}
	if seen == 0 || math.IsInf(longest, 1) || !(longest*near > p.Age) {
		return 0, false
	}
	upTo := max(longest-p.Age, float64((near-1)/2*surely*p.Age)) // a total that is over stands for a little more
	if !weighs {
		return upTo, true
	}
	less := unlike(least, most, n)
	if p.Even {
		less = min(less, evenGuess)
	}
	guess *= less
	prior := halfEnd / float64(curve.Ends()+1)
	other := float64(guess*((1+prior)/float64(len(unseen)))) + float64(guess*max(p.MaySayNothing, 0)) // of the unseen, one is longer
	if from, to := longest/scale/near, float64(shortest/scale*near); from < to {
		prior += curve.within(from, to)
	}
	if !(float64(other*lastPoint*surely) < float64(seen*prior)) {
		return 0, false
	}
	return upTo, true
}

const (
	surely    = 1 + rounding // more than what rounding makes of a sum of some forty values
	lastPoint = 2*Points - 1 // what is beyond the quantile 31/32 has so much less weight than the rest
)

// These are choices; docs/calibration.md has how far predictions are off with them.
const (
	EnoughEnds = 3   // ends that make a curve: before them all that looks slow may only have begun slowly
	fewErrors  = 3   // that say nothing of how far apart the next will be
	tooWide    = 1.5 // the ratio of the longest and the shortest error
	early      = 0.1 // of what is predicted counts before anything is known
	halfEnd    = 0.5 // the weight of a total that the curve knows nothing of, in ends
	evenGuess  = .05 // the most weight of errors that nobody has seen, for a copy that moves evenly
)

// adder adds the values of an outlook.
type adder struct {
	o     *Outlook
	p     Prediction
	curve *Curve  // nil: all totals are as likely
	least float64 // how likely a total is that the curve knows nothing of
	scale float64
	sum   float64
}

// byAge adds what is left by age alone, by how likely the curve makes an age like that.
func (a *adder) byAge(weight float64) {
	r := Residual{Curve: a.curve, Age: a.p.Age, Scale: a.scale}
	if left := r.Mean(); left >= 0 && !math.IsInf(left, 1) {
		a.put(left, float64(weight*a.curve.Above(a.p.Age/a.scale)))
	}
}

// unlike returns the weight left for errors not yet seen, given the least and the most of n that were: the closer together
// these lie, and the more there are, the smaller.
func unlike(least, most float32, n int) float64 {
	if n == 0 {
		return 1
	}
	return min(1, 1-float64(least/most)+1/float64(1+n))
}

// spread returns the least and the most of the errors that were seen, and how many there are.
func spread(own, kind *ring) (least, most float32, n int) {
	least = math.MaxFloat32
	for _, r := range [...]*ring{own, kind} {
		for i := range r.kept() {
			least, most = min(least, r.ratio[i]), max(most, r.ratio[i])
		}
	}
	return least, most, own.kept() + kind.kept()
}

// ring adds the errors that were seen, in a phase or in its kind.
func (a *adder) ring(r *ring, weight float64) {
	n := r.kept()
	weight /= float64(n)
	for i := range n {
		a.atom(float64(r.ratio[i]), weight)
	}
}

// atom adds a total, in its place.
func (a *adder) atom(ratio, weight float64) {
	total := a.p.total(ratio)
	if !(total*near > a.p.Age) || math.IsInf(total, 1) {
		return
	}
	weight = float64(weight * a.prior(total/a.scale)) // no fused multiply-add into the sum
	if total <= a.p.Age {
		least, most := total/near, float64(total*near)
		weight = float64(weight * ((most - a.p.Age) / (most - least)))
		total = (most + a.p.Age) / 2
	}
	a.put(total-a.p.Age, weight)
}

// put adds a value, in its place.
func (a *adder) put(left, weight float64) {
	o := a.o
	i := o.n
	for ; i > 0 && o.left[i-1] > left; i-- {
		o.left[i], o.upTo[i] = o.left[i-1], o.upTo[i-1]
	}
	o.left[i], o.upTo[i] = left, weight
	o.n++
	a.sum += weight
}

// close makes probabilities of the weights, and reports whether there is any.
func (a *adder) close() bool {
	o, p := a.o, 0.0
	if !(a.sum > 0) {
		o.n = 0
		return false
	}
	o.mean = 0
	for i := range o.n {
		weight := o.upTo[i] / a.sum
		o.mean += float64(o.left[i] * weight) // no fused multiply-add: one answer everywhere
		p += weight
		o.upTo[i] = p
	}
	return true
}

// prior is how likely the curve makes a total; 1 of all without one.
func (a *adder) prior(total float64) float64 {
	if a.curve == nil {
		return 1
	}
	return a.curve.within(total/near, total*near) + a.least
}

// Mean returns the expected value. O(1).
func (o *Outlook) Mean() float64 {
	if o.n == 0 {
		return math.Inf(1)
	}
	return o.mean
}

// CDF returns P(X <= x). O(1).
func (o *Outlook) CDF(x float64) float64 {
	i := 0
	for i < o.n && o.left[i] <= x {
		i++
	}
	return o.first(i)
}

// Below returns P(X < x). O(1).
func (o *Outlook) Below(x float64) float64 {
	i := 0
	for i < o.n && o.left[i] < x {
		i++
	}
	return o.first(i)
}

// first returns the probability of the first i values.
func (o *Outlook) first(i int) float64 {
	if i == 0 {
		return 0
	}
	return min(o.upTo[i-1], 1)
}

// Quantile returns the smallest x with CDF(x) >= p. O(1).
func (o *Outlook) Quantile(p float64) float64 {
	if o.n == 0 {
		return math.Inf(1)
	}
	i := 0
	for i < o.n-1 && o.upTo[i] < p {
		i++
	}
	return o.left[i]
}
