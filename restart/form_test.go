package restart_test

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/straggler-go/straggler/restart"
)

// These are the line and the JSON of a decision. Every later version must read them.
func TestADecisionKeepsItsFormat(t *testing.T) {
	wiretest.Same(t, restart.Decision{
		Action: restart.Restart, Reason: restart.FreshSooner, Attempt: 1, Basis: restart.ByAge, Remaining: 65834927134,
		Fresh: estimate.Unknown, Bar: 2 * time.Second, Gain: 63 * time.Second,
		Comparison: restart.Compare(restart.Probability, 0.75, 0.5),
		Avoid:      restart.Avoid(restart.Task{PastMachines: []int{3, 7}}, restart.Phase{}),
	}, "restart fresh-sooner attempt=1 basis=age remaining=65.8349s fresh=? bar=2s probability=0.75 threshold=0.5 gain=63s avoid=3,7",
		`{"action":"restart","reason":"fresh-sooner","attempt":1,"basis":"age","remaining":65.834927134,"fresh":null,"bar":2,`+
			`"measure":"probability","value":0.75,"threshold":0.5,"gain":63,"avoid":[3,7]}`)
}
