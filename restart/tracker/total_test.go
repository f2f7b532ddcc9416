package tracker

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/internal/num"
)

// What is taken off a total again leaves what was there, however far it has gone beyond what a duration holds.
func TestTotalsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sum total
	terms := []time.Duration{num.MaxDuration, num.MaxDuration, num.MinDuration, -1, 1, 5}
	for range 200 {
		terms = append(terms, time.Duration(rng.Uint64()))
	}
	for _, d := range terms {
		sum = sum.plus(totalOf(d))
	}
	for _, d := range terms[1:] {
		sum = sum.minus(totalOf(d))
	}
	assert.Equal(t, totalOf(terms[0]), sum)
	for _, d := range terms {
		assert.Equal(t, d, totalOf(d).duration())
	}
	most, least := totalOf(num.MaxDuration), totalOf(num.MinDuration)
	assert.Equal(t, num.MaxDuration, most.plus(totalOf(1)).duration())
	assert.Equal(t, num.MaxDuration, most.plus(most).plus(most).duration())
	assert.Equal(t, num.MinDuration, least.minus(totalOf(1)).duration())
	assert.Equal(t, time.Duration(-1), most.plus(least).duration())
}
