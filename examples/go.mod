// The hosts that show the library at work. A module of its own, so that what they need never reaches an embedder.
// It is not meant to be imported: the name lies outside the library's import path and is never tagged.
module straggler-examples

go 1.25.0

require github.com/klauspost/compress v1.20.3

replace github.com/straggler-go/straggler => ../
