// Package snapshot is the house's form of state that leaves and comes back: one byte for the version, then numbers,
// then a checksum of both.
//
// Whole numbers are varints, floats their eight bytes, times seconds and nanoseconds since 1970. A [Codec] writes and
// reads. What is written is the state and nothing else, so equal states give equal bytes.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// checksumSize is how many bytes [Seal] appends.
const checksumSize = crc32.Size

// Seal ends the snapshot that begins at dst[from] by its CRC-32C: a [Reader] refuses it if a byte of it, or up to 32
// bits in a row, have changed, and all but one in 2^32 of other damage. It is no signature.
func Seal(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[from:]))
}

// checksum is the CRC-32C: processors have an instruction for it.
func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// Reader is what a [Codec] reads. After the first fault every value is zero, and [Reader.Close] returns the fault: a
// decoder reads all fields and asks once. What is not in the one form in which it is written is a fault, too.
type Reader struct {
	name string
	rest []byte
	err  error
}

// NewReader begins to read data, whose first byte must be the version, and which [Seal] ended. The name is the state's,
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

// Fail records a fault that the decoder found itself, unless there was one before.
func (r *Reader) Fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: snapshot: %w", r.name, err)
		r.rest = nil
	}
}

// Check is Fail with the text, unless ok.
func (r *Reader) Check(ok bool, fault string) {
	if !ok {
		r.Fail(errors.New(fault))
	}
}

// OK reports whether there was no fault so far. A loop over what was read asks it.
func (r *Reader) OK() bool { return r.err == nil }

// Close returns the first fault; bytes that are left over are one.
func (r *Reader) Close() error {
	if len(r.rest) > 0 {
		r.Fail(fmt.Errorf("has %d bytes too many", len(r.rest)))
	}
	return r.err
}

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.rest) }

const early = "ends early or holds a number out of range"

// took moves on by a varint of the given size. Its last byte is only 0 if it is the only one.
func (r *Reader) took(size int) bool {
	if size <= 0 || size > 1 && r.rest[size-1] == 0 {
		r.Check(false, early)
		return false
	}
	r.rest = r.rest[size:]
	return true
}
