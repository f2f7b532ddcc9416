package published_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// Naive can be chosen beside the policies that have a text, and the error for another name says so.
func TestParseKnowsNaive(t *testing.T) {
	naive, err := published.Parse("naive")
	require.NoError(t, err)
	assert.Equal(t, published.Naive, naive)
	late, err := published.Parse("late,slow-task=0.3")
	require.NoError(t, err)
	assert.Equal(t, "late,slow-task=0.3", rules.Text(late))
	_, err = published.Parse("best")
	assert.ErrorContains(t, err, "ese, or naive")
}
