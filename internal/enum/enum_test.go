package enum

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestName(t *testing.T) {
	names := []string{"keep", "kill"}
	assert.Equal(t, "keep", Name(names, 0, "Action"))
	assert.Equal(t, "kill", Name(names, 1, "Action"))
	assert.Equal(t, "Action(2)", Name(names, 2, "Action"))
	assert.Equal(t, "Action(-1)", Name(names, -1, "Action"))
	assert.Equal(t, "Reason(0)", Name(nil, 0, "Reason"))
}
