// Package snapshot is the house's form of state that leaves and comes back: one byte for the version, then numbers,
// then a checksum of both.
//
// Whole numbers are varints, floats their eight bytes, times seconds and nanoseconds since 1970. The Append functions
// write, a [Reader] reads. What is written is the state and nothing else, so equal states give equal bytes.
package snapshot

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
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

// AppendUint appends a number that is not negative.
func AppendUint(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }

// AppendInt appends a number of either sign.
func AppendInt(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

// AppendFloat appends a float with all its bits.
func AppendFloat(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

// AppendBool appends a truth value as 0 or 1.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendTime appends an instant without its location and its monotonic reading, which mean nothing elsewhere.
func AppendTime(dst []byte, t time.Time) []byte {
	return AppendUint(AppendInt(dst, t.Unix()), uint64(t.Nanosecond()))
}

// AppendClock appends a clock.
func AppendClock(dst []byte, c clock.Clock) []byte {
	dst = AppendBool(dst, c.Begun)
	if !c.Begun {
		return dst
	}
	return AppendInt(AppendInt(AppendTime(dst, c.Last), int64(c.Since)), int64(c.Steps))
}

// AppendBlock appends bytes that are a snapshot of their own, such as that of a part, with their number before them.
func AppendBlock(dst, block []byte) []byte {
	return append(AppendUint(dst, uint64(len(block))), block...)
}

// AppendSum appends a running sum.
func AppendSum(dst []byte, s num.Sum) []byte { return AppendFloat(AppendFloat(dst, s.High), s.Low) }
