package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// An attempt hangs at 85 % of its work, and goes on reporting 85 %. Its progress alone says that it needs little time:
// at 200 s, 35 s. But it has reported nothing new for over a quarter of its age, so its age alone counts, and a copy
// comes long before progress would show the hang.
func TestAnAttemptThatStandsStillIsJudgedByItsAge(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 20, Slots: 20, Machines: 20, Interval: 10 * time.Second})
	for task := range 20 {
		tr.Start(at(0), task, task)
	}
	report := func(now, task int, done float64) tracker.Answer {
		return tr.Report(at(float64(now)), task, 0, tracker.Report{Done: done})
	}
	for now := 10; now <= 90; now += 10 {
		for task := range 20 {
			report(now, task, min(float64(now)/100, .85))
		}
	}
	for task := 1; task < 20; task++ {
		tr.Finish(at(float64(95+task)), task, 0)
	}
	copied, linear := 0, estimate.Unknown
	for now := 120; now < 1000 && copied == 0; now += 10 {
		a := report(now, 0, .85)
		if a.Action == restart.Copy {
			copied = now
		}
		linear = time.Duration(float64(now) * .15 / .85 * 1e9)
	}
	assert.Greater(t, copied, 0)
	assert.LessOrEqual(t, copied, 150, "without the rule the copy comes at 270 s")
	assert.Less(t, linear, time.Minute, "by its progress the attempt seems to end soon")
}
