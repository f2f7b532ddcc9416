// A module of its own and without a replace line, so that go install takes it from anywhere.
module github.com/straggler-go/straggler/restart/engine/slurm/straggler-slurm

go 1.25.0

require github.com/straggler-go/straggler/restart/engine/slurm v0.1.0

require github.com/straggler-go/straggler v0.1.0 // indirect
