package risk

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfRefusesArgumentsOutOfRange(t *testing.T) {
	for want, err := range map[string]error{
		"clone/risk: n is 0, want 1 task or more":                                                                      second(Of(TaskLevel, 0, 1, .1)),
		"clone/risk: c is 0, want 1 clone or more":                                                                     second(Of(TaskLevel, 1, 0, .1)),
		"clone/risk: p is 1, want a probability in [0, 1)":                                                             second(Of(TaskLevel, 1, 1, 1)),
		"clone/risk: p is -0.1, want a probability in [0, 1)":                                                          second(Of(TaskLevel, 1, 1, -.1)),
		"clone/risk: p is NaN, want a probability in [0, 1)":                                                           second(Of(TaskLevel, 1, 1, math.NaN())),
		"clone/risk: c is 1001, want at most 1000 clones for avoidance":                                                second(Of(Avoidance, 1, 1001, .1)),
		"clone/risk: scheme is Scheme(9), want one of: task-level, job-level, contention, avoidance, random-avoidance": second(Of(9, 1, 1, .1)),
	} {
		assert.EqualError(t, err, want)
	}
	assert.Equal(t, "Scheme(8)", Scheme(8).String())
}

func second(_ float64, err error) error { return err }
