package snapshottest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// field is a field of a snapshot. The root is the snapshot itself.
type field struct {
	number uint64
	nested bool
	values []byte   // the content, if the field has no fields itself
	inner  []*field // the fields of the field
}

// parse returns the fields of a snapshot.
func parse(t testing.TB, data []byte) *field {
	t.Helper()
	root := &field{nested: true}
	require.True(t, root.read(Body(data)[1:]), "the snapshot has no fields")
	return root
}

// read reads the fields inside a field. It reports whether the bytes are fields.
func (f *field) read(b []byte) bool {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || size > uint64(len(b)-n-m) {
			return false
		}
		one := &field{number: tag / 2, nested: tag%2 == 1}
		content := b[n+m:][:size]
		if b = b[n+m+int(size):]; !one.nested {
			one.values = content
		} else if !one.read(content) {
			return false
		}
		f.inner = append(f.inner, one)
	}
	return true
}

// content returns the content of a field as bytes.
func (f *field) content() (b []byte) {
	for _, one := range f.inner {
		tag := one.number * 2
		if one.nested {
			tag++
		}
		content := one.content()
		b = binary.AppendUvarint(binary.AppendUvarint(b, tag), uint64(len(content)))
		b = append(b, content...)
	}
	return append(b, f.values...)
}

// sealed returns the snapshot with the fields of the root.
func (f *field) sealed() []byte {
	return snapshot.Seal(append([]byte{snapshot.Version}, f.content()...), 0)
}

// walk calls visit for each field with other fields in it, and for the root. The path is the number of the field after
// the numbers of the fields around it, such as "3.1."; it is empty for the root.
func (f *field) walk(path string, visit func(path string, f *field)) {
	visit(path, f)
	for _, one := range f.inner {
		if one.nested {
			one.walk(fmt.Sprintf("%s%d.", path, one.number), visit)
		}
	}
}

// Evolves checks that releases with more or fewer fields can read a snapshot. The function restore restores a snapshot,
// and saves the restored state again. Evolves changes a copy of data in two ways:
//
//   - It removes a field. Restoring must give the same state, or an error with the number of the field.
//   - It adds fields that no release knows, at each level. Restoring must give the same state.
func Evolves(t testing.TB, data []byte, restore func([]byte) ([]byte, error)) {
	t.Helper()
	root := parse(t, data)
	require.Equal(t, data, root.sealed())
	again, err := restore(data)
	require.NoError(t, err)
	require.Equal(t, data, again)
	root.walk("", func(path string, f *field) {
		known := f.inner
		for i, one := range known {
			f.inner = slices.Delete(slices.Clone(known), i, i+1)
			if again, err := restore(root.sealed()); err == nil {
				require.Equal(t, data, again, "without field %s%d", path, one.number)
			} else {
				where := strings.ReplaceAll(path, ".", `(\.| \(.*: field )`)
				require.Regexp(t, fmt.Sprintf(`field %s%d \(`, where, one.number), err.Error())
			}
		}
		last := uint64(0)
		if len(known) > 0 {
			last = known[len(known)-1].number
		}
		f.inner = append(slices.Clone(known), &field{number: last + 1, values: []byte("unknown")},
			&field{number: last + 900, nested: true, inner: []*field{{number: 1}}})
		again, err := restore(root.sealed())
		require.NoError(t, err, "with unknown fields at %q", path)
		require.Equal(t, data, again, "with unknown fields at %q", path)
		f.inner = known
	})
}

// With returns a snapshot in which the field with the given path, such as "3.1", has other values.
func With(t testing.TB, data []byte, path string, values []byte) []byte {
	t.Helper()
	root, found := parse(t, data), false
	root.walk("", func(outer string, f *field) {
		for _, one := range f.inner {
			if fmt.Sprintf("%s%d", outer, one.number) == path {
				one.values, found = values, true
			}
		}
	})
	require.True(t, found, "the snapshot has no field %s", path)
	return root.sealed()
}

// Damage changes a snapshot at random and calls restore with it, as often as times says. Its checksum is right again,
// so that only the checks of the fields can find the change. The function restore must check each state that it
// restores. Damage returns how many snapshots were accepted.
func Damage(t testing.TB, random *rand.Rand, times int, data []byte, restore func([]byte) error) (accepted int) {
	t.Helper()
	for range times {
		root := parse(t, data)
		for range 1 + random.IntN(3) {
			damage(random, root)
		}
		bad := root.sealed()
		if random.IntN(4) == 0 {
			body := bad[1 : len(bad)-crc32.Size]
			body[random.IntN(len(body))] = byte(random.Uint32())
			bad = snapshot.Seal(bad[:len(bad)-crc32.Size], 0)
		}
		if restore(bad) == nil {
			accepted++
		}
	}
	return accepted
}

// damage changes one field at random.
func damage(random *rand.Rand, root *field) {
	f := root
	for len(f.inner) > 0 && (f == root || random.IntN(4) > 0) {
		f = f.inner[random.IntN(len(f.inner))]
	}
	if len(f.values) == 0 {
		return
	}
	f.values = slices.Clone(f.values)
	at := random.IntN(len(f.values))
	switch random.IntN(8) {
	default:
		f.values[at] = byte(random.Uint32())
	case 0:
		f.values[at] ^= 1 << random.IntN(8)
	case 1:
		f.values = f.values[:at]
	case 2:
		f.values = slices.Insert(f.values, at, []byte{0, 1, 2, 0x7f, 0x80, 0xff}[random.IntN(6)])
	case 3:
		f.values = slices.Delete(f.values, at, at+1)
	case 4: // a float that is no number, infinite, or huge
		x := [...]uint64{0x7ff8000000000001, 0x7ff0000000000000, 0xfff0000000000000, 0x7fefffffffffffff, 1}[random.IntN(5)]
		copy(f.values[at:], binary.LittleEndian.AppendUint64(nil, x))
	}
}
