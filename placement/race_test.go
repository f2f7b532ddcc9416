//go:build race

package placement

// sampled says that the longest tests use only a sample of their problems. The race detector makes arithmetic ten times
// slower, and arithmetic has no races.
const sampled = true
