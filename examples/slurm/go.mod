// A demonstration on a cluster of its own, and the tests that need one. A module of its own, since the demonstration is not to be
// imported.
module github.com/straggler-go/straggler/examples/slurm

go 1.25.0

replace (
	github.com/straggler-go/straggler => ../../
	github.com/straggler-go/straggler/examples/kit => ../kit
	github.com/straggler-go/straggler/restart/engine/slurm => ../../restart/engine/slurm
)

require (
	github.com/straggler-go/straggler v0.1.0
	github.com/straggler-go/straggler/examples/kit v0.1.0
	github.com/straggler-go/straggler/restart/engine/slurm v0.1.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
