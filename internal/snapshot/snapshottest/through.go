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

// Body returns a snapshot without its checksum. A fuzz target changes the body and seals it again.
func Body(data []byte) []byte { return data[:len(data)-crc32.Size] }

// Flips checks that a snapshot with one flipped bit is refused. Flips flips one bit of each byte, or of some 1000
// bytes of a long snapshot.
func Flips(t testing.TB, data []byte, restore func([]byte) error) {
	t.Helper()
	const places = 1000
	for at := 0; at < len(data); at += 1 + len(data)/places {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		require.Error(t, restore(bad), "byte %d of %d", at, len(data))
	}
}

// Through saves and restores a state, and returns the restored state, which must continue as the saved one. Through
// checks that the restored state is saved as equal bytes, and that damaged bytes are refused.
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

// Same checks that a state is saved as the given bytes, in hexadecimal, and that these bytes can be read. The form
// of a version must not change. A change of the form needs a new version, which is the first byte, and a reason.
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
