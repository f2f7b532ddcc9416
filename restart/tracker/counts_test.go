package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
)

// A tracker counts every reason of package restart, also a reason that is added later.
func TestEveryReasonIsCounted(t *testing.T) {
	_, err := restart.Reason(reasons - 1).MarshalText()
	assert.NoError(t, err)
	_, err = restart.Reason(reasons).MarshalText()
	assert.Error(t, err, "reasons must stand one above the last reason")
}
