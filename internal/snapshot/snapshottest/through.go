// Package snapshottest helps to test state that is saved to a snapshot and restored.
package snapshottest

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
)

// Body returns a snapshot without its checksum. A fuzz test changes the body, and package snapshot adds a new
// checksum.
func Body(data []byte) []byte { return data[:len(data)-crc32.Size] }

// Flips checks that restore returns an error for a snapshot in which one bit was changed. It tries one bit in each
// byte. In a long snapshot it tries one bit in each of some 1000 bytes.
func Flips(t testing.TB, data []byte, restore func([]byte) error) {
	t.Helper()
	const places = 1000
	for at := 0; at < len(data); at += 1 + len(data)/places {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		require.Error(t, restore(bad), "byte %d of %d", at, len(data))
	}
}

// Through saves a state and restores it, and returns the restored state. The caller should check that the restored
// state behaves as the original does. Through checks that the restored state is saved as the same bytes, and that
// changed bytes are refused.
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

// Same checks that a state is saved as the given bytes, in hexadecimal, and that these bytes can be read. It
// protects the format: the bytes of a version must not change. If the format must change, the version, which is the
// first byte, must change as well.
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
