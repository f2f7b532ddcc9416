//go:build !unix

package cluster

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
