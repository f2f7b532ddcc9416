// Package snapshot saves and restores the state of all packages in the same form: one byte for the version, then
// the fields, then a checksum of both.
//
//	data, err := snapshot.Append(nil, version, state.fields)
//	err = snapshot.Restore(data, version, &state, (*State).fields)
//
// Whole numbers are varints, floats are their eight bytes, and times are seconds and nanoseconds since 1970. A
// [Codec] writes the fields or reads them. A snapshot contains the state and nothing else, so equal states give
// equal bytes.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// checksumSize is the number of bytes that [Seal] appends.
const checksumSize = crc32.Size

// Seal appends the CRC-32C checksum of the snapshot that begins at dst[from]. A [Reader] always detects a change of
// a single byte, and any change within 32 bits in a row. It detects all other changes except one in 2^32. The
// checksum does not prove who wrote the snapshot.
func Seal(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[from:]))
}

// checksum returns the CRC-32C checksum of data. Processors have an instruction for this checksum.
func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// Reader is the input of a [Codec]. It stores the first fault, such as a number out of range or missing bytes.
// After this fault every value reads as zero, and [Reader.Close] returns the fault. So a decoder can read all
// fields and check for a fault a single time. A number that is encoded with more bytes than necessary is a fault as
// well.
type Reader struct {
	name string
	rest []byte
	err  error
}

// NewReader returns a Reader of a snapshot to which [Seal] has added a checksum. The first byte of data must be
// version. name is the name of the state in errors, for example "clone: Estimator".
func NewReader(name string, version byte, data []byte) *Reader {
	r := &Reader{name: name}
	switch {
	case len(data) == 0:
		r.Fail(errors.New("want a snapshot, got no bytes"))
	case data[0] != version:
		r.Fail(fmt.Errorf("version is %d, want %d; another version of the library wrote it: begin without it", data[0], version))
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

// Fail stores a fault that the decoder has found, unless there was a fault before.
func (r *Reader) Fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: snapshot: %w", r.name, err)
		r.rest = nil
	}
}

// Check stores a fault with the given text if ok is false.
func (r *Reader) Check(ok bool, fault string) {
	if !ok {
		r.Fail(errors.New(fault))
	}
}

// OK reports whether there was no fault so far. A loop over many items should stop if OK returns false.
func (r *Reader) OK() bool { return r.err == nil }

// Close returns the first fault, or nil. Bytes that were not read are a fault.
func (r *Reader) Close() error {
	if len(r.rest) > 0 {
		r.Fail(fmt.Errorf("has %d bytes too many", len(r.rest)))
	}
	return r.err
}

// Len returns the number of bytes that were not yet read.
func (r *Reader) Len() int { return len(r.rest) }

const early = "ends early or holds a number out of range"

// took skips a varint of the given number of bytes, and reports whether the varint was valid. A size of 0 or less
// means that the varint had no end. If the last byte of a longer varint is 0, the varint has more bytes than
// necessary.
func (r *Reader) took(size int) bool {
	if size <= 0 || size > 1 && r.rest[size-1] == 0 {
		r.Check(false, early)
		return false
	}
	r.rest = r.rest[size:]
	return true
}
