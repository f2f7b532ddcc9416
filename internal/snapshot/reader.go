// Package snapshot saves and restores the state of all packages in the same form: one byte for the version, then
// numbered fields, then a checksum of both.
//
//	data, err := snapshot.Append(nil, snapshot.Version, state.fields)
//	err = snapshot.Restore(data, snapshot.Version, &state, (*State).fields)
//
// A [Codec] writes the fields or reads them. A field is its number, the number of its bytes, and its values; see
// [Codec.Field]. So a release reads the snapshots of other releases. It skips unknown fields. For a field that
// was added later, it has a value that stands for its absence. Whole numbers are varints, floats are their four or eight
// bytes, and times are seconds and nanoseconds since 1970. A snapshot contains the state and nothing else, so equal
// states give equal bytes.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// Version is the first byte of each snapshot: the version of the form that all snapshots have, plus 128. It changes only
// if readers cannot skip unknown fields any more. Snapshots without numbered fields begin with a byte below 128.
const Version = 128 + 1

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
	rest []byte // the content of the open field that was not yet read; without fields, all values that were not read
	err  error

	numbered bool   // the input has fields, and rest is the content of the open one
	after    []byte // the fields behind the open one, at the same level
	last     uint64 // the number of the latest field of this level
	nested   bool   // the open field has fields itself, which were not yet read
	at       step   // the open field
	outer    []step // the fields around it
}

// NewReader returns a Reader of a snapshot to which [Seal] has added a checksum. The first byte of data must be
// version. name is the name of the state in errors, for example "clone: Estimator".
func NewReader(name string, version byte, data []byte) Reader {
	r := Reader{name: name}
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
		r.err = fmt.Errorf("%s: snapshot: %s%w", r.name, r.place(), err)
		r.rest, r.after = nil, nil
	}
}

// place returns the number and the name of the open field, for an error: for example, "field 3.1 (fleet.slots): ".
func (r *Reader) place() string {
	if r.at.number == 0 {
		return ""
	}
	var numbers, names strings.Builder
	for _, s := range r.outer {
		fmt.Fprintf(&numbers, "%d.", s.number)
		fmt.Fprintf(&names, "%s.", s.name)
	}
	return fmt.Sprintf("field %s%d (%s%s): ", &numbers, r.at.number, &names, r.at.name)
}

// Check stores a fault with the given text if ok is false.
func (r *Reader) Check(ok bool, fault string) {
	if !ok {
		r.Fail(errors.New(fault))
	}
}

// OK reports whether there was no fault so far. A loop over many items should stop if OK returns false.
func (r *Reader) OK() bool { return r.err == nil }

// Close returns the first fault, or nil. Values that were not read are a fault. Fields that were not read are none.
func (r *Reader) Close() error {
	r.seek(math.MaxUint64, "")
	return r.err
}

// Len returns the number of bytes that were not yet read at this level.
func (r *Reader) Len() int { return len(r.rest) + len(r.after) }

const early = "ends early or holds a number out of range"
