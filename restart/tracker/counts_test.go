package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
)

// A reason that is added to package restart is one that a tracker counts, and that a policy may give.
func TestEveryReasonIsCounted(t *testing.T) {
	_, err := restart.Reason(reasons - 1).MarshalText()
	assert.NoError(t, err)
	_, err = restart.Reason(reasons).MarshalText()
	assert.Error(t, err, "counts.go names the last reason")
}
