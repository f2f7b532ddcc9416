package enum

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestName(t *testing.T) {
	names := []string{"keep", "kill"}
	assert.Equal(t, "keep", Name(names, 0, "Action"))
	assert.Equal(t, "kill", Name(names, 1, "Action"))
	assert.Equal(t, "Action(2)", Name(names, 2, "Action"))
	assert.Equal(t, "Action(-1)", Name(names, -1, "Action"))
	assert.Equal(t, "Reason(0)", Name(nil, 0, "Reason"))
}

func TestTextAndParse(t *testing.T) {
	names := []string{"keep", "kill"}
	for i := range names {
		text, err := Text(names, i, "x: Action")
		require.NoError(t, err)
		parsed, err := Parse(names, text, "x: Action")
		require.NoError(t, err)
		assert.Equal(t, i, parsed)
	}
	_, err := Text(names, 2, "x: Action")
	assert.EqualError(t, err, "x: Action is 2, want 0 to 1")
	_, err = Text(names, -1, "x: Action")
	assert.Error(t, err)
	_, err = Parse(names, []byte("Keep"), "x: Action")
	assert.EqualError(t, err, `x: Action is "Keep", want one of: keep, kill`)
	_, err = Parse(names, make([]byte, 1e6), "x: Action")
	assert.Less(t, len(err.Error()), 300, "rubbish is not quoted whole")
}
