//go:build race

package trace_test

const racing = true // the race detector takes memory of its own
