package skew

import (
	"math"
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

// The line of a plan is a summary, and its JSON is the whole plan.
func TestPlansAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Plan{}, `partitions=0 reducers=0 ends=0s balance=1 unfit=0`, `{}`)
	wiretest.Same(t, Plan{
		Reducer: []int{1, 0, -1}, Load: []int64{3, math.MaxInt64}, End: []float64{.1, 1e300}, Unfit: []int{2}, Seconds: 1e300,
	},
		`partitions=3 reducers=2 ends=inf balance=0.5 unfit=1`,
		`{"reducer":[1,0,-1],"load":[3,9223372036854775807],"end":[0.1,1e+300],"unfit":[2],"seconds":1e+300}`)
}

func TestChoicesReadBack(t *testing.T) {
	wiretest.Settings(t, Policy{Rule: ByHash, PlaceAll: true}, `{"rule":"by-hash","place-all":true}`)
}
