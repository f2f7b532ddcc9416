package survival

import "math"

// Outlook is the distribution of the remaining time of an attempt, in seconds. [Shape.Outlook] computes it from the
// progress of the attempt, its age, and the errors of earlier predictions. The zero value knows nothing: its mean is
// +Inf. Outlook implements estimate.Distribution. An Outlook takes about 600 bytes, and no method allocates.
type Outlook struct {
	// The possible remaining times, ascending.
	left [mostValues]float64
	// The probability that the remaining time is at most left[i]. While an adder adds times, upTo contains the weight
	// of each time instead.
	upTo [mostValues]float64
	// The number of possible times.
	n int
	// The expected remaining time.
	mean float64
	// True if the remaining time counts only a tenth of the predicted total.
	early bool
}

// mostValues is the largest number of times in an outlook. There is a time for each error that the phase and its kind
// have shown, for each assumed error, and for the prediction from age alone.
const mostValues = 2*ringSize + len(assumed) + 1

// Points is the number of quantiles of an outlook that a decision reads: the quantiles 1/32, 3/32, and so on up to
// 31/32. If the outlook is divided into 16 parts of equal probability, these quantiles are in the middle of the
// parts.
const Points = 16

// Prediction contains the facts about an attempt, and its predicted time. The facts are from the attempt's latest
// report, or from a later moment.
type Prediction struct {
	// Age is how long the attempt has run. Total is how long it will run in all, as predicted from its progress. Both
	// are in seconds.
	Age, Total float64
	// TotalAtStage is the total time, in seconds, that was predicted when the attempt passed its latest stage. 0
	// means that it is not known. A prediction that was too short at that stage may have grown since. So an error
	// above 1 multiplies TotalAtStage and not Total; otherwise the same error would be corrected twice.
	TotalAtStage float64
	// Stage is the number of parts of the work that the attempt has done, from 0 to [Parts].
	Stage int
	// Expected says that the times of similar tasks are known from elsewhere. Then the prediction is used even before
	// any task of the phase has ended.
	Expected bool
	// Scale converts units: one unit of the curve is Scale seconds of this task. For example, a task with twice the
	// work of other tasks has Scale 2. 0 means 1.
	Scale float64
	// StallWeight is the weight of the possibility that the attempt has stalled. The progress of a stalled attempt
	// says nothing, so its age alone predicts the remaining time. StallWeight is a multiple of the weight of the
	// assumed errors; 0 means no weight. Schedulers kill stalled attempts, so a shape seldom learns from such
	// attempts.
	StallWeight float64
	// Even says that this attempt progressed evenly, and that most attempts of its phase did. Then errors that differ
	// widely are noise, and the progress can be trusted. The weight of the assumed errors is then at most a
	// twentieth.
	Even bool
}

// total returns the total time of the attempt, in seconds, if the prediction has the given error. An error of 1.25
// means that the attempt takes a quarter longer than predicted.
func (p *Prediction) total(ratio float64) float64 {
	if ratio > 1 && p.TotalAtStage > 0 {
		return max(p.Total, float64(p.TotalAtStage*ratio))
	}
	return float64(p.Total * ratio)
}

// scale returns the field Scale, or its default 1.
func (p *Prediction) scale() float64 {
	if p.Scale > 0 {
		return p.Scale
	}
	return 1
}

// Outlook sets o to the distribution of the remaining time of an attempt, and reports whether there is an answer.
// There is no answer if the attempt is much older than every total time that its prediction allows.
//
// Before three tasks have ended, an attempt that looks slow may only have begun slowly. So two rules apply then,
// unless p.Expected is true. An error is the time that an attempt took, divided by its predicted time.
//
//   - If fewer than three errors were seen, the predicted total is replaced by a tenth of it. The factor is a choice:
//     in public traces one prediction in twenty is too long by a factor of 4, and 10 leaves room beyond that factor.
//   - If three or more errors were seen, there is an answer only if the largest error is at most 1.5 times the
//     smallest.
//
// Each error, seen or assumed, gives a possible total time. The weight of this time is the weight of the error, times
// the probability that the curve gives to times near the total (within the factor [Alike]). To this probability the
// weight of half an ended task is added, for totals that no task has shown yet.
//
// A possible total may be less than the age of the attempt. Then only the times near the total that are greater than
// the age are used. O(log n) for n values in the curve, no allocation.
func (s *Shape) Outlook(o *Outlook, p Prediction, curve *Curve) bool {
	o.n, o.early = 0, false
	a := adder{o: o, p: p, scale: p.scale()}
	own, kind, assumedWeight := s.errorsAt(min(max(p.Stage, 1), Parts))
	least, most, n := spread(own, kind)
	// Without enough ended tasks, all totals are taken to be equally probable.
	weighs := curve != nil && curve.Ends() >= EnoughEnds
	if !weighs && !p.Expected {
		switch {
		case n < EnoughEnds:
			o.early = true
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
	if p.StallWeight > 0 {
		a.byAge(assumedWeight * p.StallWeight)
	}
	return a.finish()
}

// AtMost returns an upper bound, in seconds, of the quantile 31/32 of the [Shape.Outlook] of the same prediction. It
// is much cheaper than the outlook. AtMost returns false in two cases, in which it knows no bound:
//
//   - Fewer than three tasks have ended, p.Expected is false, and three or more errors were seen. An error is the
//     time that an attempt took, divided by its predicted time.
//   - The assumed errors and the prediction from age alone have a 32nd of the total weight or more.
//
// If AtMost returns true, Outlook has an answer. If in addition fewer than three tasks have ended and p.Expected is
// false, the bound is the only value of the outlook.
//
// The bound is the longest total time that a seen error gives, minus the age. To check the weights, AtMost uses the
// least probability that the curve gives to any total between the shortest and the longest. O(log n), no allocation.
func (s *Shape) AtMost(p Prediction, curve *Curve) (seconds float64, known bool) {
	own, kind, assumedWeight := s.errorsAt(min(max(p.Stage, 1), Parts))
	// The same condition as in Outlook.
	weighs := curve != nil && curve.Ends() >= EnoughEnds
	if !weighs && !p.Expected {
		if own.all()+kind.kept() >= EnoughEnds {
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
	// Too few tasks have ended, so all totals are taken to be equally probable.
	if !weighs {
		for _, ratio := range assumed {
			longest = max(longest, p.total(ratio))
		}
		seen = 1
	}
	if math.IsInf(longest, 1) || !(longest*Alike > p.Age) {
		return 0, false
	}
	// The second number is the largest remaining time that can take the place of a total that is less than the age.
	upTo := max(longest-p.Age, float64((Alike-1)/2*surely*p.Age))
	if !weighs {
		return upTo, true
	}
	assumedWeight *= p.assumedPart(least, most, n)
	prior := halfEnd / float64(curve.Ends()+1)
	// Of the assumed errors only the last, 1.25, can give a longer total than the longest total of the seen errors.
	other := float64(assumedWeight*((1+prior)/float64(len(assumed)))) + float64(assumedWeight*max(p.StallWeight, 0))
	prior += curve.within(longest/p.scale()/Alike, float64(shortest/p.scale()*Alike))
	if !(float64(other*lastPoint*surely) < float64(seen*prior)) {
		return 0, false
	}
	return upTo, true
}

const (
	// A factor that is larger than the rounding error of a sum of forty values can be.
	surely = 1 + rounding
	// lastPoint is 31. The weight above the quantile 31/32 of a distribution is at most a 31st of the weight below it.
	lastPoint = 2*Points - 1
)

// These numbers are choices; docs/calibration.md shows how far predictions are off with them.
const (
	// EnoughEnds is the number of ended tasks from which on their times, their errors and their evenness count: a curve
	// is used to weigh predictions, and it is known how much errors differ. Before that, an attempt that looks slow may
	// only have begun slowly.
	EnoughEnds = 3
	// If the largest error is more than tooWide times the smallest, the errors differ too much for an answer.
	tooWide = 1.5
	// Before enough tasks have ended, the predicted total is multiplied by early.
	early = 0.1
	// The weight, in ended tasks, of a total time that no task in the curve has shown.
	halfEnd = 0.5
	// The largest weight of the assumed errors for an attempt that progresses evenly, as a part of their full weight.
	evenAssumed = .05
)

// adder adds possible remaining times and their weights to an outlook.
type adder struct {
	// The outlook to which times are added.
	o *Outlook
	// The prediction for the attempt.
	p Prediction
	// The times of tasks; nil if all totals are taken to be equally probable.
	curve *Curve
	// The probability of a total time that no task in the curve has shown.
	least float64
	// The number of seconds of the task in one unit of the curve.
	scale float64
	// The sum of the weights of all added times.
	sum float64
}

// byAge adds the remaining time that the attempt's age alone predicts. Without a curve there is none. The weight is
// multiplied by the probability that a task is at least as old as the attempt.
func (a *adder) byAge(weight float64) {
	r := Residual{Curve: a.curve, Age: a.p.Age, Scale: a.scale}
	if left := r.Mean(); left >= 0 && !math.IsInf(left, 1) {
		a.put(left, float64(weight*a.curve.Above(a.p.Age/a.scale)))
	}
}

// assumedPart returns which part of their weight the assumed errors keep. Arguments least and most are the smallest
// and the largest of the n seen errors. The part is smaller if more errors were seen, and if they differ less.
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

// spread returns the smallest and the largest of the seen errors, and how many errors were seen. It looks at the
// errors of a phase (own) and of its kind.
func spread(own, kind *ring) (least, most float32, n int) {
	least = math.MaxFloat32
	for _, r := range [...]*ring{own, kind} {
		for i := range r.kept() {
			least, most = min(least, r.ratio[i]), max(most, r.ratio[i])
		}
	}
	return least, most, own.kept() + kind.kept()
}

// errors adds a possible time for each error in the ring. The argument weight is the weight of all these errors
// together.
func (a *adder) errors(r *ring, weight float64) {
	n := r.kept()
	weight /= float64(n)
	for i := range n {
		a.error(float64(r.ratio[i]), weight)
	}
}

// error adds the remaining time that follows from one error: the predicted total times the error, minus the age.
func (a *adder) error(ratio, weight float64) {
	total := a.p.total(ratio)
	if !(total*Alike > a.p.Age) || math.IsInf(total, 1) {
		return
	}
	// The conversion prevents a fused multiply-add into the sum of the weights.
	weight = float64(weight * a.prior(total/a.scale))
	if total <= a.p.Age {
		least, most := total/Alike, float64(total*Alike)
		weight = float64(weight * ((most - a.p.Age) / (most - least)))
		total = (most + a.p.Age) / 2
	}
	a.put(total-a.p.Age, weight)
}

// put inserts a remaining time with its weight, so that the times stay in ascending order.
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

// finish replaces the weights by probabilities, and reports whether any time has a positive weight.
func (a *adder) finish() bool {
	o, p := a.o, 0.0
	if !(a.sum > 0) {
		o.n = 0
		return false
	}
	o.mean = 0
	for i := range o.n {
		weight := o.upTo[i] / a.sum
		// The conversion prevents a fused multiply-add, so that every machine gives the same result.
		o.mean += float64(o.left[i] * weight)
		p += weight
		o.upTo[i] = p
	}
	return true
}

// prior returns the probability that the curve gives to times near a total, in units of the curve. It returns 1 if
// all totals are taken to be equally probable.
func (a *adder) prior(total float64) float64 {
	if a.curve == nil {
		return 1
	}
	return a.curve.within(total/Alike, total*Alike) + a.least
}

// Early reports whether the remaining time counts only a tenth of the predicted total, because too few tasks have ended
// to trust the prediction. See [Shape.Outlook].
func (o *Outlook) Early() bool { return o.early }

// Mean returns the expected remaining time, in seconds. It returns +Inf if nothing is known. O(1).
func (o *Outlook) Mean() float64 {
	if o.n == 0 {
		return math.Inf(1)
	}
	return o.mean
}

// CDF returns the probability that the remaining time is at most x. It returns 0 if nothing is known. O(1).
func (o *Outlook) CDF(x float64) float64 { return o.below(x, false) }

// Below returns the probability that the remaining time is less than x. It returns 0 if nothing is known. O(1).
func (o *Outlook) Below(x float64) float64 { return o.below(x, true) }

// below returns the probability that the remaining time is at most x. If strict is true, it returns the probability of
// less than x.
func (o *Outlook) below(x float64, strict bool) (p float64) {
	for i := 0; i < o.n && (o.left[i] < x || o.left[i] == x && !strict); i++ {
		p = min(o.upTo[i], 1)
	}
	return p
}

// Quantiles returns the [Points] quantiles 1/32, 3/32, and so on up to 31/32, in seconds; +Inf if nothing is known. They
// are those of Quantile, in less time. O(1), no allocation.
func (o *Outlook) Quantiles() (of [Points]float64) {
	i := 0
	for k := range of {
		for i < o.n-1 && o.upTo[i] < float64(2*k+1)/(2*Points) {
			i++
		}
		if of[k] = math.Inf(1); o.n > 0 {
			of[k] = o.left[i]
		}
	}
	return of
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
