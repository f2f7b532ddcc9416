package trace

import (
	"bufio"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// unpacker decompresses one kind of compression.
type unpacker func(packed *bufio.Reader) (text io.Reader, done func(), err error)

func nothing() {}

// maxWindow is the largest window of a zstd stream, in bytes. It is also the limit of the zstd command.
const maxWindow = 128 << 20

func unpackGzip(packed *bufio.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, nil, fmt.Errorf("a gzip file broken in its header: %w", err)
	}
	return z, nothing, nil
}

func unpackZstd(packed *bufio.Reader) (io.Reader, func(), error) {
	z, err := zstd.NewReader(packed,
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, fmt.Errorf("a zstd file broken in its header: %w", err)
	}
	return z, z.Close, nil
}

func unpackBzip2(packed *bufio.Reader) (io.Reader, func(), error) {
	return bzip2.NewReader(packed), nothing, nil
}

func unpackLZ4(packed *bufio.Reader) (io.Reader, func(), error) {
	return lz4.NewReader(packed), nothing, nil
}

func unpackSnappy(packed *bufio.Reader) (io.Reader, func(), error) {
	return s2.NewReader(packed), nothing, nil
}

func unpackLZ4Blocks(packed *bufio.Reader) (io.Reader, func(), error) {
	return &blocks{r: packed, next: lz4Block}, nothing, nil
}

func unpackSnappyBlocks(packed *bufio.Reader) (io.Reader, func(), error) {
	return &blocks{r: packed, next: snappyBlock}, nothing, nil
}

// maxBlock is the largest block of lz4-java and snappy-java, as in lz4-java.
const maxBlock = 32 << 20

var errBlock = errors.New("a broken block")

// blocks reads a stream of compressed blocks in a format of Spark.
type blocks struct {
	r            *bufio.Reader
	packed, text []byte // the current block, compressed and not; the memory is used again
	rest         []byte // the part of text that was not read yet
	next         func(b *blocks) error
	err          error
}

func (b *blocks) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.err == nil {
			b.err = b.next(b)
		}
		if b.err != nil {
			return 0, b.err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// take reads n bytes. It returns an error if the stream ends before.
func (b *blocks) take(n int) ([]byte, error) {
	b.packed = room(b.packed, n)
	_, err := io.ReadFull(b.r, b.packed)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b.packed, err
}

func room(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:n]
}

// lz4Block reads a block of lz4-java's LZ4BlockOutputStream: magic bytes, a byte for the kind of compression, two
// lengths, and a checksum of the text. An empty block ends a stream; another stream may follow.
func lz4Block(b *blocks) error {
	const magic, raw, packed, seed, sumBits = "LZ4Block", 0x10, 0x20, 0x9747b28c, 0x0fffffff
	if _, err := b.r.Peek(1); err != nil {
		return err
	}
	head, err := b.take(len(magic) + 13)
	if err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return errBlock
	}
	head = head[len(magic):]
	method := head[0] & 0xf0
	size := binary.LittleEndian.Uint32(head[1:])
	length := binary.LittleEndian.Uint32(head[5:])
	sum := binary.LittleEndian.Uint32(head[9:])
	if size > maxBlock || length > maxBlock || method != raw && method != packed {
		return errBlock
	}
	body, err := b.take(int(size))
	if err != nil {
		return err
	}
	if b.text = room(b.text, int(length)); method == packed {
		n, err := lz4.UncompressBlock(body, b.text)
		if err != nil || n != int(length) {
			return errBlock
		}
	} else if copy(b.text, body); size != length {
		return errBlock
	}
	if length > 0 && xxh32(b.text, seed)&sumBits != sum {
		return errBlock
	}
	b.rest = b.text
	return nil
}

const snappyMagic = "\x82SNAPPY\x00"

// snappyBlock reads a block of snappy-java's SnappyOutputStream: the length, and the block in snappy's raw format. A
// header of 16 bytes is at the beginning of each stream, so it may be repeated where streams were joined.
func snappyBlock(b *blocks) error {
	for {
		if _, err := b.r.Peek(1); err != nil {
			return err
		}
		if start, _ := b.r.Peek(len(snappyMagic)); string(start) != snappyMagic {
			break
		}
		if _, err := b.take(16); err != nil {
			return err
		}
	}
	head, err := b.take(4)
	if err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxBlock {
		return errBlock
	}
	body, err := b.take(int(size))
	if err != nil {
		return err
	}
	if n, err := snappy.DecodedLen(body); err != nil || n > maxBlock {
		return errBlock
	}
	if b.text, err = snappy.Decode(b.text[:cap(b.text)], body); err != nil {
		return errBlock
	}
	b.rest = b.text
	return nil
}

// xxh32 is the 32-bit hash xxHash, which is the checksum of lz4-java's blocks.
func xxh32(d []byte, seed uint32) uint32 {
	const p1, p2, p3, p4, p5 uint32 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	h := seed + p5
	size := uint32(len(d))
	if len(d) >= 16 {
		lanes := [4]uint32{seed + p1 + p2, seed + p2, seed, seed - p1}
		for ; len(d) >= 16; d = d[16:] {
			for i := range lanes {
				lanes[i] = bits.RotateLeft32(lanes[i]+binary.LittleEndian.Uint32(d[4*i:])*p2, 13) * p1
			}
		}
		h = 0
		for i, turn := range [4]int{1, 7, 12, 18} {
			h += bits.RotateLeft32(lanes[i], turn)
		}
	}
	h += size
	for ; len(d) >= 4; d = d[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(d)*p3, 17) * p4
	}
	for _, b := range d {
		h = bits.RotateLeft32(h+uint32(b)*p5, 11) * p1
	}
	h = (h ^ h>>15) * p2
	h = (h ^ h>>13) * p3
	return h ^ h>>16
}
