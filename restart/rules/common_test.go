package rules_test

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// start is any instant: the package reads no clock.
var start = time.Unix(0, 0)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// idle is a phase in which no task waits and one slot is free.
var idle = restart.Phase{Interval: 10 * time.Second, FreeSlots: 1}

// published are the limits of a policy as it was published: its trials may lose any amount.
var published = restart.Limits{LossShare: restart.Off}
