package tracker_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A logged answer names its task, and the attempt to kill. An answer about no task names neither.
func TestAnswerNamesItsTask(t *testing.T) {
	for want, a := range map[string]tracker.Answer{
		"task=17 start largest-work": {Task: 17, Decision: restart.Decision{Action: restart.Start, Reason: restart.LargestWork}},
		"task=0 restart fresh-sooner attempt=4": {
			Decision: restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Attempt: 4},
		},
		"keep nothing-to-do": {Task: -1, Decision: restart.Decision{Reason: restart.NothingToDo}},
	} {
		assert.Equal(t, want, a.String())
	}
}
