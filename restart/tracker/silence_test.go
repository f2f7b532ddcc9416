package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// That progress may say nothing counts twice an error that nobody has seen where works are not known, and the less the
// more trials were won; where works are known it counts once, and no more however many were lost.
func TestSilence(t *testing.T) {
	silence := func(r trials) float64 {
		return (&judge{trials: r, forecast: &forecast{}}).silence()
	}
	assert.Zero(t, silence(trials{}))
	assert.InDelta(t, 2, silence(trials{on: true}), 1e-15)
	assert.InDelta(t, 1, silence(trials{on: true, other: 2}), 1e-15, "half as many trials are lost as were expected")
	assert.InDelta(t, 2, silence(trials{on: true, same: 5}), 1e-15)
	assert.InDelta(t, 1, silence(trials{on: true, sized: true, same: 5}), 1e-15)
	assert.InDelta(t, .5, silence(trials{on: true, sized: true, other: 2}), 1e-15)
}
