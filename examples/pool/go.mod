// A module of its own, so that what pool.Map is compared with reaches nobody who imports that.
module github.com/straggler-go/straggler/examples/pool

go 1.25.0

replace (
	github.com/straggler-go/straggler => ../../
	github.com/straggler-go/straggler/restart/engine/pool => ../../restart/engine/pool
)

require (
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/sourcegraph/conc v0.3.0
	github.com/straggler-go/straggler/restart/engine/pool v0.1.0
	golang.org/x/sync v0.22.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/straggler-go/straggler v0.1.0 // indirect
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.9.0 // indirect
)
