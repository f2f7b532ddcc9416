package survival

import "math"

// Outlook is the distribution of the remaining time of an attempt, in seconds. It is derived from the progress of the
// attempt, its age, and the errors of earlier predictions. [Shape.Outlook] fills it. The zero value knows nothing:
// its mean is +Inf. Outlook implements estimate.Distribution. It takes about 600 bytes, and no method allocates.
type Outlook struct {
	left [mostValues]float64 // possible remaining times, ascending
	upTo [mostValues]float64 // P(X <= left); the weight of each time while an adder adds times
	n    int                 // number of times
	mean float64
}

// mostValues is the number of times that an outlook has room for: of the errors of a phase and of its kind, of the
// assumed errors, and by age alone.
const mostValues = 2*ringSize + len(assumed) + 1

// Points is the number of quantiles of an outlook that a decision reads: the quantiles 1/32, 3/32, up to 31/32. If
// the outlook is divided into 16 parts of equal probability, these quantiles are the middles of the parts.
const Points = 16

// x a total, and a total divided by it: all times between the two count as times near that total. It is a choice.
const near = 1.25

// Prediction holds the facts about an attempt, and its predicted time, as of its latest report or a later moment.
type Prediction struct {
	// Age is how long the attempt has run, and Total is its predicted time in all, both in seconds.
	Age, Total float64
	// TotalAtStage is the Total that was predicted when the attempt passed its latest stage, in seconds; 0 if it is
	// not known. If the prediction was too short at that stage and has grown since, errors above 1 apply to
	// TotalAtStage: the prediction is not corrected twice.
	TotalAtStage float64
	// Stage is the number of parts that the attempt has passed, from 0 to [Parts].
	Stage int
	// Expected says that the times of similar tasks are known from elsewhere, so that the prediction counts before
	// any task of the phase has ended.
	Expected bool
	// Scale converts units: one unit of the curve is Scale seconds of this task. 0 means 1.
	Scale float64
	// StallWeight is the weight of the possibility that the attempt has stalled, so that its progress says nothing,
	// and its age alone predicts the remaining time. It is in multiples of the weight of the assumed errors; 0 means
	// no weight. Hosts kill stalled attempts, so a shape seldom learns from them.
	StallWeight float64
	// Even says that this attempt moved evenly, and that most attempts of its phase did. Then errors that differ
	// widely are noise, and progress can be trusted: the weight of the assumed errors is at most a twentieth.
	Even bool
}

// total returns the total time if the prediction has the given error.
func (p *Prediction) total(ratio float64) float64 {
	if ratio > 1 && p.TotalAtStage > 0 {
		return max(p.Total, float64(p.TotalAtStage*ratio))
	}
	return float64(p.Total * ratio)
}

// scale returns Scale, or its default.
func (p *Prediction) scale() float64 {
	if p.Scale > 0 {
		return p.Scale
	}
	return 1
}

// Outlook sets o to the distribution of the remaining time of an attempt, and reports whether there is an answer.
// There is no answer if the attempt is far older than every total that is possible by its prediction.
//
// Before three tasks have ended, an attempt that looks slow may only have begun slowly. Two rules hold then, unless
// p.Expected is true:
//
//   - With fewer than three errors seen, the predicted total counts as a tenth of itself. The factor is a choice: in
//     public traces one prediction in twenty is too long by a factor of 4, and 10 leaves room beyond that factor.
//   - With three errors or more, there is an answer only if all errors lie within a factor of 1.5.
//
// Each error, seen or assumed, gives a total time. Its weight is the weight of the error, times the probability that
// the curve gives to times near that total: within a factor of 1.25. To this probability the weight of half an end is
// added, for totals that no task has shown yet.
//
// A total may be less than the age of the attempt. Then only the times near it that are beyond the age count. O(log
// n) for n values in the curve, no allocation.
func (s *Shape) Outlook(o *Outlook, p Prediction, curve *Curve) bool {
	o.n = 0
	a := adder{o: o, p: p, scale: p.scale()}
	own, kind, assumedWeight := s.errorsAt(min(max(p.Stage, 1), Parts))
	least, most, n := spread(own, kind)
	weighs := curve != nil && curve.Ends() >= EnoughEnds // otherwise all totals are equally probable
	if !weighs && !p.Expected {
		switch {
		case n < fewErrors:
			a.put(max(0, float64(p.Total*early)-p.Age), 1)
			return a.finish()
		case most > least*tooWide:
			return false
		}
	}
	if weighs {
		a.curve, a.least = curve, halfEnd/float64(curve.Ends()+1)
	}
	a.errors(own, float64(own.all()))
	a.errors(kind, float64(min(kind.kept(), kindAttempts)))
	assumedWeight *= p.assumedPart(least, most, n)
	for _, ratio := range assumed {
		a.error(ratio, assumedWeight/float64(len(assumed)))
	}
	if p.StallWeight > 0 && a.curve != nil {
		a.byAge(assumedWeight * p.StallWeight)
	}
	return a.finish()
}

// AtMost returns a bound, in seconds: the quantile 31/32 of the [Shape.Outlook] of the prediction is no larger. It is
// much cheaper than the outlook. AtMost returns false if it finds no bound:
//
//   - Before three tasks have ended, if p.Expected is false and three errors or more were seen.
//   - While the assumed errors and the age alone have a 32nd of the weight or more.
//
// If AtMost returns true, Outlook has an answer. If also fewer than three tasks have ended and p.Expected is false,
// the bound is the only value of the outlook.
//
// The bound is the longest total that a seen error gives, less the age. To check the weights, AtMost takes the least
// probability that the curve gives to any total between the shortest and the longest. O(log n), no allocation.
func (s *Shape) AtMost(p Prediction, curve *Curve) (seconds float64, known bool) {
	own, kind, assumedWeight := s.errorsAt(min(max(p.Stage, 1), Parts))
	weighs := curve != nil && curve.Ends() >= EnoughEnds // the same condition as in Outlook
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
	}{{own, own.all()}, {kind, min(kind.kept(), kindAttempts)}} {
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
	if !weighs { // all totals are equally probable
		for _, ratio := range assumed {
			longest = max(longest, p.total(ratio))
		}
		seen = 1
	}
	if seen == 0 || math.IsInf(longest, 1) || !(longest*near > p.Age) {
		return 0, false
	}
	// The second number is the largest value that can take the place of a total below the age.
	upTo := max(longest-p.Age, float64((near-1)/2*surely*p.Age))
	if !weighs {
		return upTo, true
	}
	assumedWeight *= p.assumedPart(least, most, n)
	prior := halfEnd / float64(curve.Ends()+1)
	// Of the assumed errors only the last, 1.25, can give a longer total than the longest.
	other := float64(assumedWeight*((1+prior)/float64(len(assumed)))) + float64(assumedWeight*max(p.StallWeight, 0))
	if from, to := longest/p.scale()/near, float64(shortest/p.scale()*near); from < to {
		prior += curve.within(from, to)
	}
	if !(float64(other*lastPoint*surely) < float64(seen*prior)) {
		return 0, false
	}
	return upTo, true
}

const (
	surely    = 1 + rounding // more than the rounding error of a sum of forty values
	lastPoint = 2*Points - 1 // the weight beyond the quantile 31/32 is less than 1/31 of the other weight
)

// These numbers are choices; docs/calibration.md shows how far predictions are off with them.
const (
	// EnoughEnds is the number of ends from which on a curve counts. Before that, every attempt that looks slow may
	// only have begun slowly.
	EnoughEnds  = 3
	fewErrors   = 3   // errors; fewer do not show how much errors differ
	tooWide     = 1.5 // x the shortest error; if the longest error exceeds this, the errors differ too much
	early       = 0.1 // x the predicted total, before enough tasks have ended
	halfEnd     = 0.5 // weight of a total that the curve knows nothing of, in ends
	evenAssumed = .05 // most weight of the assumed errors for an attempt that moves evenly
)

// adder adds times with their weights to an outlook.
type adder struct {
	o     *Outlook
	p     Prediction
	curve *Curve  // nil if all totals are equally probable
	least float64 // probability of a total that the curve knows nothing of
	scale float64 // seconds of the task in one unit of the curve
	sum   float64 // sum of the weights
}

// byAge adds the remaining time by age alone, weighed by the probability that a task is at least so old.
func (a *adder) byAge(weight float64) {
	r := Residual{Curve: a.curve, Age: a.p.Age, Scale: a.scale}
	if left := r.Mean(); left >= 0 && !math.IsInf(left, 1) {
		a.put(left, float64(weight*a.curve.Above(a.p.Age/a.scale)))
	}
}

// assumedPart returns the part of their weight that the assumed errors keep, given the least and the largest of n
// seen errors. The more errors were seen, and the less they differ, the smaller is the part.
func (p *Prediction) assumedPart(least, most float32, n int) float64 {
	part := 1.0
	if n > 0 {
		part = min(1, 1-float64(least/most)+1/float64(1+n))
	}
	if p.Even {
		part = min(part, evenAssumed)
	}
	return part
}

// spread returns the least and the largest of the seen errors, and their number.
func spread(own, kind *ring) (least, most float32, n int) {
	least = math.MaxFloat32
	for _, r := range [...]*ring{own, kind} {
		for i := range r.kept() {
			least, most = min(least, r.ratio[i]), max(most, r.ratio[i])
		}
	}
	return least, most, own.kept() + kind.kept()
}

// errors adds the errors that a phase or its kind has shown; weight is their weight together.
func (a *adder) errors(r *ring, weight float64) {
	n := r.kept()
	weight /= float64(n)
	for i := range n {
		a.error(float64(r.ratio[i]), weight)
	}
}

// error adds the total that an error gives.
func (a *adder) error(ratio, weight float64) {
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

// put adds a remaining time in its place.
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

// finish turns the weights into probabilities, and reports whether there is any weight.
func (a *adder) finish() bool {
	o, p := a.o, 0.0
	if !(a.sum > 0) {
		o.n = 0
		return false
	}
	o.mean = 0
	for i := range o.n {
		weight := o.upTo[i] / a.sum
		o.mean += float64(o.left[i] * weight) // no fused multiply-add: every machine gives the same answer
		p += weight
		o.upTo[i] = p
	}
	return true
}

// prior returns the probability that the curve gives to times near a total; 1 if no curve counts.
func (a *adder) prior(total float64) float64 {
	if a.curve == nil {
		return 1
	}
	return a.curve.within(total/near, total*near) + a.least
}

// Mean returns the expected remaining time; +Inf if nothing is known. O(1).
func (o *Outlook) Mean() float64 {
	if o.n == 0 {
		return math.Inf(1)
	}
	return o.mean
}

// CDF returns P(X <= x); 0 if nothing is known. O(1).
func (o *Outlook) CDF(x float64) float64 {
	i := 0
	for i < o.n && o.left[i] <= x {
		i++
	}
	return o.first(i)
}

// Below returns P(X < x); 0 if nothing is known. O(1).
func (o *Outlook) Below(x float64) float64 {
	i := 0
	for i < o.n && o.left[i] < x {
		i++
	}
	return o.first(i)
}

// first returns the probability of the first i times.
func (o *Outlook) first(i int) float64 {
	if i == 0 {
		return 0
	}
	return min(o.upTo[i-1], 1)
}

// Quantile returns the smallest x with CDF(x) >= p; +Inf if nothing is known. O(1).
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
