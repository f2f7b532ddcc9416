//go:build race

package placement

// sampled is true if the longest tests use only a part of their problems. The race detector makes arithmetic ten
// times slower, and arithmetic has no races.
const sampled = true
