//go:build !race

package placement

const sampled = false
