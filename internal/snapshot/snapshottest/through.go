// Package snapshottest helps to test state that is saved to a snapshot and restored.
package snapshottest

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Body returns a snapshot without its checksum. A fuzz test changes the body, and [Sealed] adds a new checksum.
func Body(data []byte) []byte { return data[:len(data)-crc32.Size] }

// Sealed returns a snapshot of the given body. The body and the bytes behind it stay as they are. If a test writes
// there, the fuzzer notes another input than the one that failed.
func Sealed(body []byte) []byte { return snapshot.Seal(bytes.Clone(body), 0) }

// Flips checks that restore returns an error for a snapshot in which one bit was changed. It tries one bit in each
// byte. In a long snapshot it tries one bit in each of some 300 bytes, or of 1,000 with STRAGGLER_LIVES.
func Flips(t testing.TB, data []byte, restore func([]byte) error) {
	t.Helper()
	places := 300
	if os.Getenv("STRAGGLER_LIVES") != "" {
		places = 1000
	}
	for at := 0; at < len(data); at += 1 + len(data)/places {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		if restore(bad) == nil {
			t.Fatalf("the change of byte %d of %d gives no error", at, len(data))
		}
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

// Kept checks a state against the snapshots in testdata/snapshots: NAME-1.hex, NAME-2.hex and so on, in the order in
// which they were added. Saving the state must give the newest of these snapshots, and restoring each of them must
// succeed. Releases with more or fewer fields must restore the newest, too, as [Evolves] says. If a damaged snapshot is
// restored, the restored state must be saved and restored as itself.
func Kept[T any, P interface {
	*T
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}](t testing.TB, name string, state P) {
	t.Helper()
	data, err := state.AppendBinary(nil)
	require.NoError(t, err)
	KeptBy(t, name, data, func(data []byte) ([]byte, error) {
		back := P(new(T))
		if err := back.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		return back.AppendBinary(nil)
	})
}

// KeptBy checks a snapshot as [Kept] does. The function restore restores a snapshot, and saves the restored state again.
func KeptBy(t testing.TB, name string, data []byte, restore func([]byte) ([]byte, error)) {
	t.Helper()
	for i, old := range Files(t, name, data) {
		_, err := restore(old)
		require.NoError(t, err, "%s-%d", name, i+1)
	}
	Evolves(t, data, restore)
	Damage(t, rand.New(rand.NewPCG(uint64(len(data)), 1)), 300, data, func(bad []byte) error {
		once, err := restore(bad)
		if err != nil {
			return err
		}
		twice, err := restore(once)
		require.NoError(t, err, "%s: %x", name, bad)
		require.Equal(t, once, twice, "%s: %x", name, bad)
		return nil
	})
}

// Files returns the snapshots of a name in testdata/snapshots, oldest first. It checks that the newest is data.
func Files(t testing.TB, name string, data []byte) (files [][]byte) {
	t.Helper()
	path := func(n int) string { return fmt.Sprintf("testdata/snapshots/%s-%d.hex", name, n) }
	for {
		text, err := os.ReadFile(path(len(files) + 1))
		if err != nil {
			break
		}
		old, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
		require.NoError(t, err)
		files = append(files, old)
	}
	if len(files) == 0 || !bytes.Equal(files[len(files)-1], data) {
		text := hex.EncodeToString(data)
		for i := 100; i < len(text); i += 101 {
			text = text[:i] + "\n" + text[i:]
		}
		t.Fatalf("The form of the snapshot has changed. Hosts hold the older snapshots, and every release must read them.\n"+
			"Never change or remove a file of testdata/snapshots. Add %s with these lines:\n%s\n", path(len(files)+1), text)
	}
	return files
}
