// A module of its own, so that nothing that the adapter needs reaches an embedder of the library.
module github.com/straggler-go/straggler/examples/slurm

go 1.25.0

replace github.com/straggler-go/straggler => ../../

require (
	github.com/straggler-go/straggler v0.0.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
