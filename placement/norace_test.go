//go:build !race

package placement

// sampled says that the longest tests use only a sample of their problems.
const sampled = false
