// What checks the library, in a module of its own: what a tool needs raises nobody's versions.
module straggler-tools

go 1.25.0

tool golang.org/x/exp/cmd/apidiff

require golang.org/x/mod v0.31.0

require (
	golang.org/x/exp v0.0.0-20251219203646-944ab1f22d93 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/tools v0.40.0 // indirect
)
