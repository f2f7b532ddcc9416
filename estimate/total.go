package estimate

// total is a running sum in twice the precision of a float64: high holds it to the nearest float64, low what is left
// [Knuth, The Art of Computer Programming 2, §4.2.2, theorem B]. It serves sums from which terms are taken out again,
// where a plain sum keeps the rounding errors of all that ever passed through it.
type total struct{ high, low float64 }

func (t *total) add(x float64) {
	sum := t.high + x
	part := sum - t.high
	lost := (t.high - (sum - part)) + (x - part) // exactly what rounding took from sum
	lost += t.low
	t.high = sum + lost
	t.low = lost - (t.high - sum)
}

func (t *total) value() float64 { return t.high }
