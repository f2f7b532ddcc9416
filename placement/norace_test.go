//go:build !race

package placement

import "os"

// sampled is true if the longest tests use only a part of their problems: unless STRAGGLER_LIVES is set.
var sampled = os.Getenv("STRAGGLER_LIVES") == ""
