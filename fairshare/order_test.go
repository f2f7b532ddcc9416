package fairshare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// contender is a pool with its usage and its share.
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

// The test compares every three of 135 pools, as YARN's own test does. Some have weight zero, minimum zero or their
// whole demand.
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
	n := len(world)
	order := make([]int, n*n)
	for _, o := range []Order{LeastUsage, LargestDeficit, SmallestPart} {
		for i, a := range world {
			for k, b := range world {
				order[i*n+k] = o.compare(a, b)
			}
		}
		for i, a := range world {
			require.Zero(t, o.compare(a, a))
			require.Zero(t, o.compare(contender{a.Pool, -1, 1}, contender{a.Pool, 0, 1}), "a negative usage must count as zero")
			for k, b := range world {
				ab := order[i*n+k]
				require.Equal(t, -ab, order[k*n+i], "%+v %+v", a, b)
				for l, c := range world {
					if bc := order[k*n+l]; ab <= 0 && bc <= 0 && order[i*n+l] != min(ab, bc) {
						checkTransitive(t, o, a, b, c)
					}
				}
			}
		}
	}
}

// checkTransitive checks that "before" and "equal" are both transitive, so that the order is a strict weak order.
func checkTransitive(t *testing.T, o Order, a, b, c contender) {
	ab, bc, ac := o.compare(a, b), o.compare(b, c), o.compare(a, c)
	if ab <= 0 && bc <= 0 && ac != min(ab, bc) {
		t.Fatalf("%v must be transitive for %+v, %+v and %+v: it compares %d, %d and %d", o, a, b, c, ab, bc, ac)
	}
}
