// Package snapshot is the form in which all packages save and restore state: one byte for the version, then the
// fields, then a checksum of both.
//
//	data, err := snapshot.Append(nil, version, state.fields)
//	err = snapshot.Restore(data, version, &state, (*State).fields)
//
// Whole numbers are varints, floats are their eight bytes, and times are seconds and nanoseconds since 1970. A
// [Codec] writes and reads. A snapshot contains the state and nothing else, so equal states give equal bytes.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// checksumSize is the number of bytes that [Seal] appends.
const checksumSize = crc32.Size

// Seal appends the CRC-32C of the snapshot that begins at dst[from]. A [Reader] refuses the snapshot if a byte, or
// up to 32 bits in a row, have changed. The reader refuses all but one in 2^32 of other damages. The checksum is no
// signature.
func Seal(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[from:]))
}

// checksum returns the CRC-32C, for which processors have an instruction.
func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// Reader is the input of a [Codec]. After the first fault every value reads as zero, and [Reader.Close] returns the
// fault. So a decoder reads all fields and checks once. A value that is not in its canonical form is a fault as
// well.
type Reader struct {
	name string
	rest []byte
	err  error
}

// NewReader begins to read data that [Seal] has ended. The first byte must be the version. The name of the state is
// for errors: "clone: Estimator".
func NewReader(name string, version byte, data []byte) *Reader {
	r := &Reader{name: name}
	switch {
	case len(data) == 0:
		r.Fail(errors.New("want a snapshot, got no bytes"))
	case data[0] != version:
		r.Fail(fmt.Errorf("version is %d, want %d", data[0], version))
	case !sealed(data):
		r.Fail(errors.New("checksum does not match: it has changed, or is cut short"))
	default:
		r.rest = data[1 : len(data)-checksumSize]
	}
	return r
}

func sealed(data []byte) bool {
	end := len(data) - checksumSize
	return end > 0 && binary.LittleEndian.Uint32(data[end:]) == checksum(data[:end])
}

// Fail records a fault found by the decoder, unless there was a fault before.
func (r *Reader) Fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: snapshot: %w", r.name, err)
		r.rest = nil
	}
}

// Check records a fault with the given text, unless ok is true.
func (r *Reader) Check(ok bool, fault string) {
	if !ok {
		r.Fail(errors.New(fault))
	}
}

// OK reports whether there was no fault so far. Loops over items check it.
func (r *Reader) OK() bool { return r.err == nil }

// Close returns the first fault. Bytes left over are a fault.
func (r *Reader) Close() error {
	if len(r.rest) > 0 {
		r.Fail(fmt.Errorf("has %d bytes too many", len(r.rest)))
	}
	return r.err
}

// Len returns the number of bytes left.
func (r *Reader) Len() int { return len(r.rest) }

const early = "ends early or holds a number out of range"

// took skips a varint of the given size. The last byte of a canonical varint is 0 only if it is the only byte.
func (r *Reader) took(size int) bool {
	if size <= 0 || size > 1 && r.rest[size-1] == 0 {
		r.Check(false, early)
		return false
	}
	r.rest = r.rest[size:]
	return true
}
