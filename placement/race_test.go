//go:build race

package placement

// The race detector slows arithmetic tenfold and has nothing to find in it, so the longest tests then take a sample.
const sampled = true
