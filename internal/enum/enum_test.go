package enum

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
)

type action uint8

var names = [...]string{"keep", "kill"}

func (a action) String() string                   { return Name(names[:], a) }
func (a action) MarshalText() ([]byte, error)     { return Text(names[:], a) }
func (a *action) UnmarshalText(text []byte) error { return Parse(names[:], text, a) }

func TestAValueWithoutANameShowsItsNumber(t *testing.T) {
	assert.Equal(t, "keep", action(0).String())
	assert.Equal(t, "kill", action(1).String())
	assert.Equal(t, "action(2)", action(2).String())
	assert.Equal(t, "action(255)", action(255).String())
}

func TestNamesReadBack(t *testing.T) {
	for i := range names {
		text, err := action(i).MarshalText()
		require.NoError(t, err)
		var back action
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, action(i), back)
	}
	_, err := action(2).MarshalText()
	assert.EqualError(t, err, "internal/enum: action is 2, want 0 to 1")
}

func TestAnUnknownNameIsInTheError(t *testing.T) {
	kept := action(1)
	err := kept.UnmarshalText([]byte("Keep"))
	assert.EqualError(t, err, `internal/enum: action is "Keep", want one of: keep, kill`)
	var field *straggler.FieldError
	require.True(t, errors.As(err, &field))
	assert.Equal(t, "Keep", field.Value)
	assert.Equal(t, action(1), kept)
	assert.Less(t, len(kept.UnmarshalText(make([]byte, 1e6)).Error()), 300, "a long text is cut in the error")
}
