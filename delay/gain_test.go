package delay

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGainAtItsLimits(t *testing.T) {
	for _, b := range []struct{ wait, spacing, cost, want time.Duration }{
		{0, 3, 10, 0},
		{0, Forever, Forever, 0},
		{Forever, 3, 10, 7},
		{Forever, 10, 3, -7},
		{5, Forever, 10, -5},
		{Forever, Forever, 10, -Forever},
		{5, Forever, Forever, -5},
		{5, 0, 10, 10},
		{5, 3, Forever, Forever},
		{Forever, Forever - 1, 0, -Forever},
	} {
		g, err := Gain(b.wait, b.spacing, b.cost)
		require.NoError(t, err)
		assert.InDelta(t, float64(b.want), float64(g), math.Abs(float64(b.want))*1e-12, "%+v", b)
	}
	p, err := LocalWithin(2*time.Second, time.Second, 1)
	require.NoError(t, err)
	assert.Equal(t, 1., p)
	p, err = LocalWithin(2*time.Second, time.Second, 0)
	require.NoError(t, err)
	assert.Zero(t, p)
}
