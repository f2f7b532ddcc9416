package trace

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"
)

// PackLZ4Blocks packs as lz4-java's LZ4BlockOutputStream does.
func PackLZ4Blocks(data []byte) []byte {
	const seed, raw, packed, level = 0x9747b28c, 0x10, 0x20, 6
	var out []byte
	put := func(method byte, body []byte, length int, sum uint32) {
		out = append(append(out, "LZ4Block"...), method|level)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
		out = binary.LittleEndian.AppendUint32(out, uint32(length))
		out = append(binary.LittleEndian.AppendUint32(out, sum&0x0fffffff), body...)
	}
	for i := 0; len(data) > 0; i++ {
		n := min(len(data), 1000)
		body := make([]byte, lz4.CompressBlockBound(n))
		size, _ := lz4.CompressBlock(data[:n], body, nil)
		if size > 0 && i%2 == 0 {
			put(packed, body[:size], n, xxh32(data[:n], seed))
		} else {
			put(raw, data[:n], n, xxh32(data[:n], seed))
		}
		data = data[n:]
	}
	put(raw, nil, 0, 0)
	return out
}
