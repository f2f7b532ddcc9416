//go:build !race

package placement

// sampled is true if the longest tests use only a part of their problems.
const sampled = false
