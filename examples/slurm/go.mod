// A module of its own, so that nothing that the adapter needs reaches an embedder of the library.
module github.com/straggler-go/straggler/examples/slurm

go 1.25.0

replace github.com/straggler-go/straggler => ../../
