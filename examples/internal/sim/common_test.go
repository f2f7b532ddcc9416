package sim_test

import (
	"math/rand/v2"
	"time"
)

func constant(d time.Duration) func(*rand.Rand, int, int, bool) time.Duration {
	return func(*rand.Rand, int, int, bool) time.Duration { return d }
}
