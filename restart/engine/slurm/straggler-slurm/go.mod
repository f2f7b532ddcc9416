// This is a module of its own without a replace line, so that go install works from everywhere.
module github.com/straggler-go/straggler/restart/engine/slurm/straggler-slurm

go 1.25.0

require github.com/straggler-go/straggler/restart/engine/slurm v0.1.0

require github.com/straggler-go/straggler v0.1.0 // indirect
