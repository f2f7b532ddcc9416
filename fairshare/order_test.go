package fairshare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// contender is a pool and what it has now.
type contender struct {
	Pool
	usage, share int64
}

func (o Order) compare(a, b contender) int { return compareStanding(o.standing(&a), o.standing(&b)) }

func (o Order) standing(c *contender) standing {
	most := min(c.Demand, c.limit())
	if o == LeastUsage {
		return newStanding(c.weight(), min(c.Min, most), 0, most, c.usage)
	}
	return o.byShare(max(c.usage, 0), max(c.share, 0), most)
}

// Every triple of a small world, with zero weights, zero minimums and satisfied pools, as YARN's own test does.
func TestCompareIsAnOrder(t *testing.T) {
	var world []contender
	for _, weight := range []int64{Zero, 0, 2} {
		for _, least := range []int64{0, 2, 5} {
			for _, demand := range []int64{0, 3, Unlimited} {
				for _, usage := range []int64{-1, 0, 1, 2, 4} {
					world = append(world, contender{Pool{Weight: weight, Min: least, Demand: demand}, usage, (7*usage + least) % 5})
				}
			}
		}
	}
	for _, o := range []Order{LeastUsage, LargestDeficit, SmallestPart} {
		for _, a := range world {
			require.Zero(t, o.compare(a, a))
			require.Zero(t, o.compare(contender{a.Pool, -1, 1}, contender{a.Pool, 0, 1}), "less than nothing counts as nothing")
			for _, b := range world {
				ab := o.compare(a, b)
				require.Equal(t, -ab, o.compare(b, a), "%+v %+v", a, b)
				for _, c := range world {
					checkTransitive(t, o, a, b, c)
				}
			}
		}
	}
}

// checkTransitive checks a strict weak order: both "before" and "equal" are transitive.
func checkTransitive(t *testing.T, o Order, a, b, c contender) {
	ab, bc, ac := o.compare(a, b), o.compare(b, c), o.compare(a, c)
	if ab <= 0 && bc <= 0 && ac != min(ab, bc) {
		t.Fatalf("%v: %+v, %+v, %+v: %d, %d, but %d", o, a, b, c, ab, bc, ac)
	}
}
