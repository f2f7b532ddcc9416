package fairshare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every triple of a small world, with zero weights, zero minimums and satisfied pools, as YARN's own test does.
func TestCompareIsAnOrder(t *testing.T) {
	var world []Contender
	for _, weight := range []int64{Zero, 0, 2} {
		for _, least := range []int64{0, 2, 5} {
			for _, demand := range []int64{0, 3, Unlimited} {
				for _, usage := range []int64{-1, 0, 1, 2, 4} {
					world = append(world, Contender{Pool{Weight: weight, Min: least, Demand: demand}, usage, (7*usage + least) % 5})
				}
			}
		}
	}
	for _, o := range []Order{LeastUsage, LargestDeficit, SmallestPart} {
		for _, a := range world {
			require.Zero(t, o.Compare(a, a))
			require.Zero(t, o.Compare(Contender{a.Pool, -1, 1}, Contender{a.Pool, 0, 1}), "less than nothing counts as nothing")
			for _, b := range world {
				ab := o.Compare(a, b)
				require.Equal(t, -ab, o.Compare(b, a), "%+v %+v", a, b)
				for _, c := range world {
					checkTransitive(t, o, a, b, c)
				}
			}
		}
	}
}

// checkTransitive checks a strict weak order: both "before" and "equal" are transitive.
func checkTransitive(t *testing.T, o Order, a, b, c Contender) {
	ab, bc, ac := o.Compare(a, b), o.Compare(b, c), o.Compare(a, c)
	if ab <= 0 && bc <= 0 && ac != min(ab, bc) {
		t.Fatalf("%v: %+v, %+v, %+v: %d, %d, but %d", o, a, b, c, ab, bc, ac)
	}
}
