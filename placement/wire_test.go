package placement

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/stretchr/testify/assert"
)

func TestAssignmentsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Assignment{},
		`tasks=0 seconds=0 bottleneck=rack-0-up bound=0 optimal=false`,
		`{"seconds":0,"bottleneck":"rack-0-up","bound":0,"optimal":false}`)
	wiretest.Same(t, Assignment{Rack: []int{1, 0, 7}, Bottleneck: Link{7, Down}, Seconds: 1.123456789, Bound: .1, Optimal: true},
		`tasks=3 seconds=1.12346 bottleneck=rack-7-down bound=0.1 optimal=true`,
		`{"rack":[1,0,7],"seconds":1.123456789,"bottleneck":"rack-7-down","bound":0.1,"optimal":true}`)
	_, err := Link{1, 9}.MarshalText()
	assert.ErrorContains(t, err, "placement: Direction is 9")
}

func TestBandwidthConfigReadsBack(t *testing.T) {
	wiretest.Settings(t, BandwidthConfig{Rule: Equal, Short: time.Minute}, `{"rule":"equal","short":60}`)
}
