// Package snapshottest helps to test state that is saved and restored.
package snapshottest

import (
	"encoding"
	"testing"

	"github.com/stretchr/testify/require"
)

// Through saves and restores: what it returns must go on as if it had never stopped. It checks that the restored state is
// saved as the same bytes.
func Through[T any, P interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}](t testing.TB, state P) P {
	t.Helper()
	data, err := state.MarshalBinary()
	require.NoError(t, err)
	back := P(new(T))
	require.NoError(t, back.UnmarshalBinary(data))
	again, err := back.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, data, again)
	return back
}
