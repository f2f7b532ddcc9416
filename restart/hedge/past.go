package hedge

const (
	// The times that have left the window are halved when they are so many windows.
	pastWindows = 8
	// The times of the window are unlike the past if the two distributions differ by so many standard deviations. Two
	// distributions are compared at all their times, so a few standard deviations are no surprise.
	unlike = 5
	// The share of the shortest and of the longest times that method alike does not compare: they are too few.
	leastShare = 0.01
)

// past is the number of times that have left the window, of which older times count less. They make the quantiles more
// exact while the times of the window are like them. Otherwise the service has changed, and the past is forgotten.
type past struct {
	of [attempts]counts
	// The sum of the past and the window; memory of the method join.
	joint [attempts]counts
}

// add adds a time that leaves the window.
func (p *past) add(e *entry, window int) {
	p.of[e.attempt].count(e, 1)
	if p.of[First].n+p.of[Second].n < pastWindows*float64(window) {
		return
	}
	for i := range p.of {
		c := &p.of[i]
		for b := range c.all {
			c.all[b] /= 2
			c.answered[b] /= 2
		}
		c.n /= 2
	}
}

// forget forgets all times. The past may be nil.
func (p *past) forget() {
	if p != nil && p.of[First].n+p.of[Second].n > 0 {
		p.of = [attempts]counts{}
	}
}

// join sets field joint to the sum of the past and the window, for the buckets from low to high.
func (p *past) join(low, high int, window *[attempts]counts) {
	for i := range p.joint {
		sum, old, now := &p.joint[i], &p.of[i], &window[i]
		sum.n = old.n + now.n
		for b := low; b <= high; b++ {
			sum.all[b], sum.answered[b] = old.all[b]+now.all[b], old.answered[b]+now.answered[b]
		}
	}
}

// alike reports whether two learned distributions may be the same: everywhere their difference is within the standard
// deviations of both [Greenwood's formula]. O(n).
func alike(s, t *steps) bool {
	j := 0
	for i, at := range s.at {
		for j < len(t.at) && t.at[j] <= at {
			j++
		}
		if s.above[i] < leastShare || s.above[i] > 1-leastShare || j == 0 {
			continue
		}
		gap := s.above[i] - t.above[j-1]
		variance := float64(s.above[i]*s.above[i]*s.doubt[i]) + float64(t.above[j-1]*t.above[j-1]*t.doubt[j-1])
		if float64(gap*gap) > unlike*unlike*variance {
			return false
		}
	}
	return true
}
