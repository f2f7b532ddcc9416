//go:build !race

package trace_test

const racing = false
