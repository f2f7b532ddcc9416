// Package snapshottest helps to test state that is saved and restored.
package snapshottest

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
)

// Body returns a snapshot without its checksum: what a fuzz target changes, and then seals.
func Body(data []byte) []byte { return data[:len(data)-crc32.Size] }

// Flips demands that a snapshot is refused, whichever one bit of it is flipped; of a long one it tries some bytes of
// each part.
func Flips(t testing.TB, data []byte, restore func([]byte) error) {
	t.Helper()
	const places = 1000
	for at := 0; at < len(data); at += 1 + len(data)/places {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		require.Error(t, restore(bad), "byte %d of %d", at, len(data))
	}
}

// Through saves and restores: what it returns must go on as if it had never stopped. It checks that the restored state
// is saved as the same bytes, and that damaged ones are refused.
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
	Flips(t, data, P(new(T)).UnmarshalBinary)
	return back
}

// Same demands that a state is saved as the given bytes, in hexadecimal, and that they are read: the form of a version
// stays as it was committed. Whoever changes it raises the version, which is the first byte, and says why.
func Same[T any, P interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}](t testing.TB, want string, state P) {
	t.Helper()
	data, err := state.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, want, hex.EncodeToString(data))
	data, err = hex.DecodeString(want)
	require.NoError(t, err)
	require.NoError(t, P(new(T)).UnmarshalBinary(data))
}
